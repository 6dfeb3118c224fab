# SPDX-License-Identifier: Apache-2.0
"""Temporary further names of images."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import docker
from docker.errors import ImageNotFound

from infra.targets.docker.images.errors import image_errors


@contextmanager
def tagged(client: docker.DockerClient, names: Mapping[str, str]) -> Iterator[None]:
    """Give images further names until the context is left, except names that they have already.

    Args:
        client: the daemon's client.
        names: further name -> existing reference.

    Raises:
        ImageError: an image does not exist.
    """
    added: list[str] = []
    try:
        for name, reference in names.items():
            if _add(client, name, reference):
                added.append(name)
        yield
    finally:
        for name in added:
            with image_errors(f"Removing the name {name} of an image"):
                client.api.remove_image(name, noprune=True)


def _add(client: docker.DockerClient, name: str, reference: str) -> bool:
    """Add a name to an image; return False if it has that name already."""
    with image_errors(f"Naming the image {reference} {name}"):
        image = client.images.get(reference)
        try:
            if client.images.get(name).id == image.id:
                return False
        except ImageNotFound:
            pass
        repository, _, tag = name.rpartition(":")
        image.tag(repository, tag)
    return True
