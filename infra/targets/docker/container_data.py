# SPDX-License-Identifier: Apache-2.0
"""Consistent copies of folders in containers, transferred as archives, as the daemon may run on another machine."""

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path, PurePosixPath

from docker.errors import APIError
from docker.models.containers import Container

from infra.targets.docker.engine import docker_errors
from infra.targets.folder_archive import packed, relative_files, unpack

PAUSE_ATTEMPTS = 5
PAUSE_RETRY_SECONDS = 0.5
"""Number of attempts to pause a container, and the time between them."""


@contextmanager
def folder_copy(container: Container, folder: PurePosixPath) -> Iterator[Path]:
    """Open a copy of a folder in a container.

    A running container is paused while its folder is copied, and changes of the copy are lost. Changes of the copy
    of a stopped container's folder are written back at the end.

    Raises:
        ServiceError: the folder does not exist, or the daemon rejected the request.
    """
    running = bool(container.attrs["State"]["Running"])
    with tempfile.TemporaryDirectory(prefix="lineage-lab-") as temporary:
        with _paused(container) if running else nullcontext():
            _download(container, folder, Path(temporary))
        copy = Path(temporary) / folder.name
        copy.mkdir(exist_ok=True)
        before = relative_files(copy)
        yield copy
        if not running:
            _upload(container, folder, copy, before)


@contextmanager
def _paused(container: Container) -> Iterator[None]:
    """Pause the container's processes, so that a copy has the files of one instant, as after a crash."""
    _pause(container)
    try:
        yield
    finally:
        with docker_errors(f"resume {container.name} (docker unpause {container.name})"):
            container.unpause()


def _pause(container: Container) -> None:
    """Pause a container, with retries: under load, cgroups v1 does not always freeze all processes at once."""
    waiter = threading.Event()
    for _ in range(PAUSE_ATTEMPTS - 1):
        try:
            container.pause()
            return
        except APIError:
            waiter.wait(PAUSE_RETRY_SECONDS)
    with docker_errors(f"pause {container.name}"):
        container.pause()


def _download(container: Container, folder: PurePosixPath, destination: Path) -> None:
    with tempfile.TemporaryFile() as file:
        with docker_errors(f"read {folder} of {container.name}"):
            chunks, _ = container.get_archive(str(folder))
            for chunk in chunks:
                file.write(chunk)
        unpack(file, destination)


def _upload(container: Container, folder: PurePosixPath, copy: Path, before: set[Path]) -> None:
    """Write a copy back.

    The archive API cannot remove files: files deleted from the copy become empty, which SQLite treats as missing.
    """
    for deleted in before - relative_files(copy):
        (copy / deleted).touch()
    with packed(copy, folder.name) as file, docker_errors(f"write {folder} of {container.name}"):
        container.put_archive(str(folder.parent), file)
