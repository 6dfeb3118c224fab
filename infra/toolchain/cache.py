# SPDX-License-Identifier: Apache-2.0
"""The cache directory: where everything that is downloaded or built goes, and nothing else does.

    <cache>/components/<name>-<key>/lib/*.jar     jars of one component
    <cache>/binaries/<name>-<key>/                executables
    <cache>/venvs/<name>-<key>/                   virtual environments
    <cache>/page/page-<key>/site/                 the lineage page
    <cache>/openlineage-spec/openlineage-spec-<key>/  JSON schemas of the OpenLineage standard
    <cache>/wheels/<name>-<key>/                  what the images' virtual environments are installed from
    <cache>/images.json                           what the Docker daemon calls the images that were built
    <cache>/pulumi-plugins                        plugins of Pulumi that their vendors publish
    <cache>/maven, pip, npm, go                   what the package managers keep for themselves
    <cache>/logs                                  their output
    <cache>/tmp                                   work that is not finished

The key is a hash of everything that decides what the artifact is, so checkouts of different versions share
one cache without disturbing each other.
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

from infra.project import refuse_odd_path
from infra.toolchain import manifest as manifests
from infra.toolchain.errors import ArtifactError

CACHE_VARIABLE = "LINEAGE_LAB_CACHE"
_KEY_LENGTH = 12


def default_root() -> Path:
    """`$LINEAGE_LAB_CACHE`, else `lineage-lab` in the user's cache home."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen).expanduser().absolute()
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(home).expanduser().absolute() / "lineage-lab"


def hash_key(*parts: str | bytes) -> str:
    """A short hash of `parts`; where one ends and the next begins counts."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:_KEY_LENGTH]


def hash_tree(*roots: Path, below: Path) -> str:
    """A short hash of the files in `roots` (folders or files): names relative to `below`, and contents."""
    files = sorted(path for root in roots for path in ([root] if root.is_file() else root.rglob("*")) if path.is_file())
    return hash_key(*(part for path in files for part in (str(path.relative_to(below)), path.read_bytes())))


def platform_tag() -> str:
    """Operating system and processor, as in `linux-x86_64`."""
    return f"{sys.platform}-{platform.machine()}"


@dataclass(frozen=True)
class Cache:
    """Paths inside the cache, its lock, and how things get into it: whole or not at all."""

    root: Path

    @classmethod
    def open(cls, root: Path | None = None) -> "Cache":
        """Make sure that the directory is there and can be written to. Raises ArtifactError."""
        path = root or default_root()
        refuse_odd_path("The download cache", path)
        attempt = f"Opening the download cache {path}"
        try:
            for folder in (path, path / "tmp", path / "logs"):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArtifactError(
                attempt, error.strerror or str(error), f"set {CACHE_VARIABLE} to a directory of your own"
            ) from error
        if not os.access(path, os.W_OK):
            raise ArtifactError(attempt, "it is not writable", f"set {CACHE_VARIABLE} to a directory of your own")
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
        """Hold the cache alone. Where somebody else does, say so and wait; the kernel frees a dead one's."""
        with (self.root / "lock").open("a+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                announce(f"another set-up (process {file.read().strip() or '?'}) uses {self.root}: waiting for it")
                fcntl.flock(file, fcntl.LOCK_EX)
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
            yield

    @contextmanager
    def staging(self, name: str) -> Iterator[Path]:
        """An empty folder to work in, on the cache's file system; gone afterwards, whatever happens."""
        folder = self.tmp / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def clear_tmp(self) -> list[str]:
        """Remove what an interrupted set-up left in `tmp` and return the names. Call with the lock held."""
        names = sorted(path.name for path in self.tmp.iterdir())
        for name in names:
            path = self.tmp / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        return names

    def publish(self, staged: Path, final: Path, manifest: manifests.Manifest) -> None:
        """Manifest a finished folder and move it to its place."""
        manifests.save(manifest, staged)
        final.parent.mkdir(exist_ok=True)
        if final.exists():
            shutil.rmtree(final)
        staged.rename(final)


def folder_size(path: Path) -> int:
    """Bytes of all files below `path`; 0 where there is nothing."""
    return sum(os.lstat(os.path.join(folder, name)).st_size for folder, _, names in os.walk(path) for name in names)
