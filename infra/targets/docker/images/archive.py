# SPDX-License-Identifier: Apache-2.0
"""Archive of several images as a stream, as of `docker save`: layers that images share are in it once."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import docker

from infra.targets.docker.images.errors import image_errors

_CHUNK_BYTES = 1 << 20


@contextmanager
def image_archive(client: docker.DockerClient, references: Sequence[str]) -> Iterator[Iterator[bytes]]:
    """Open the archive of images and yield its chunks.

    Raises:
        ImageError: the daemon cannot write it, or lacks an image.
    """
    api: Any = client.api
    with image_errors(f"Reading {len(references)} images from the Docker daemon"):
        # The SDK has no method for several images. The daemon writes the archive before the first byte: no timeout.
        response = api.get(
            f"{api.base_url}/v{api.api_version}/images/get", params={"names": list(references)}, stream=True
        )
        with closing(response):
            response.raise_for_status()
            yield response.iter_content(_CHUNK_BYTES)
