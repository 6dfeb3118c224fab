# SPDX-License-Identifier: Apache-2.0
"""What the rest of the lab sees of images: ask for a part's, build what is missing, list them, remove them."""

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
from infra.targets.docker.images.record import Record
from infra.toolchain import Artifacts
from infra.toolchain.process import Runner, sigterm_as_keyboard_interrupt
from infra.toolchain.progress import Progress

if TYPE_CHECKING:
    from infra.targets.docker.images.daemon import Daemon

Part = Service | Task


@dataclass(frozen=True)
class ImageListing:
    """An image of the lab's.

    Attributes:
        reference: how the stack refers to it; `<none>` where a later build took its name.
        size: bytes, its bases' among them; None where it is not built.
        wanted: it belongs to this checkout, as it is now.
    """

    reference: str
    size: int | None
    wanted: bool


class Images:
    """The images of this checkout, on one base image.

    Nothing here asks a daemon but for the methods that are handed one.
    """

    def __init__(self, artifacts: Artifacts, base: str = DEFAULT_BASE) -> None:
        self._artifacts = artifacts
        self._base = base
        self._recipes = Recipes(Contents(artifacts, PROJECT), base)
        self._record = Record.of(artifacts.cache)

    def image_for(self, part: Part) -> str:
        """The reference of the image that a part runs on, which is built here; a function of the checkout.

        Raises:
            OSError: a jar of the user's own cannot be read.
            ValueError: the part is a public image.
        """
        return self._recipes.image_for(part).reference

    def identifier(self, reference: str) -> str | None:
        """The `sha256:...` that a daemon gave to an image when `build` made or met it; None where none has."""
        return self._record.identifiers().get(reference)

    def needed(self, parts: Iterable[Part]) -> list[Image]:
        """The images that parts run on and those that these are built on, each after its base; no public ones."""
        built = [part for part in parts if not isinstance(part.run, PublicImage)]
        found = {image.reference: image for part in built for image in self._recipes.image_for(part).chain()}
        return list(found.values())

    def pull(self, parts: Iterable[Part], daemon: "Daemon", progress: Progress) -> list[str]:
        """Pulls what the daemon lacks of the public images among parts, and returns their references.

        Pulumi would do so too; here it is said in the lab's own words why one cannot be had, and what to do.

        Raises:
            ImageError: one is not to be had.
        """
        public = {part.run.reference: part.run for part in parts if isinstance(part.run, PublicImage)}
        missing = [image for image in public.values() if not daemon.has(image.reference)]
        with closing(progress):
            for image in missing:
                started = time.monotonic()
                progress.start(image.reference, "pulling")
                size = daemon.pull(image.reference, image.remedy)
                progress.done(image.reference, "from its registry", time.monotonic() - started, size)
        return [image.reference for image in missing]

    def build(self, parts: Iterable[Part], daemon: "Daemon", progress: Progress) -> list[str]:
        """Builds what the daemon lacks of the images for `parts`, and returns the references of what was built.

        Raises:
            ImageError: the base image is not to be had, or a build failed.
            ArtifactError: something that goes into an image is not set up.
        """
        needed = self.needed(parts)
        there = daemon.identifiers()
        built: dict[str, str] = {}
        if any(image.reference not in there for image in needed):
            daemon.require(self._base)
            with self._artifacts.cache.lock(progress.note), sigterm_as_keyboard_interrupt(), closing(progress):
                there = daemon.identifiers()  # somebody may have built them meanwhile
                missing = [image for image in needed if image.reference not in there]
                try:
                    self._download_wheels(missing, progress)
                    built = {image.reference: self._build(image, daemon, progress) for image in missing}
                finally:
                    daemon.remove_stages()  # with the lock held: a build that goes on would miss its own
        there |= built
        self._remember({image.reference: there[image.reference] for image in needed})
        return list(built)

    def listed(self, parts: Iterable[Part], daemon: "Daemon") -> list[ImageListing]:
        """The images for `parts`, built or not, then the lab's other images that the daemon has."""
        found = daemon.found()
        sizes = {reference: image.size for image in found for reference in image.references}
        needed = [image.reference for image in self.needed(parts)]
        others = sorted(sizes.keys() - set(needed))
        unnamed = [ImageListing("<none>", image.size, wanted=False) for image in found if not image.references]
        return [
            *(ImageListing(reference, sizes.get(reference), wanted=True) for reference in needed),
            *(ImageListing(reference, sizes[reference], wanted=False) for reference in others),
            *unnamed,
        ]

    def remove(self, daemon: "Daemon", keep: Iterable[Part] = ()) -> list[str]:
        """Removes the lab's images, of every checkout, but for those that parts to `keep` run on.

        Returns the references, or identifiers, of what was removed; the base image stays.

        Raises:
            ImageError: a container was made of one of them.
        """
        kept = {image.reference for image in self.needed(keep)}
        found = daemon.found()
        gone = [name for image in found for name in image.references or (image.identifier,) if name not in kept]
        try:
            daemon.remove(gone)
        finally:
            there = daemon.identifiers()
            known = self._record.identifiers()
            self._record.write({name: value for name, value in known.items() if name not in gone or name in there})
        return gone

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

    def _build(self, image: Image, daemon: "Daemon", progress: Progress) -> str:
        started = time.monotonic()
        progress.start(image.reference, f"building on {image.base_reference}")
        identifier, size = daemon.build(image, _updates(progress, image.reference))
        progress.done(image.reference, f"on {image.base_reference}", time.monotonic() - started, size)
        return identifier

    def _remember(self, identifiers: dict[str, str]) -> None:
        known = self._record.identifiers()
        if known != (now := {**known, **identifiers}):
            self._record.write(now)


def _updates(progress: Progress, name: str) -> Callable[[str], None]:
    return lambda text: progress.update(name, text)
