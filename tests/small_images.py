# SPDX-License-Identifier: Apache-2.0
"""Small images for tests of transfers, with the label of the lab's images."""

import io
from collections.abc import Iterator
from contextlib import contextmanager

import docker

from infra.targets.docker.images.daemon import NAME_LABEL


@contextmanager
def small_images(client: docker.DockerClient, base: str, *references: str) -> Iterator[None]:
    """Build images of one layer on a base, and remove them when the context is left."""
    for reference in references:
        recipe = f"FROM {base}\nLABEL {NAME_LABEL}=test\nRUN echo {reference} > /name"
        client.images.build(fileobj=io.BytesIO(recipe.encode()), tag=reference, rm=True, forcerm=True)
    try:
        yield
    finally:
        for reference in references:
            client.api.remove_image(reference)
