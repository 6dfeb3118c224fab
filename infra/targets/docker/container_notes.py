# SPDX-License-Identifier: Apache-2.0
"""Notes that a service keeps in a file of its container (`infra.provider.notes`)."""

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
    # The Docker client takes long to import, and only stacks on Docker need it.
    from infra.targets.docker.engine import docker_errors, find, shared_client, text_of

    name, _, path = location.partition(":")
    with docker_errors(f"read {path} of {name}"):
        container = find(shared_client(), name)
        found = text_of(container, path) if container else None
    if found is None:
        raise FileNotFoundError(f"{name} has no {path}")
    return found
