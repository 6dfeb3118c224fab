# SPDX-License-Identifier: Apache-2.0
"""Reader of notes in files of containers (`infra.provider.notes`)."""

SCHEME = "container"


def container_location(container: str, path: str) -> str:
    """Return the location of a file in a container, as `infra.provider.notes.read_notes` takes it."""
    return f"{SCHEME}:{container}:{path}"


def read_container_file(location: str) -> str:
    """Return the text of a file in a container; `location` is `CONTAINER:PATH`.

    Raises:
        FileNotFoundError: there is no such container or file.
        ServiceError: the daemon cannot be reached.
    """
    # The Docker client is slow to import, and only stacks on Docker require it.
    from infra.targets.docker.engine import docker_errors, find_container, read_text, shared_client

    name, _, path = location.partition(":")
    with docker_errors(f"read {path} of {name}"):
        container = find_container(shared_client(), name)
        text = read_text(container, path) if container else None
    if text is None:
        raise FileNotFoundError(f"container {name} has no file {path}")
    return text
