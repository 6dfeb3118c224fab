# SPDX-License-Identifier: Apache-2.0
"""A stack as data: what it consists of, and the target that would make it. No daemon and no Pulumi state is asked."""

from typing import TYPE_CHECKING

from infra.project import PROJECT
from infra.settings import Settings
from infra.toolchain import Artifacts
from infra.user_files import read_user_files

if TYPE_CHECKING:
    from infra.model import Lab
    from infra.targets.choice import Target


def described(stack: str, settings: Settings, artifacts: Artifacts) -> "tuple[Lab, Target]":
    """The lab of a stack with these settings and the user's own files, and its target.

    Raises:
        LabError: a file of the user's cannot be used, or the target cannot be had on this machine.
    """
    # Pulumi's SDK comes with the target and takes half a second to import; few commands need it.
    from infra.catalog import build_lab
    from infra.targets.choice import target_for

    target = target_for(stack, settings, artifacts)
    files = read_user_files(PROJECT)
    return build_lab(target.site, settings, files), target
