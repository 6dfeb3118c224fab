# SPDX-License-Identifier: Apache-2.0
"""A folder inside a container, copied out as it is at one instant, and put back where it was changed.

It goes through the daemon's interface for archives: it may be another machine's.
"""

import shutil
import tarfile
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path, PurePosixPath

from docker.errors import APIError
from docker.models.containers import Container

from infra.targets.docker.engine import docker_errors
from infra.targets.docker.names import USER

ATTEMPTS = 5
RETRY_SECONDS = 0.5
"""How often, and how far apart, freezing a container is tried."""


@contextmanager
def folder_copy(container: Container, folder: PurePosixPath) -> Iterator[Path]:
    """A copy of a folder. One of a container that runs is frozen for it, and what is done to the copy is lost; one
    of a container that does not is replaced by the copy at the end.

    Raises:
        ServiceError: the folder is not there, or the daemon refused.
    """
    runs = bool(container.attrs["State"]["Running"])
    with tempfile.TemporaryDirectory(prefix="lineage-lab-") as place:
        with _paused(container) if runs else nullcontext():
            _fetch(container, folder, Path(place))
        copy = Path(place) / folder.name
        copy.mkdir(exist_ok=True)
        before = _files(copy)
        yield copy
        if not runs:
            _put_back(container, folder, copy, before)


@contextmanager
def _paused(container: Container) -> Iterator[None]:
    """No process of it takes a step meanwhile: what is on disk is what a crash at that instant would leave."""
    _pause(container)
    try:
        yield
    finally:
        with docker_errors(f"let {container.name} go on (docker unpause {container.name})"):
            container.unpause()


def _pause(container: Container) -> None:
    """On a busy machine, version 1 of cgroups does not always catch all of its processes at once."""
    waiter = threading.Event()
    for _ in range(ATTEMPTS - 1):
        try:
            container.pause()
            return
        except APIError:
            waiter.wait(RETRY_SECONDS)
    with docker_errors(f"freeze {container.name}"):
        container.pause()


def _fetch(container: Container, folder: PurePosixPath, place: Path) -> None:
    with tempfile.TemporaryFile() as file:
        with docker_errors(f"hand out {folder} of {container.name}"):
            chunks, _ = container.get_archive(str(folder))
            for chunk in chunks:
                file.write(chunk)
        file.seek(0)
        with tarfile.open(fileobj=file) as archive:
            for member in archive:
                _unpack(archive, member, place)


def _unpack(archive: tarfile.TarFile, member: tarfile.TarInfo, place: Path) -> None:
    """Files alone, and none outside: what a service left there is its own business."""
    name, content = PurePosixPath(member.name), archive.extractfile(member) if member.isfile() else None
    if content is None or name.is_absolute() or ".." in name.parts:
        return
    path = place / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with content, path.open("wb") as file:
        shutil.copyfileobj(content, file)


def _put_back(container: Container, folder: PurePosixPath, copy: Path, before: set[Path]) -> None:
    """The interface cannot remove a file: one that is gone is emptied, which SQLite takes for one that is not there."""
    for gone in before - _files(copy):
        (copy / gone).touch()

    def owned(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = USER
        return member

    with tempfile.TemporaryFile() as file:
        with tarfile.open(fileobj=file, mode="w") as archive:
            archive.add(copy, folder.name, filter=owned)
        file.seek(0)
        with docker_errors(f"take {folder} into {container.name}"):
            container.put_archive(str(folder.parent), file)


def _files(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
