# SPDX-License-Identifier: Apache-2.0
"""Interface to the nodes of a cluster that images are loaded into."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from infra.errors import LabError

Archive = Callable[[Sequence[str]], AbstractContextManager[Iterator[bytes]]]
"""Opens the archive of images, in the format of `docker save`, as chunks."""


class NodeImageError(LabError):
    """Images could not be loaded into the nodes of a cluster."""


class Nodes(Protocol):
    """Nodes of one cluster."""

    @property
    def title(self) -> str:
        """Name of the cluster for messages: `the kind cluster lab`."""

    def existing(self) -> frozenset[str]:
        """Check that the cluster can be used, and return the images that all nodes have, as containerd spells them.

        Empty if the cluster's own tool skips images that exist, or cannot list them.

        Raises:
            NodeImageError: the cluster does not exist, or its tool is not installed.
        """

    def load(self, references: Sequence[str], archive: Archive, on_text: Callable[[str], None]) -> None:
        """Load images of the Docker daemon into all nodes.

        Raises:
            NodeImageError: the cluster's tool failed; with the end of its output.
            ImageError: the daemon cannot write the archive.
        """
