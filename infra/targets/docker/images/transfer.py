# SPDX-License-Identifier: Apache-2.0
"""Transfer of built images to where a cluster finds them."""

import time
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from infra.targets.docker.images.errors import ImageError
from infra.targets.docker.images.references import registry_reference
from infra.toolchain.progress import Progress

if TYPE_CHECKING:
    from infra.targets.docker.images.daemon import ImageDaemon

_LISTED = 5
"""Images that an error message names at most."""


@dataclass(frozen=True)
class Transfer:
    """Images to transfer, and the names that the cluster uses.

    Attributes:
        names: name in the cluster -> reference in the daemon.
        keyed: True if every tag is a hash of the image's contents, so that an image of the same name is the same.
    """

    names: Mapping[str, str]
    keyed: bool

    def with_public(self, references: Iterable[str]) -> "Transfer":
        """Return the transfer with public images, which keep their names."""
        return replace(self, names={**self.names, **{reference: reference for reference in references}})


def plan_transfer(built: Iterable[str], daemon: "ImageDaemon", registry: str, tag: str, build: str) -> Transfer:
    """Return the transfer of built images.

    Args:
        built: references of the lab's images.
        daemon: the daemon that has them.
        registry: host and path of the registry in the names for the cluster; empty for none.
        tag: tag in the names for the cluster; empty: that of the reference.
        build: command that builds missing images, for the error message.

    Raises:
        ImageError: the daemon lacks images.
    """
    references, existing = list(built), daemon.identifiers()
    if missing := [reference for reference in references if reference not in existing]:
        listed = ", ".join(missing[:_LISTED]) + (", ..." if len(missing) > _LISTED else "")
        raise ImageError(f"{len(missing)} of {len(references)} images are not built: {listed}. Build them: `{build}`")
    return Transfer({registry_reference(one, registry, tag): one for one in references}, keyed=not tag)


def push_images(transfer: Transfer, daemon: "ImageDaemon", progress: Progress) -> list[str]:
    """Push images to their registry, except those that it has, and return the names of the pushed ones.

    Raises:
        ImageError: the registry is not reachable, or refused an image.
    """
    from infra.targets.docker.images.registry import Registries
    from infra.targets.docker.images.tags import tagged

    registries = Registries(daemon.client)
    missing = {
        name: reference for name, reference in transfer.names.items() if not (transfer.keyed and registries.has(name))
    }
    with closing(progress):
        for name, reference in missing.items():
            started = time.monotonic()
            progress.start(name, "pushing")
            with tagged(daemon.client, {name: reference}):
                size = registries.push(name, partial(progress.update, name))
            progress.done(name, "pushed", time.monotonic() - started, size)
    return list(missing)
