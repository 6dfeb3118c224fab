# SPDX-License-Identifier: Apache-2.0
"""Lookup of images, which the vendor's plugin pulls if the daemon lacks them."""

import docker.errors
from docker.models.images import Image

from tests.docker.plugin.resource import Daemon, DockerRequestError


def find_image(daemon: Daemon, name: str) -> Image | None:
    """Return an image by name or identifier; None if the daemon lacks it."""
    try:
        return daemon.client.images.get(name)
    except docker.errors.ImageNotFound:
        return None


def find_or_pull_image(daemon: Daemon, name: str) -> Image:
    """Return an image by name or identifier; an identifier is pulled as if it were a name, as by the vendor's plugin.

    Raises:
        DockerRequestError: the image is missing and cannot be pulled.
    """
    try:
        return find_image(daemon, name) or daemon.client.images.pull(name)
    except docker.errors.APIError as error:
        raise DockerRequestError(
            f"unable to pull image {name}: error pulling image {name}: Error response from daemon: {error.explanation}"
        ) from error
