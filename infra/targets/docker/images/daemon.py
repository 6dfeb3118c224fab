# SPDX-License-Identifier: Apache-2.0
"""Requests to the Docker daemon about images: list, pull, build and remove."""

import platform
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any

import docker
import requests
from docker.errors import APIError, DockerException, ImageNotFound

from infra.targets.docker.images.context import DOCKERFILE, context_stream
from infra.targets.docker.images.errors import DISK_FULL, ImageError, ImageInUseError, error_text, image_errors
from infra.targets.docker.images.recipes import Image

NAME_LABEL = "dev.lineage-lab.image"
KEY_LABEL = "dev.lineage-lab.key"
STAGE_LABEL = "dev.lineage-lab.stage"

_TAIL_LINES = 15
_WIDTH = 80
_PROCESSORS = {"x86_64": "amd64", "aarch64": "arm64"}
_IN_USE = 409


@dataclass(frozen=True)
class StoredImage:
    """Image built by the lab that the daemon has; `references` is empty if a later build took its name."""

    identifier: str
    references: tuple[str, ...]
    size: int


@dataclass(frozen=True)
class ImageDaemon:
    """Images of one Docker daemon."""

    client: docker.DockerClient

    def identifiers(self) -> dict[str, str]:
        """Return the identifiers of the lab's images by reference."""
        return {reference: image.identifier for image in self.stored_images() for reference in image.references}

    def stored_images(self) -> list[StoredImage]:
        """Return the images that the lab built, of every checkout."""
        with image_errors("Listing the images of the Docker daemon"):
            images = self.client.api.images(filters={"label": NAME_LABEL})
        return [StoredImage(one["Id"], _references(one["RepoTags"]), one["Size"]) for one in images]

    def disk_bytes(self, references: Collection[str] | None = None) -> int:
        """Return the size of all layers of the lab's images, with the base image's; shared layers count once.

        `references` restricts it to these images.
        """
        api: Any = self.client.api
        layers: dict[tuple[object, ...], int] = {}
        for image in self.stored_images():
            if references is not None and not set(image.references) & set(references):
                continue
            parent: tuple[object, ...] = ()
            with image_errors("Reading the layers of an image from the Docker daemon"):
                history = api.history(image.identifier)
            for layer in reversed(history):
                parent = (hash(parent), layer["CreatedBy"], layer["Created"])
                layers[parent] = layer["Size"]
        return sum(layers.values())

    def require_base(self, base: str) -> None:
        """Check that the daemon can build images on `base`, and pull it if missing.

        Raises:
            ImageError: the daemon's platform is not this machine's, or the base image cannot be pulled.
        """
        with image_errors("Reading the version of the Docker daemon"):
            version = self.client.version()
        if reason := platform_mismatch(version, platform.system(), platform.machine()):
            raise ImageError(f"Building images: {reason}")
        if not self.has_image(base):
            self._pull_base(base)

    def has_image(self, reference: str) -> bool:
        """Return whether the daemon has an image, built by the lab or not."""
        with image_errors(f"Looking up the image {reference} in the Docker daemon"):
            try:
                self.client.images.get(reference)
            except ImageNotFound:
                return False
        return True

    def pull(self, reference: str, remedy: str) -> int:
        """Pull a public image and return its size in bytes; `remedy` is the alternative to it, for the error message.

        Raises:
            ImageError: the image cannot be pulled.
        """
        try:
            return int(self.client.images.pull(reference).attrs["Size"])
        except (DockerException, requests.exceptions.RequestException) as error:
            copy = "copy the image from a machine that has it (`docker save` there, `docker load` here)"
            remedies = ["give the Docker daemon access to the registry", copy, *([remedy] if remedy else [])]
            raise ImageError(
                f"Pulling the public image {reference}: {error_text(error)}. Remedy: {'; or '.join(remedies)}"
            ) from error

    def _pull_base(self, base: str) -> None:
        try:
            self.client.images.pull(base)
        except DockerException as error:
            raise ImageError(
                f"Pulling the base image {base}: {error_text(error)}. Run `docker pull {base}` with access to a "
                "registry or `docker load` with a saved image, or choose another one with `bin/lab images build --base "
                "IMAGE` and lineage-lab:baseImage in the stack's configuration"
            ) from error

    def build(self, image: Image, on_text: Callable[[str], None]) -> tuple[str, int]:
        """Build an image, whose base must exist, and return its identifier and its size in bytes.

        Raises:
            ImageError: a step failed; with the end of its output.
            ArtifactError: an artifact of the image is not set up.
        """
        api: Any = self.client.api
        attempt = f"Building the image {image.reference}"
        with image_errors(attempt), closing(context_stream(image)) as context:
            messages = api.build(
                fileobj=context,
                custom_context=True,
                dockerfile=DOCKERFILE,
                tag=image.reference,
                buildargs=dict(image.arguments),
                labels={NAME_LABEL: image.name, KEY_LABEL: image.key},
                rm=True,
                forcerm=True,
                decode=True,
            )
            identifier = _follow_build(attempt, messages, on_text)
            return identifier, int(api.inspect_image(identifier)["Size"])

    def remove(self, references: Sequence[str]) -> None:
        """Remove images, by reference or identifier, with the layers that no other image uses.

        Raises:
            ImageInUseError: a container uses one of them.
            ImageError: the daemon rejected the request for another reason.
        """
        for reference in references:
            attempt = f"Removing the image {reference}"
            try:
                self.client.api.remove_image(reference)
            except ImageNotFound:
                continue
            except APIError as error:
                if error.status_code != _IN_USE:
                    raise ImageError(f"{attempt}: {error_text(error)}") from error
                remedy = "Remove the labs that use it first: `bin/lab down --stack NAME`"
                raise ImageInUseError(f"{attempt}: {error_text(error)}. {remedy}") from error

    def remove_stages(self, label: str = STAGE_LABEL) -> None:
        """Remove the images of build stages with their layers; must not be called while such a build runs.

        Stages that a cancelled build still uses are removed after the next build.
        """
        with image_errors("Listing the build stages of images"):
            stages = self.client.api.images(filters={"label": label, "dangling": True}, quiet=True)
        for stage in sorted(set(stages)):
            with suppress(ImageInUseError):
                self.remove([stage])


