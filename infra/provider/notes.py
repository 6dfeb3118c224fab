# SPDX-License-Identifier: Apache-2.0
"""Files in which services leave a note, wherever they run: on this machine, or in a container."""

import io
import tarfile
from pathlib import Path

_CONTAINER = "container:"


def in_container(container: str, path: str) -> str:
    """The place of a file of a container, as `text` takes it."""
    return f"{_CONTAINER}{container}:{path}"


def text(place: str) -> str:
    """What a file says that may not be there yet.

    Args:
        place: a path, or what `in_container` has made of one.

    Raises:
        OSError: there is no such file.
        ServiceError: the daemon cannot be asked.
    """
    if not place.startswith(_CONTAINER):
        return Path(place).read_text(encoding="utf-8")
    container, _, path = place.removeprefix(_CONTAINER).partition(":")
    return _of_container(container, path)


def _of_container(name: str, path: str) -> str:
    from docker.errors import NotFound

    from infra.docker_engine import find, in_words, shared_client

    with in_words(f"read {path} of {name}"):
        container = find(shared_client(), name)
        try:
            chunks = container.get_archive(path)[0] if container else ()
        except NotFound:
            chunks = ()
        packed = b"".join(chunks)
    if not packed:
        raise FileNotFoundError(f"{name} has no {path}")
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        file = archive.extractfile(archive.getmembers()[0])
        return file.read().decode() if file else ""
