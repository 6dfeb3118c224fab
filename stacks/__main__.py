# SPDX-License-Identifier: Apache-2.0
"""Pulumi program: deploys the lab of a stack to its target."""

import os
import sys
from pathlib import Path

import pulumi

# Pulumi runs this folder as the program; the packages are in its parent folder.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from infra.catalog import LabSettings, build_lab
from infra.errors import LabError
from infra.project import PROJECT, PULUMI_STATE
from infra.settings import parse_pulumi_config
from infra.targets.checkpoint import recorded_resources
from infra.targets.choice import target_for
from infra.targets.deployed import reject_other_target
from infra.toolchain import Artifacts
from infra.user_files import read_user_files


def main() -> None:
    """Deploy the lab of the current stack; a LabError is reported without traceback."""
    try:
        settings = parse_pulumi_config(os.environ, LabSettings)
        stack = pulumi.get_stack()
        reject_other_target(stack, settings.target, recorded_resources(stack, PULUMI_STATE))
        target = target_for(stack, settings, Artifacts.open())
        files = read_user_files(PROJECT)
        target.deploy(build_lab(target.site, settings, files))
    except LabError as error:
        raise pulumi.RunError(str(error)) from error


main()
