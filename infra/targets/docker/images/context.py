# SPDX-License-Identifier: Apache-2.0
"""Build contexts as tar streams, without temporary files, which contain only what the Dockerfile copies."""

import os
import tarfile
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from infra.targets.docker.images.contents import Content
from infra.targets.docker.images.recipes import Image
from infra.toolchain.manifest import MANIFEST_FILE

PINNED, BUILT = "pinned", "built"
"""The two folders of a context that Dockerfiles copy; either may be empty."""

DOCKERFILE = "Dockerfile"
EXCLUDED = {"__pycache__", MANIFEST_FILE}

_CHUNK_BYTES = 1 << 20
_MODIFICATION_TIME = 315_532_800
"""Modification time of every file, for equal layers of equal contents: 1980-01-01, the oldest that zip supports."""


@dataclass(frozen=True)
class ContextEntry:
    """File, folder or symbolic link of a build context: its name in the context, and its path on this machine."""

    name: str
    path: Path


def context_entries(image: Image) -> list[ContextEntry]:
    """Return the entries of an image's build context without the Dockerfile. Raises ArtifactError."""
    return [entry for content in image.contents for entry in _content_entries(content)]


def context_stream(image: Image) -> Generator[bytes, None, None]:
    """Return the build context of an image as chunks of a tar file.

    Raises:
        ArtifactError: an artifact of the image is not set up.
        OSError: from the generator: a file cannot be read, or was truncated meanwhile.
    """
    return _tar_chunks(image.dockerfile, context_entries(image))


def _tar_chunks(dockerfile: Path, found: Iterable[ContextEntry]) -> Generator[bytes, None, None]:
    for folder in (PINNED, BUILT):
        yield _header(tarfile.DIRTYPE, folder)
    yield from _file_chunks(DOCKERFILE, dockerfile)
    for entry in found:
        yield from _entry_chunks(entry)
    yield b"\0" * 2 * tarfile.BLOCKSIZE


def _content_entries(content: Content) -> Iterator[ContextEntry]:
    name = f"{BUILT if content.built else PINNED}/{content.destination}"
    source = content.locate()
    yield ContextEntry(name, source)
    if source.is_dir():
        yield from _folder_entries(name, source)


def _folder_entries(name: str, folder: Path) -> Iterator[ContextEntry]:
    with os.scandir(folder) as found:
        for child in sorted(found, key=lambda entry: entry.name):
            if child.name in EXCLUDED:
                continue
            yield ContextEntry(f"{name}/{child.name}", Path(child.path))
            if child.is_dir(follow_symlinks=False):
                yield from _folder_entries(f"{name}/{child.name}", Path(child.path))


def _entry_chunks(entry: ContextEntry) -> Iterable[bytes]:
    if entry.path.is_symlink():
        return [_header(tarfile.SYMTYPE, entry.name, target=os.readlink(entry.path))]
    if entry.path.is_dir():
        return [_header(tarfile.DIRTYPE, entry.name)]
    return _file_chunks(entry.name, entry.path)


def _file_chunks(name: str, path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        yield _header(tarfile.REGTYPE, name, size, executable=os.access(path, os.X_OK))
        remaining = size
        while remaining and (chunk := file.read(min(_CHUNK_BYTES, remaining))):
            remaining -= len(chunk)
            yield chunk
    if remaining:
        raise OSError(f"{path} was truncated while it was read")
    yield b"\0" * (-size % tarfile.BLOCKSIZE)


def _header(kind: bytes, name: str, size: int = 0, target: str = "", executable: bool = True) -> bytes:
    """Return a tar header: owned by root and world-readable, whatever the file's mode on this machine."""
    header = tarfile.TarInfo(name)
    header.type, header.size, header.linkname = kind, size, target
    header.mode = 0o755 if executable else 0o644
    header.mtime = _MODIFICATION_TIME
    return header.tobuf(tarfile.PAX_FORMAT)
