# SPDX-License-Identifier: Apache-2.0
"""A node whose containerd listens on a socket of this machine."""

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from infra.targets.kubernetes.node_images.nodes import Archive, NodeImageError
from infra.targets.kubernetes.node_images.tool import Tool

DEFAULT_ADDRESS = "/run/containerd/containerd.sock"
DEFAULT_NAMESPACE = "k8s.io"
"""containerd's namespace of Kubernetes' images."""


@dataclass(frozen=True)
class ContainerdNode:
    """Node by its containerd.

    Attributes:
        address: path of containerd's socket.
        namespace: containerd's namespace, not one of Kubernetes.
    """

    address: str
    namespace: str

    @property
    def title(self) -> str:
        return f"containerd at {self.address}"

    @property
    def _tool(self) -> Tool:
        return Tool("ctr", f"Loading images into {self.title}", "It is part of containerd")

    def existing(self) -> frozenset[str]:
        self._check_socket()
        return frozenset(self._tool.output(*self._options, "images", "ls", "--quiet").split())

    def load(self, references: Sequence[str], archive: Archive, on_text: Callable[[str], None]) -> None:
        with archive(references) as chunks:
            self._tool.run([*self._options, "images", "import", "-"], chunks, on_text)

    @property
    def _options(self) -> tuple[str, ...]:
        return ("--address", self.address, "--namespace", self.namespace)

    def _check_socket(self) -> None:
        attempt = self._tool.attempt
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(self.address)
        except PermissionError as error:
            raise NodeImageError(f"{attempt}: permission denied. Run this command as root (`sudo -E`)") from error
        except OSError as error:
            remedy = "Start it, or give the path of its socket with --address"
            raise NodeImageError(f"{attempt}: no containerd listens there ({error.strerror}). {remedy}") from error
