# SPDX-License-Identifier: Apache-2.0
"""Site of stacks on Docker."""

from dataclasses import dataclass

from infra.targets.container_site import ContainerSite


@dataclass(frozen=True)
class DockerSite(ContainerSite):
    """Site of a stack on Docker; every endpoint's outside address is a published port."""

    @property
    def identity(self) -> str:
        return f"{self.stack} of {self.checkout} on Docker"
