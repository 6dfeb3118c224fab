# SPDX-License-Identifier: Apache-2.0
"""The Pulumi program: settings, lab, target."""

import os
import sys
from pathlib import Path

import pulumi

# Pulumi runs this folder; the kit's packages are beside it.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from infra.catalog import LabSettings, lab
from infra.errors import LabError
from infra.project import PROJECT
from infra.settings import settings_from_pulumi
from infra.targets.choice import target_for
from infra.toolchain import Artifacts
from infra.user_files import read_user_files


def main() -> None:
    """Makes the lab of the stack; what a user can mend is said without a traceback."""
    try:
        settings = settings_from_pulumi(os.environ, LabSettings)
        target = target_for(pulumi.get_stack(), settings, Artifacts.open())
        files = read_user_files(PROJECT)
        target.deploy(lab(target.site, settings, files))
    except LabError as error:
        raise pulumi.RunError(str(error)) from error


main()
