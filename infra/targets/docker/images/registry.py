# SPDX-License-Identifier: Apache-2.0
"""Images in a registry, which the Docker daemon reaches with the credentials of `docker login`."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import docker
from docker.errors import APIError

from infra.targets.docker.images.errors import ImageError, image_errors
from infra.targets.docker.images.references import registry_host
from infra.toolchain.progress import format_size


@dataclass(frozen=True)
class Registries:
    """Registries that one Docker daemon reaches."""

    client: docker.DockerClient

    def has(self, reference: str) -> bool:
        """Return whether a registry has an image of that name.

        False also if the registry cannot be asked: a push reports the reason.
        """
        api: Any = self.client.api
        with image_errors(f"Looking up the image {reference} in its registry"):
            try:
                api.inspect_distribution(reference)
            except APIError:
                return False
        return True

    def push(self, reference: str, on_text: Callable[[str], None]) -> int:
        """Push an image that the daemon has under this name, and return the bytes of its layers that were sent.

        Raises:
            ImageError: the registry is not reachable, or refused the image.
        """
        repository, _, tag = reference.rpartition(":")
        attempt = f"Pushing the image {reference}"
        with image_errors(attempt):
            messages: Any = self.client.api.push(repository, tag=tag, stream=True, decode=True)
            return _follow_push(attempt, messages, registry_host(reference), on_text)


def _follow_push(attempt: str, messages: Iterator[Mapping[str, Any]], host: str, on_text: Callable[[str], None]) -> int:
    """Read the messages of a push to its end and return the bytes that were sent."""
    sent: dict[str, int] = {}
    totals: dict[str, int] = {}
    failure = ""
    for message in messages:  # reading to the end closes the connection
        failure = str(message.get("error", failure)).strip()
        detail = message.get("progressDetail") or {}
        if "current" in detail:
            layer = message["id"]
            sent[layer] = int(detail["current"])
            totals[layer] = max(sent[layer], int(detail.get("total", 0)))
            on_text(f"{format_size(sum(sent.values()))} of {format_size(sum(totals.values()))} sent")
    if failure:
        raise ImageError(f"{attempt}: {failure}. Remedy: {_remedy(failure.lower(), host)}")
    return sum(totals.values())


def _remedy(failure: str, host: str) -> str:
    if any(text in failure for text in ("denied", "unauthorized", "authentication", "no basic auth")):
        return f"log in with `docker login {host}`, and check that the account may write to this path"
    if "http response to https client" in failure:
        return f"the registry has no TLS: add {host} to `insecure-registries` in the Docker daemon's configuration"
    return f"check that the Docker daemon reaches {host}, and the path behind it"
