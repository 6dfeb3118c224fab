# SPDX-License-Identifier: Apache-2.0
"""The Pulumi program: settings, lab, target."""

import os
import sys
from pathlib import Path

import pulumi

# Pulumi runs this folder; the kit's packages are beside it.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from infra.artifacts import Artifacts
from infra.errors import LabError
from infra.lab import ENDPOINTS, lab
from infra.project import PROJECT, stack_root
from infra.settings import settings_from_pulumi
from infra.targets.launch_script import Launcher
from infra.targets.local import LocalSite, LocalTarget, deploy


def main() -> None:
    """Makes the lab of the stack; what a user can mend is said without a traceback."""
    try:
        settings = settings_from_pulumi(os.environ)
        root = stack_root(pulumi.get_stack())
        artifacts = Artifacts.open()
        site = LocalSite(root, settings.port_offset, ENDPOINTS, artifacts)
        launcher = Launcher(artifacts, str(artifacts.java()), PROJECT, root / "credentials.env")
        deploy(lab(site, settings), LocalTarget(site, launcher, settings))
    except LabError as error:
        raise pulumi.RunError(str(error)) from error


main()
