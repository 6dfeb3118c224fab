# SPDX-License-Identifier: Apache-2.0
"""The target that a stack's settings choose. Of the others, nothing is imported."""

from typing import TYPE_CHECKING

from infra.artifacts import Artifacts
from infra.settings import Settings

if TYPE_CHECKING:
    from infra.targets.docker import DockerTarget
    from infra.targets.local import LocalTarget

    Target = LocalTarget | DockerTarget


def target_for(stack: str, settings: Settings, artifacts: Artifacts) -> "Target":
    """The target of a stack of this checkout; its `site` and `render` are what `infra.lab` and the CLI use.

    Raises:
        LabError: the target cannot be used as it is configured.
    """
    if settings.target == "docker":
        from infra.targets.docker import docker_target

        return docker_target(stack, settings, artifacts)
    from infra.targets.local import local_target

    return local_target(stack, settings, artifacts)
