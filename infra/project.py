# SPDX-License-Identifier: Apache-2.0
"""Name and folders of the project, and the paths that users may give."""

import os
import re
from pathlib import Path

from infra.errors import LabError

NAME = "lineage-lab"
"""As in Pulumi.yaml: the project, and the namespace of its configuration."""

PROJECT = Path(__file__).resolve().parent.parent
"""The checkout."""

SOURCE_ROOTS = (".", "integrations/common", "integrations/spark", "integrations/flink")
"""Folders of the checkout that hold top-level Python packages; pyproject.toml repeats them for the tools."""

VERSION_FILE = PROJECT / "VERSION"
"""Version of every package and jar that is built here."""

STATE = PROJECT / ".lab"
"""Everything that a lab writes on this machine, the download cache apart."""

PULUMI_STATE = STATE / ".pulumi"
"""Pulumi's own state and home. No stack's name begins with a dot."""

ENVIRONMENT_FILE = "lab.env"
CREDENTIALS_FILE = "credentials.env"
"""In the folder of a stack: where everything is, and the keys to it."""


def version() -> str:
    """Return the version of the repository."""
    return VERSION_FILE.read_text(encoding="utf-8").strip()


def stack_root(stack: str) -> Path:
    """The folder of one stack."""
    return STATE / stack


def python_path(project: Path) -> str:
    """`PYTHONPATH` of a process that runs the packages of the checkout `project`."""
    return os.pathsep.join(str(project / root) for root in SOURCE_ROOTS)


ODD = re.compile(r"[^\w./+@,=~-]")


def user_path(project: Path, text: str) -> Path:
    """A path as a user writes it in the configuration: absolute, below `~`, or from the project's folder."""
    return project / Path(text).expanduser()


def refuse_odd_path(what: str, path: Path) -> None:
    """Refuses a path that supervisord, Spark or Pulumi would misread: each splits or expands some other letter.

    Raises:
        LabError: naming the letters and what to do.
    """
    odd = sorted(set(ODD.findall(str(path))))
    if odd:
        letters = ", ".join("a space" if letter == " " else repr(letter) for letter in odd)
        raise LabError(
            f"{what} is at {str(path)!r}, whose path has {letters}: supervisord, Spark or Pulumi would misread it. "
            "Move it to a path of letters, digits and . / + @ , = ~ - _"
        )
