# SPDX-License-Identifier: Apache-2.0
"""The Pulumi program: settings, lab, target."""

import os
import sys
from pathlib import Path

import pulumi

# Pulumi runs this folder; the kit's packages are beside it.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from infra.artifacts import Artifacts
from infra.connector_files import read_connector_files
from infra.errors import LabError
from infra.flink_job_files import read_flink_job_files
from infra.lab import lab
from infra.project import PROJECT
from infra.settings import settings_from_pulumi
from infra.spark_job_files import read_spark_job_files
from infra.targets.choice import target_for


def main() -> None:
    """Makes the lab of the stack; what a user can mend is said without a traceback."""
    try:
        settings = settings_from_pulumi(os.environ)
        target = target_for(pulumi.get_stack(), settings, Artifacts.open())
        own = read_connector_files(PROJECT), read_spark_job_files(PROJECT), read_flink_job_files(PROJECT)
        target.deploy(lab(target.site, settings, *own))
    except LabError as error:
        raise pulumi.RunError(str(error)) from error


main()
