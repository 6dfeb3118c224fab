# SPDX-License-Identifier: Apache-2.0
"""Locate the JSON schemas of the OpenLineage standard, which no package ships.

`find_schemas` returns the first of:

1. the folder that environment variable `LINEAGE_LAB_SPEC` names, such as `spec` of a checkout of OpenLineage;
2. the folder in the cache (`$LINEAGE_LAB_CACHE`, else `lineage-lab` in the user's cache home);
3. the published files, downloaded into the cache.

Every file is verified against `schema_pins`. Only the standard library is imported at module level: set-up of the lab
imports this module before any dependency is installed.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from lineage.checks.schema_pins import PINS, PUBLISHED

NAME = "openlineage-spec"
"""Name of the set of schemas: of its folders in the cache, and of the artefact that set-up of the lab makes."""

FOLDER_VARIABLE = "LINEAGE_LAB_SPEC"
CACHE_VARIABLE = "LINEAGE_LAB_CACHE"
REMEDY = (
    f"set {FOLDER_VARIABLE} to a folder that has the schemas, such as `spec` of a checkout of "
    "https://github.com/OpenLineage/OpenLineage, or allow downloads from https://openlineage.io"
)

KEY = hashlib.sha256("".join(sha256 for _, sha256 in PINS.values()).encode()).hexdigest()[:12]
"""Short hash of all pins, part of the folder's name in the cache."""


class SchemasUnavailable(ValueError):
    """No complete set of schemas was found; the message names the file and the cause. `REMEDY` applies."""


def cache_folder(cache: Path) -> Path:
    """Return the folder of the schemas below the root of a cache, whether it exists or not."""
    return cache / NAME / f"{NAME}-{KEY}"


def find_schemas() -> Path:
    """Return a folder that holds the pinned schemas, anywhere in it; download them where that is necessary.

    Raises:
        SchemasUnavailable: `LINEAGE_LAB_SPEC` names a folder without them, or the download failed.
    """
    if folder := os.environ.get(FOLDER_VARIABLE):
        _schemas_in(Path(folder))
        return Path(folder)
    cached = cache_folder(_cache_root())
    try:
        _schemas_in(cached)
    except SchemasUnavailable:
        _install_schemas(cached)
    return cached


def write_schemas(destination: Path, on_file: Callable[[str], None] = lambda name: None) -> str:
    """Write the pinned schemas into an existing folder and return their source in words.

    They are copied from `LINEAGE_LAB_SPEC` where it is set, else downloaded. `on_file` receives each file's name.

    Raises:
        SchemasUnavailable: a file is missing, cannot be downloaded or has another hash than the pinned one.
    """
    if folder := os.environ.get(FOLDER_VARIABLE):
        for name, content in _schemas_in(Path(folder)).items():
            on_file(name)
            (destination / name).write_bytes(content)
        return f"{len(PINS)} schemas from {folder}"
    _download_schemas(destination, on_file)
    return f"{len(PINS)} schemas from {PUBLISHED}"


def _cache_root() -> Path:
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "lineage-lab"


def _schemas_in(folder: Path) -> dict[str, bytes]:
    """Read and verify the pinned schemas in a folder and those below it."""
    found = {path.name: path for path in sorted(folder.rglob("*.json"))}
    contents: dict[str, bytes] = {}
    for name in PINS:
        if name not in found:
            raise SchemasUnavailable(f"OpenLineage schema {name} is not in folder {folder}")
        try:
            contents[name] = found[name].read_bytes()
        except OSError as error:
            raise SchemasUnavailable(f"cannot read OpenLineage schema {found[name]}: {error.strerror}") from error
        _verify_hash(name, contents[name], str(found[name]))
    return contents


def _install_schemas(folder: Path) -> None:
    """Download the schemas next to `folder` and rename them into place, so that it is complete or absent."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as work:
            complete = Path(work) / folder.name
            complete.mkdir()
            _download_schemas(complete, lambda name: None)
            if not folder.exists():
                complete.rename(folder)
                return
            for path in complete.iterdir():
                path.replace(folder / path.name)
    except OSError as error:
        raise SchemasUnavailable(
            f"cannot write the OpenLineage schemas to {folder}: {error.strerror or error}"
        ) from error


def _download_schemas(destination: Path, on_file: Callable[[str], None]) -> None:
    import httpx

    from lineage.checks.http_client import client_for

    with client_for(PUBLISHED) as client:
        for name, (url, _) in PINS.items():
            on_file(name)
            try:
                content = client.get(url).raise_for_status().content
            except httpx.HTTPError as error:
                raise SchemasUnavailable(
                    f"cannot download OpenLineage schema {url}: {error or type(error).__name__}"
                ) from error
            _verify_hash(name, content, url)
            (destination / name).write_bytes(content)


def _verify_hash(name: str, content: bytes, place: str) -> None:
    actual, pinned = hashlib.sha256(content).hexdigest(), PINS[name][1]
    if actual != pinned:
        raise SchemasUnavailable(
            f"OpenLineage schema {place} is another version than the pinned one: its SHA-256 is {actual}, not {pinned}"
        )