def platform_mismatch(version: Mapping[str, Any], system: str, machine: str) -> str:
    """Return the reason why programs of this machine do not run on a daemon; empty if they do.

    Args:
        version: the daemon's response to `docker version`.
        system: this machine's `platform.system()`.
        machine: this machine's `platform.machine()`.
    """
    local = (system.lower(), _PROCESSORS.get(machine, machine))
    remote = (version["Os"], version["Arch"])
    if local == remote:
        return ""
    return (
        f"the Docker daemon is {'/'.join(remote)}, but the programs of the download cache are for {'/'.join(local)}. "
        "Build the images on Linux with the daemon's processor, and copy them with `docker save` and `docker load`"
    )


def _references(tags: Sequence[str] | None) -> tuple[str, ...]:
    """Return an image's tags; old daemons report a placeholder for an image without tags."""
    return tuple(tag for tag in tags or () if tag != "<none>:<none>")


def _follow_build(attempt: str, messages: Iterator[Mapping[str, Any]], on_text: Callable[[str], None]) -> str:
    """Read a build's messages to its end and return the image's identifier."""
    output: list[str] = []
    failure = identifier = ""
    for message in messages:  # reading to the end closes the connection
        failure = str(message.get("error", failure)).strip()
        identifier = message.get("aux", {}).get("ID", identifier)
        if text := str(message.get("stream", "")).strip():
            output += text.splitlines()
            on_text(output[-1][:_WIDTH])
    if failure:
        tail = "\n".join(f"  | {line}" for line in output[-_TAIL_LINES:])
        raise ImageError(f"{attempt}: {failure}\n{tail}\nRemedy: {_remedy(failure, tail)}")
    if not identifier:
        raise ImageError(f"{attempt}: the daemon ended the build without a message. Remedy: see the daemon's log")
    return identifier


def _remedy(error: str, output: str) -> str:
    text = f"{error}\n{output}".lower()
    if "no space left" in text:
        return DISK_FULL
    if "unable to fetch" in text or "temporary failure resolving" in text or "unable to locate package" in text:
        return (
            "apt in the build could not download Debian's packages: give containers access to Debian's mirror, or "
            "choose a base image with Python 3.11 and Java 17 (`bin/lab images build --base IMAGE`)"
        )
    return "correct the cause in the output, then repeat the command: finished images are kept"
