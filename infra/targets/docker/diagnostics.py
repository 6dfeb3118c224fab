# SPDX-License-Identifier: Apache-2.0
"""Files in which services leave a note, wherever they run: on this machine, or in a container."""

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
    from infra.targets.docker.engine import find, in_words, shared_client, text_of

    with in_words(f"read {path} of {name}"):
        container = find(shared_client(), name)
        found = text_of(container, path) if container else None
    if found is None:
        raise FileNotFoundError(f"{name} has no {path}")
    return found
