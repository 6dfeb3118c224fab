# SPDX-License-Identifier: Apache-2.0
"""What the project is called, and where its folders are."""

import os
from pathlib import Path

NAME = "lineage-lab"
"""As in Pulumi.yaml: the project, and the namespace of its configuration."""

PROJECT = Path(__file__).resolve().parent.parent
"""The checkout."""

SOURCE_ROOTS = (".", "integrations/common", "integrations/spark", "integrations/flink")
"""Folders of the checkout that hold top-level Python packages; pyproject.toml repeats them for the tools."""

STATE = PROJECT / ".lab"
"""Everything that a lab writes on this machine, the download cache apart."""

PULUMI_STATE = STATE / ".pulumi"
"""Pulumi's own state and home. No stack's name begins with a dot."""

ENVIRONMENT_FILE = "lab.env"
CREDENTIALS_FILE = "credentials.env"
"""In the folder of a stack: where everything is, and the keys to it."""


def stack_root(stack: str) -> Path:
    """The folder of one stack."""
    return STATE / stack


def python_path(project: Path) -> str:
    """`PYTHONPATH` of a process that runs the packages of the checkout `project`."""
    return os.pathsep.join(str(project / root) for root in SOURCE_ROOTS)
