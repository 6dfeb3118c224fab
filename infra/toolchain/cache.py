# SPDX-License-Identifier: Apache-2.0
"""Cache directory of everything that is downloaded or built.

    <cache>/components/<name>-<key>/lib/*.jar     jars of one component
    <cache>/binaries/<name>-<key>/                executables
    <cache>/venvs/<name>-<key>/                   virtual environments
    <cache>/page/page-<key>/site/                 the lineage page
    <cache>/openlineage-spec/openlineage-spec-<key>/  JSON schemas of the OpenLineage standard
    <cache>/wheels/<name>-<key>/                  wheels of the images' virtual environments
    <cache>/images.json                           image ids of the Docker daemon
    <cache>/pulumi-plugins                        Pulumi plugins published by their vendors
    <cache>/maven, pip, npm, go                   caches of the package managers
    <cache>/cluster                               binaries of the Kubernetes cluster for tests
    <cache>/logs                                  output of the package managers
    <cache>/tmp                                   temporary files

The key is a hash of all inputs of the artefact, so checkouts of different versions share one cache.
"""

import fcntl
import hashlib
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from infra.project import reject_unsafe_path
from infra.toolchain import manifest as manifests
from infra.toolchain.errors import ArtifactError

CACHE_VARIABLE = "LINEAGE_LAB_CACHE"
_KEY_LENGTH = 12


def default_root() -> Path:
    """Return `$LINEAGE_LAB_CACHE`, else `lineage-lab` in the user's cache home."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen).expanduser().absolute()
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(home).expanduser().absolute() / "lineage-lab"


def hash_key(*parts: str | bytes) -> str:
    """Return a short hash of `parts`; their boundaries are part of it."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:_KEY_LENGTH]


def hash_tree(*roots: Path, below: Path) -> str:
    """Return a short hash of the files in `roots` (folders or files): names relative to `below`, and contents."""
    files = sorted(path for root in roots for path in ([root] if root.is_file() else root.rglob("*")) if path.is_file())
    return hash_key(*(part for path in files for part in (str(path.relative_to(below)), path.read_bytes())))


def platform_tag() -> str:
    """Return operating system and processor, as in `linux-x86_64`."""
    return f"{sys.platform}-{platform.machine()}"


@dataclass(frozen=True)
class Cache:
    """Paths inside the cache, its lock, and atomic publication of artefacts."""

    root: Path

    @classmethod
    def open(cls, root: Path | None = None) -> "Cache":
        """Create the directory if missing and check that it is writable. Raises ArtifactError."""
        path = root or default_root()
        reject_unsafe_path("the download cache", path)
        attempt = f"Opening the download cache {path}"
        try:
            for folder in (path, path / "tmp", path / "logs"):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArtifactError(
                attempt, error.strerror or str(error), f"set {CACHE_VARIABLE} to a writable directory"
            ) from error
        if not os.access(path, os.W_OK):
            raise ArtifactError(
                attempt, "the directory is not writable", f"set {CACHE_VARIABLE} to a writable directory"
            )
        return cls(path)

    @property
    def tmp(self) -> Path:
        return self.root / "tmp"

    @property
    def maven(self) -> Path:
        return self.root / "maven"

    @property
    def pip(self) -> Path:
        return self.root / "pip"

    @property
    def go(self) -> Path:
        return self.root / "go"

    def log(self, name: str) -> Path:
        return self.root / "logs" / f"{name}.log"

    @contextmanager
    def lock(self, announce: Callable[[str], None]) -> Iterator[None]:
        """Hold the cache's exclusive lock; report a holder and wait. The kernel releases a dead process's lock."""
        with (self.root / "lock").open("a+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                announce(f"another set-up (process {file.read().strip() or '?'}) holds {self.root}; waiting")
                fcntl.flock(file, fcntl.LOCK_EX)
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
            yield

    @contextmanager
    def staging(self, name: str) -> Iterator[Path]:
        """Yield an empty work folder on the cache's file system; removed on exit."""
        folder = self.tmp / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def clear_tmp(self) -> list[str]:
        """Remove leftovers of an interrupted set-up from `tmp` and return their names. Call with the lock held."""
        names = sorted(path.name for path in self.tmp.iterdir())
        for name in names:
            path = self.tmp / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        return names

    def publish(self, staged: Path, final: Path, manifest: manifests.Manifest) -> None:
        """Write the manifest of a finished folder and move it to its place."""
        manifests.save(manifest, staged)
        final.parent.mkdir(exist_ok=True)
        if final.exists():
            shutil.rmtree(final)
        staged.rename(final)


def folder_size(path: Path) -> int:
    """Return the bytes of all files below `path`; 0 if it does not exist."""
    return sum(os.lstat(os.path.join(folder, name)).st_size for folder, _, names in os.walk(path) for name in names)
