# SPDX-License-Identifier: Apache-2.0
"""Clusters of kind, k3d and minikube, whose nodes run on this machine."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from infra.targets.kubernetes.node_images.nodes import Archive, NodeImageError
from infra.targets.kubernetes.node_images.tool import Tool

OTHERWISE = "without it, push the images to a registry (`bin/lab images push`)"


@dataclass(frozen=True)
class LocalCluster(ABC):
    """Cluster by the name that its tool knows.

    Attributes:
        program: the tool.
        default_name: name that the tool gives to a cluster by default.
        name: name of the cluster, with minikube of the profile.
    """

    program: ClassVar[str]
    default_name: ClassVar[str]
    name: str

    @property
    def title(self) -> str:
        return f"the {self.program} cluster {self.name}"

    @cached_property
    def tool(self) -> Tool:
        """The cluster's program."""
        return Tool(self.program, f"Loading images into {self.title}", f"Install it; {OTHERWISE}")

    @abstractmethod
    def existing(self) -> frozenset[str]:
        """Check that the cluster exists, and return the images that all nodes have (see `Nodes`)."""

    @abstractmethod
    def load(self, references: Sequence[str], archive: Archive, on_text: Callable[[str], None]) -> None:
        """Load images of the Docker daemon into all nodes (see `Nodes`)."""

    def require(self, clusters: Sequence[str]) -> None:
        """Raise NodeImageError unless the cluster is one of those that its tool lists."""
        if self.name not in clusters:
            known = ", ".join(sorted(clusters)) or "none"
            raise NodeImageError(
                f"{self.tool.attempt}: it does not exist. Clusters of {self.program}: {known}; --cluster selects one"
            )


class KindCluster(LocalCluster):
    """Cluster of kind, which copies only images that a node lacks, in one archive."""

    program = "kind"
    default_name = "kind"

    def existing(self) -> frozenset[str]:
        self.require(self.tool.output("get", "clusters").split())
        return frozenset()

    def load(self, references: Sequence[str], archive: Archive, on_text: Callable[[str], None]) -> None:
        self.tool.run(["load", "docker-image", *references, "--name", self.name], (), on_text)


class K3dCluster(LocalCluster):
    """Cluster of k3d, which copies all images to all nodes, in one archive."""

    program = "k3d"
    default_name = "k3s-default"

    def existing(self) -> frozenset[str]:
        self.require([cluster["name"] for cluster in json.loads(self.tool.output("cluster", "list", "-o", "json"))])
        return frozenset()

    def load(self, references: Sequence[str], archive: Archive, on_text: Callable[[str], None]) -> None:
        self.tool.run(["image", "import", *references, "--cluster", self.name], (), on_text)


class MinikubeCluster(LocalCluster):
    """Cluster of minikube. Given images by name, it would copy each with all its layers: it gets an archive."""

    program = "minikube"
    default_name = "minikube"

    def existing(self) -> frozenset[str]:
        profiles = json.loads(self.tool.output("profile", "list", "-o", "json"))
        self.require([profile["Name"] for profile in profiles.get("valid") or []])
        return frozenset(self.tool.output("image", "ls", "--profile", self.name).split())

    def load(self, references: Sequence[str], archive: Archive, on_text: Callable[[str], None]) -> None:
        with archive(references) as chunks:
            self.tool.run(["image", "load", "--profile", self.name, "-"], chunks, on_text)
