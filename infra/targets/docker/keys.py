# SPDX-License-Identifier: Apache-2.0
"""Keys of the Docker target's resources; a service's `ContainerReady` has the service's name as key."""


def container_key(part: str) -> str:
    """Return the key of the container of a service."""
    return f"container/{part}"


def image_key(part: str) -> str:
    """Return the key of the public image of a service; the lab's own images are built before Pulumi runs."""
    return f"image/{part}"


def volume_key(part: str) -> str:
    """Return the key of the volume of a service."""
    return f"volume/{part}"
