# SPDX-License-Identifier: Apache-2.0
"""Model of a stack: its services, tasks and resources, built without a daemon and without Pulumi's state."""

from typing import TYPE_CHECKING

from infra.model import Service, Task
from infra.project import PROJECT
from infra.settings import Settings
from infra.toolchain import Artifacts
from infra.user_files import read_user_files

if TYPE_CHECKING:
    from infra.model import Lab
    from infra.targets.choice import Target


def build_lab_and_target(stack: str, settings: Settings, artifacts: Artifacts) -> "tuple[Lab, Target]":
    """Return the lab of a stack, including user files of the checkout, and its target.

    Raises:
        LabError: a user file is invalid, or the target cannot be used on this machine.
    """
    # The target imports Pulumi's SDK, which takes half a second; few commands need it.
    from infra.catalog import build_lab
    from infra.targets.choice import target_for

    target = target_for(stack, settings, artifacts)
    return build_lab(target.site, settings, read_user_files(PROJECT)), target


def services_and_tasks(stack: str, settings: Settings, artifacts: Artifacts) -> tuple[Service | Task, ...]:
    """Return the services and tasks of a stack; on Docker and Kubernetes, each runs on an image.

    Raises:
        LabError: as for `build_lab_and_target`.
    """
    if settings.target == "kubernetes":
        from infra.targets.kubernetes.chart import parts_on_images

        return parts_on_images(stack, settings, artifacts)
    lab, _ = build_lab_and_target(stack, settings, artifacts)
    return (*lab.services, *lab.tasks)
