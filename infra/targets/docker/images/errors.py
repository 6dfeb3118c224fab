# SPDX-License-Identifier: Apache-2.0
"""Errors of requests to the Docker daemon about images."""

from collections.abc import Iterator
from contextlib import contextmanager

from infra.errors import LabError

DISK_FULL = (
    "free disk space in the Docker daemon's data folder (`docker info -f '{{.DockerRootDir}}'`): "
    "`bin/lab images remove --old` removes images of earlier versions, `docker system df` lists other usage"
)


class ImageError(LabError):
    """An image could not be pulled, built, transferred or removed."""


class ImageInUseError(ImageError):
    """A container uses the image."""


@contextmanager
def image_errors(attempt: str) -> Iterator[None]:
    """Convert errors of the Docker SDK; `attempt` begins the message. Raises ImageError."""
    import requests  # here, as the command line imports this module and rarely needs the SDK
    from docker.errors import DockerException

    try:
        yield
    except (DockerException, requests.exceptions.RequestException) as error:
        remedy = DISK_FULL if "no space left" in str(error).lower() else "check that the daemon runs, then try again"
        raise ImageError(f"{attempt}: {error_text(error)}. Remedy: {remedy}") from error


def error_text(error: Exception) -> str:
    """Return the daemon's error message without the request."""
    explanation = getattr(error, "explanation", None)
    return str(explanation or error).strip().rstrip(".")
