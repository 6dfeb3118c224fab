# SPDX-License-Identifier: Apache-2.0
"""The daemon as images see it: what it has of the lab's, one build, one removal, and its errors in words."""

import platform
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import docker
import requests
from docker.errors import APIError, DockerException, ImageNotFound

from infra.errors import LabError
from infra.targets.docker.images.context import DOCKERFILE, stream
from infra.targets.docker.images.recipes import Image

NAME_LABEL = "dev.lineage-lab.image"
KEY_LABEL = "dev.lineage-lab.key"
STAGE_LABEL = "dev.lineage-lab.stage"

_TAIL_LINES = 15
_WIDTH = 80
_PROCESSORS = {"x86_64": "amd64", "aarch64": "arm64"}
_IN_USE = 409


class ImageError(LabError):
    """An image could not be built, had or removed."""


class ImageInUseError(ImageError):
    """A container was made of the image."""


@dataclass(frozen=True)
class StoredImage:
    """An image of the lab's that the daemon has. `references` may be empty: a build of the same took its name."""

    identifier: str
    references: tuple[str, ...]
    size: int


@dataclass(frozen=True)
class Daemon:
    """One Docker daemon."""

    client: docker.DockerClient

    def identifiers(self) -> dict[str, str]:
        """Reference -> identifier of the lab's images that are there."""
        return {reference: image.identifier for image in self.found() for reference in image.references}

    def found(self) -> list[StoredImage]:
        """The lab's images that are there, of any checkout."""
        with _image_errors("Asking the Docker daemon for its images"):
            images = self.client.api.images(filters={"label": NAME_LABEL})
        return [StoredImage(one["Id"], _names(one["RepoTags"]), one["Size"]) for one in images]

    def disk(self, references: Collection[str] | None = None) -> int:
        """Bytes of all layers of the lab's images, each counted once, those of the base image among them.

        With `references`, of these images alone.
        """
        api: Any = self.client.api
        layers: dict[tuple[object, ...], int] = {}
        for image in self.found():
            if references is not None and not set(image.references) & set(references):
                continue
            below: tuple[object, ...] = ()
            with _image_errors("Asking the Docker daemon for the layers of its images"):
                history = api.history(image.identifier)
            for layer in reversed(history):
                below = (hash(below), layer["CreatedBy"], layer["Created"])
                layers[below] = layer["Size"]
        return sum(layers.values())

    def require(self, base: str) -> None:
        """Makes sure that images can be built here on the base image `base`, which is pulled where it is not there.

        Raises:
            ImageError: the daemon is of another system than this machine, or the base image is not to be had.
        """
        with _image_errors("Asking the Docker daemon for its version"):
            version = self.client.version()
        if reason := mismatch(version, platform.system(), platform.machine()):
            raise ImageError(f"Building images: {reason}")
        if not self.has(base):
            self._pull(base)

    def has(self, reference: str) -> bool:
        """Whether an image of that name is there, whoever made it."""
        with _image_errors(f"Asking the Docker daemon for the image {reference}"):
            try:
                self.client.images.get(reference)
            except ImageNotFound:
                return False
        return True

    def pull(self, reference: str, remedy: str) -> int:
        """Pulls a public image, and returns its bytes; `remedy` is how the lab does without it, in a few words.

        Raises:
            ImageError: it is not to be had.
        """
        try:
            return int(self.client.images.pull(reference).attrs["Size"])
        except (DockerException, requests.exceptions.RequestException) as error:
            bring = "bring the image from a machine that does (`docker save` there, `docker load` here)"
            ways = ["let the Docker daemon reach its registry", bring, *([remedy] if remedy else [])]
            raise ImageError(
                f"Pulling the public image {reference}: {_reason(error)}. Remedy: {'; or '.join(ways)}"
            ) from error

    def _pull(self, base: str) -> None:
        try:
            self.client.images.pull(base)
        except DockerException as error:
            raise ImageError(
                f"Pulling the base image {base}: {_reason(error)}. Bring it with `docker pull {base}` where a registry "
                "can be reached (`docker load` brings a saved one), or choose another with `bin/lab images build "
                "--base IMAGE`, and with lineage-lab:baseImage in the stack's configuration"
            ) from error

    def build(self, image: Image, on_text: Callable[[str], None]) -> tuple[str, int]:
        """Builds one image, whose base has to be there, and returns its identifier and its bytes.

        Raises:
            ImageError: a step failed; with the end of its output.
            ArtifactError: something that goes into the image is not set up.
        """
        api: Any = self.client.api
        attempt = f"Building the image {image.reference}"
        with _image_errors(attempt), closing(stream(image)) as context:
            answers = api.build(
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
            identifier = _identifier(attempt, answers, on_text)
            return identifier, int(api.inspect_image(identifier)["Size"])

    def remove(self, references: Sequence[str]) -> None:
        """Removes images by reference or identifier; their layers go where no other image has them.

        Raises:
            ImageInUseError: a container was made of one of them.
            ImageError: the daemon refused for another reason.
        """
        for reference in references:
            attempt = f"Removing the image {reference}"
            try:
                self.client.api.remove_image(reference)
            except ImageNotFound:
                continue
            except APIError as error:
                if error.status_code != _IN_USE:
                    raise ImageError(f"{attempt}: {_reason(error)}") from error
                remedy = "Take down the labs that run on it first: `bin/lab down --stack NAME`"
                raise ImageInUseError(f"{attempt}: {_reason(error)}. {remedy}") from error

    def remove_stages(self, label: str = STAGE_LABEL) -> None:
        """Removes the stages that builds leave behind, with their layers: not while one of these builds runs.

        The daemon takes a moment to end a build that was stopped: what that still holds goes after the next build.
        """
        with _image_errors("Removing what builds of images left"):
            stages = self.client.api.images(filters={"label": label, "dangling": True}, quiet=True)
        for stage in sorted(set(stages)):
            with suppress(ImageInUseError):
                self.remove([stage])


def mismatch(version: Mapping[str, Any], system: str, machine: str) -> str:
    """Why programs of this machine, as `platform` tells of it, do not run on a daemon; empty where they do.

    `version` is what the daemon says of itself.
    """
    here = (system.lower(), _PROCESSORS.get(machine, machine))
    there = (version["Os"], version["Arch"])
    if here == there:
        return ""
    return (
        f"the Docker daemon is {'/'.join(there)}, and the programs of the download cache are for {'/'.join(here)}. "
        "Build them on Linux with the daemon's processor, and bring them over with `docker save` and `docker load`"
    )


def _names(tags: Sequence[str] | None) -> tuple[str, ...]:
    """An image without a name has no tags for new daemons, and a tag that says so for old ones."""
    return tuple(tag for tag in tags or () if tag != "<none>:<none>")


def _identifier(attempt: str, answers: Iterator[Mapping[str, Any]], on_text: Callable[[str], None]) -> str:
    """Follows a build to its end."""
    output: list[str] = []
    failure = identifier = ""
    for answer in answers:  # to the end, or the connection stays open
        failure = str(answer.get("error", failure)).strip()
        identifier = answer.get("aux", {}).get("ID", identifier)
        if text := str(answer.get("stream", "")).strip():
            output += text.splitlines()
            on_text(output[-1][:_WIDTH])
    if failure:
        tail = "\n".join(f"  | {line}" for line in output[-_TAIL_LINES:])
        raise ImageError(f"{attempt}: {failure}\n{tail}\nRemedy: {_remedy(failure, tail)}")
    if not identifier:
        raise ImageError(f"{attempt}: the daemon ended the build without a word. Remedy: look into its own log")
    return identifier


def _remedy(error: str, output: str) -> str:
    text = f"{error}\n{output}".lower()
    if "no space left" in text:
        return _DISK_FULL
    if "unable to fetch" in text or "temporary failure resolving" in text or "unable to locate package" in text:
        return (
            "apt in the build did not get Debian's packages: let containers reach Debian's mirror, or choose a base "
            "image that has Python 3.11 and Java 17 already (`bin/lab images build --base IMAGE`)"
        )
    return "mend what the output says, then run the same command again: what was built before is kept"


_DISK_FULL = (
    "free some space where the Docker daemon keeps its data (`docker info -f '{{.DockerRootDir}}'`): "
    "`bin/lab images remove --old` removes images of earlier versions, `docker system df` shows what else is there"
)


@contextmanager
def _image_errors(attempt: str) -> Iterator[None]:
    try:
        yield
    except (DockerException, requests.exceptions.RequestException) as error:
        remedy = _DISK_FULL if "no space left" in str(error).lower() else "see that the daemon runs, then try again"
        raise ImageError(f"{attempt}: {_reason(error)}. Remedy: {remedy}") from error


def _reason(error: Exception) -> str:
    explanation = getattr(error, "explanation", None)
    return str(explanation or error).strip().rstrip(".")
