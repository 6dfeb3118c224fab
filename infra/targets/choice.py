# SPDX-License-Identifier: Apache-2.0
"""Selection of the target by a stack's settings; only the selected target is imported."""

from typing import TYPE_CHECKING

from infra.settings import Settings
from infra.toolchain import Artifacts

if TYPE_CHECKING:
    from infra.targets.docker.target import DockerTarget
    from infra.targets.kubernetes.target import KubernetesTarget
    from infra.targets.local.target import LocalTarget

    Target = LocalTarget | DockerTarget | KubernetesTarget


def target_for(stack: str, settings: Settings, artifacts: Artifacts) -> "Target":
    """Return the target of a stack of this checkout.

    Raises:
        LabError: the target cannot be used as configured.
    """
    if settings.target == "docker":
        from infra.targets.docker.target import docker_target

        return docker_target(stack, settings, artifacts)
    if settings.target == "kubernetes":
        from infra.targets.kubernetes.target import kubernetes_target

        return kubernetes_target(stack, settings, artifacts)
    from infra.targets.local.target import local_target

    return local_target(stack, settings, artifacts)
