# SPDX-License-Identifier: Apache-2.0
"""The target that a stack's settings choose. Of the others, nothing is imported."""

from typing import TYPE_CHECKING

from infra.settings import Settings
from infra.toolchain import Artifacts

if TYPE_CHECKING:
    from infra.targets.docker.target import DockerTarget
    from infra.targets.local.target import LocalTarget

    Target = LocalTarget | DockerTarget


def target_for(stack: str, settings: Settings, artifacts: Artifacts) -> "Target":
    """The target of a stack of this checkout; its `site` and `render` are what `infra.catalog` and the CLI use.

    Raises:
        LabError: the target cannot be used as it is configured.
    """
    if settings.target == "docker":
        from infra.targets.docker.target import docker_target

        return docker_target(stack, settings, artifacts)
    from infra.targets.local.target import local_target

    return local_target(stack, settings, artifacts)
