# SPDX-License-Identifier: Apache-2.0
"""Name and folders of the project, and validation of paths."""

import os
import re
from pathlib import Path

from infra.errors import LabError

NAME = "lineage-lab"
"""Name of the Pulumi project and namespace of its configuration, as in Pulumi.yaml."""

PROJECT = Path(__file__).resolve().parent.parent
"""Root of the checkout."""

SOURCE_ROOTS = (
    ".",
    "integrations/common",
    "integrations/spark",
    "integrations/flink",
    "integrations/sql",
    "integrations/dbt",
    "integrations/trino",
    "integrations/scikit_learn",
)
"""Folders of the checkout that hold top-level Python packages; pyproject.toml repeats them for the tools."""

COMMAND_ROOTS = ("integrations/catalog", "integrations/great_expectations")
"""The same, for programs that only `lab` starts: they are not on the path of the lab's services."""

VERSION_FILE = PROJECT / "VERSION"
"""File with the version of all packages and jars that are built from this repository."""

STATE = PROJECT / ".lab"
"""Folder of all data that labs write on this machine, except the download cache."""

PULUMI_STATE = STATE / ".pulumi"
"""State and home of Pulumi; cannot clash with a stack, since stack names do not begin with a dot."""

ENVIRONMENT_FILE = "lab.env"
CREDENTIALS_FILE = "credentials.env"
"""Files in the folder of a stack: addresses for clients, and generated credentials."""

CERTIFICATES_FOLDER = "certificates"
"""Folder in the folder of a stack with TLS (`infra.security.certificates`)."""


def version() -> str:
    """Return the version of the repository."""
    return VERSION_FILE.read_text(encoding="utf-8").strip()


def stack_root(stack: str) -> Path:
    """Return the folder of a stack."""
    return STATE / stack


def python_path(project: Path) -> str:
    """Return the PYTHONPATH of a process that imports packages of the checkout `project`."""
    return os.pathsep.join(str(project / root) for root in SOURCE_ROOTS)


def command_path(project: Path) -> str:
    """Return the PYTHONPATH of a program that only `lab` starts."""
    return os.pathsep.join([python_path(project), *(str(project / root) for root in COMMAND_ROOTS)])


_UNSAFE_CHARACTERS = re.compile(r"[^\w./+@,=~-]")


def user_path(project: Path, text: str) -> Path:
    """Resolve a path from the configuration: absolute, below `~`, or relative to the checkout `project`."""
    return project / Path(text).expanduser()


def reject_unsafe_path(what: str, path: Path) -> None:
    """Reject a path with characters that supervisord, Spark or Pulumi split on or expand.

    Raises:
        LabError: the path contains such characters.
    """
    unsafe = sorted(set(_UNSAFE_CHARACTERS.findall(str(path))))
    if unsafe:
        characters = ", ".join("a space" if character == " " else repr(character) for character in unsafe)
        raise LabError(
            f"unsupported characters in the path of {what}, {str(path)!r}: {characters}. supervisord, Spark or Pulumi "
            f"would misinterpret the path; move {what} to a path of letters, digits and . / + @ , = ~ - _"
        )
