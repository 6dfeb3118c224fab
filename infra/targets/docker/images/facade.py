# SPDX-License-Identifier: Apache-2.0
"""Interface to the lab's images for the other packages: look up, pull, build, list and remove."""

import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from infra.model import PublicImage, Service, Task
from infra.project import PROJECT
from infra.targets.docker.images import wheels
from infra.targets.docker.images.contents import Contents
from infra.targets.docker.images.recipes import DEFAULT_BASE, Image, Recipes
from infra.targets.docker.images.record import ImageRecord
from infra.toolchain import Artifacts
from infra.toolchain.process import Runner, sigterm_as_keyboard_interrupt
from infra.toolchain.progress import Progress

if TYPE_CHECKING:
    from infra.targets.docker.images.daemon import ImageDaemon

Part = Service | Task


@dataclass(frozen=True)
class ImageListing:
    """Row of `lab images list`.

    Attributes:
        reference: name and tag; `<none>` if a later build took its name.
        size: bytes, with its bases; None if it is not built.
        required: True if the stack uses it in the checkout's current version.
    """

    reference: str
    size: int | None
    required: bool


class Images:
    """The images of this checkout, on one base image.

    Only the methods with a `daemon` parameter send requests to a daemon.
    """

    def __init__(self, artifacts: Artifacts, base: str = DEFAULT_BASE) -> None:
        self._artifacts = artifacts
        self._base = base
        self._recipes = Recipes(Contents(artifacts, PROJECT), base)
        self._record = ImageRecord.in_cache(artifacts.cache)

    def image_for(self, part: Part) -> str:
        """Return the reference of the built image that a part runs on, which depends on the checkout alone.

        Raises:
            OSError: a jar of the user cannot be read.
            ValueError: the part runs on a public image.
        """
        return self._recipes.image_for(part).reference

    def identifier(self, reference: str) -> str | None:
        """Return the identifier (`sha256:...`) that `build` recorded for an image; None if it is not built."""
        return self._record.identifiers().get(reference)

    def references(self, parts: Iterable[Part]) -> list[str]:
        """Return the references of the built images that parts run on, without the images below them."""
        built = [part for part in parts if not isinstance(part.run, PublicImage)]
        return sorted({self.image_for(part) for part in built})

    def required_images(self, parts: Iterable[Part]) -> list[Image]:
        """Return the built images that parts run on, with the images below them, each after its base."""
        built = [part for part in parts if not isinstance(part.run, PublicImage)]
        found = {image.reference: image for part in built for image in self._recipes.image_for(part).chain()}
        return list(found.values())

    def pull(self, parts: Iterable[Part], daemon: "ImageDaemon", progress: Progress) -> list[str]:
        """Pull the missing public images of parts and return their references.

        Pulumi would pull them too, but without the lab's progress lines and remedies.

        Raises:
            ImageError: an image cannot be pulled.
        """
        public = {part.run.reference: part.run for part in parts if isinstance(part.run, PublicImage)}
        missing = [image for image in public.values() if not daemon.has_image(image.reference)]
        with closing(progress):
            for image in missing:
                started = time.monotonic()
                progress.start(image.reference, "pulling")
                size = daemon.pull(image.reference, image.remedy)
                progress.done(image.reference, "from its registry", time.monotonic() - started, size)
        return [image.reference for image in missing]

    def build(self, parts: Iterable[Part], daemon: "ImageDaemon", progress: Progress) -> list[str]:
        """Build the missing images of parts and return their references.

        Raises:
            ImageError: the base image cannot be pulled, or a build failed.
            ArtifactError: an artifact of an image is not set up.
        """
        required = self.required_images(parts)
        existing = daemon.identifiers()
        built: dict[str, str] = {}
        if any(image.reference not in existing for image in required):
            daemon.require_base(self._base)
            with self._artifacts.cache.lock(progress.note), sigterm_as_keyboard_interrupt(), closing(progress):
                existing = daemon.identifiers()  # another process may have built them while this one waited
                missing = [image for image in required if image.reference not in existing]
                try:
                    self._download_wheels(missing, progress)
                    built = {image.reference: self._build(image, daemon, progress) for image in missing}
                finally:
                    daemon.remove_stages()  # under the lock: a running build requires its stages
        existing |= built
        self._record_identifiers({image.reference: existing[image.reference] for image in required})
        return list(built)

    def list_images(self, parts: Iterable[Part], daemon: "ImageDaemon") -> list[ImageListing]:
        """Return the images of parts, built or not, followed by the lab's other images that the daemon has."""
        found = daemon.stored_images()
        sizes = {reference: image.size for image in found for reference in image.references}
        required = [image.reference for image in self.required_images(parts)]
        others = sorted(sizes.keys() - set(required))
        unnamed = [ImageListing("<none>", image.size, required=False) for image in found if not image.references]
        return [
            *(ImageListing(reference, sizes.get(reference), required=True) for reference in required),
            *(ImageListing(reference, sizes[reference], required=False) for reference in others),
            *unnamed,
        ]

    def remove(self, daemon: "ImageDaemon", keep: Iterable[Part] = ()) -> list[str]:
        """Remove the lab's images of every checkout, except those of the parts to `keep` and the base image.

        Returns the references, or identifiers, of the removed images.

        Raises:
            ImageError: a container uses one of them.
        """
        kept = {image.reference for image in self.required_images(keep)}
        found = daemon.stored_images()
        removed = [name for image in found for name in image.references or (image.identifier,) if name not in kept]
        try:
            daemon.remove(removed)
        finally:
            existing = daemon.identifiers()
            recorded = self._record.identifiers()
            self._record.write(
                {name: value for name, value in recorded.items() if name not in removed or name in existing}
            )
        return removed

    def _download_wheels(self, missing: list[Image], progress: Progress) -> None:
        runner = Runner(self._artifacts.cache.tmp)
        for environment in sorted({image.environment for image in missing if image.environment}):
            label = f"wheels of {environment}"
            if wheels.are_downloaded(self._artifacts.cache, environment):
                continue
            started = time.monotonic()
            progress.start(label, "downloading with pip")
            python = self._artifacts.python(environment)
            manifest = wheels.download(environment, python, self._artifacts.cache, runner, _updates(progress, label))
            progress.done(label, manifest.source, time.monotonic() - started, manifest.size)

    def _build(self, image: Image, daemon: "ImageDaemon", progress: Progress) -> str:
        started = time.monotonic()
        progress.start(image.reference, f"building on {image.base_reference}")
        identifier, size = daemon.build(image, _updates(progress, image.reference))
        progress.done(image.reference, f"on {image.base_reference}", time.monotonic() - started, size)
        return identifier

    def _record_identifiers(self, identifiers: dict[str, str]) -> None:
        recorded = self._record.identifiers()
        if recorded != (updated := {**recorded, **identifiers}):
            self._record.write(updated)


def _updates(progress: Progress, name: str) -> Callable[[str], None]:
    return lambda text: progress.update(name, text)
