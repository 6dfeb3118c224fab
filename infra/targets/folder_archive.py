# SPDX-License-Identifier: Apache-2.0
"""Tar archives of folders of volumes, which are copied between containers and this machine."""

import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from infra.targets.container_paths import USER


def unpack(file: IO[bytes], destination: Path) -> None:
    """Unpack the regular files of an archive below `destination`; links, special files and paths outside are left out.

    Args:
        file: the archive, read from its beginning.
        destination: an existing folder.
    """
    file.seek(0)
    with tarfile.open(fileobj=file) as archive:
        for member in archive:
            _unpack_member(archive, member, destination)


def _unpack_member(archive: tarfile.TarFile, member: tarfile.TarInfo, destination: Path) -> None:
    name, content = PurePosixPath(member.name), archive.extractfile(member) if member.isfile() else None
    if content is None or name.is_absolute() or ".." in name.parts:
        return
    path = destination / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with content, path.open("wb") as file:
        shutil.copyfileobj(content, file)


@contextmanager
def packed(folder: Path, name: str) -> Iterator[IO[bytes]]:
    """Open an archive of a folder under another name, whose files belong to the user of the services."""

    def owned(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = USER
        return member

    with tempfile.TemporaryFile() as file:
        with tarfile.open(fileobj=file, mode="w") as archive:
            archive.add(folder, name, filter=owned)
        file.seek(0)
        yield file


def relative_files(folder: Path) -> set[Path]:
    """Return the paths of all files below a folder, relative to it."""
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
