# SPDX-License-Identifier: Apache-2.0
"""Build contexts as streams: tar files that are never on disk, with what an image's recipe copies and no more."""

import os
import tarfile
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from infra.targets.docker.images.contents import Content
from infra.targets.docker.images.recipes import Image
from infra.toolchain.manifest import MANIFEST_FILE

PINNED, BUILT = "pinned", "built"
"""The two folders of a context that recipes copy, either of which may be empty."""

DOCKERFILE = "Dockerfile"
UNWANTED = {"__pycache__", MANIFEST_FILE}

_CHUNK = 1 << 20
_EPOCH = 315_532_800
"""Of every file, 1980-01-01, the oldest time that zip knows: the same contents make the same layers."""


@dataclass(frozen=True)
class Entry:
    """One file, folder or symbolic link of a context: its name there, and where it is on this machine."""

    name: str
    path: Path


def entries(image: Image) -> list[Entry]:
    """What the context of an image's build consists of, its Dockerfile apart. Raises ArtifactError."""
    return [entry for content in image.contents for entry in _content(content)]


def stream(image: Image) -> Generator[bytes, None, None]:
    """The context of an image's build as a tar file, piece by piece. What it consists of is looked up at once.

    Raises:
        ArtifactError: something that goes into the image is not set up.
        OSError: of the pieces: a file cannot be read, or has changed meanwhile.
    """
    return _pieces(image.dockerfile, entries(image))


def _pieces(dockerfile: Path, found: Iterable[Entry]) -> Generator[bytes, None, None]:
    for folder in (PINNED, BUILT):
        yield _header(tarfile.DIRTYPE, folder)
    yield from _file(DOCKERFILE, dockerfile)
    for entry in found:
        yield from _entry(entry)
    yield b"\0" * 2 * tarfile.BLOCKSIZE


def _content(content: Content) -> Iterator[Entry]:
    place = f"{BUILT if content.built else PINNED}/{content.place}"
    source = content.locate()
    yield Entry(place, source)
    if source.is_dir():
        yield from _below(place, source)


def _below(place: str, folder: Path) -> Iterator[Entry]:
    with os.scandir(folder) as found:
        for child in sorted(found, key=lambda known: known.name):
            if child.name in UNWANTED:
                continue
            yield Entry(f"{place}/{child.name}", Path(child.path))
            if child.is_dir(follow_symlinks=False):
                yield from _below(f"{place}/{child.name}", Path(child.path))


def _entry(entry: Entry) -> Iterable[bytes]:
    if entry.path.is_symlink():
        return [_header(tarfile.SYMTYPE, entry.name, target=os.readlink(entry.path))]
    if entry.path.is_dir():
        return [_header(tarfile.DIRTYPE, entry.name)]
    return _file(entry.name, entry.path)


def _file(name: str, path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        yield _header(tarfile.REGTYPE, name, size, executable=os.access(path, os.X_OK))
        left = size
        while left and (chunk := file.read(min(_CHUNK, left))):
            left -= len(chunk)
            yield chunk
    if left:
        raise OSError(f"{path} became shorter while it was read")
    yield b"\0" * (-size % tarfile.BLOCKSIZE)


def _header(kind: bytes, name: str, size: int = 0, target: str = "", executable: bool = True) -> bytes:
    """Root's, readable by everybody: what the file is on this machine may be for its owner alone."""
    header = tarfile.TarInfo(name)
    header.type, header.size, header.linkname = kind, size, target
    header.mode = 0o755 if executable else 0o644
    header.mtime = _EPOCH
    return header.tobuf(tarfile.PAX_FORMAT)
