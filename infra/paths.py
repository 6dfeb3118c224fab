# SPDX-License-Identifier: Apache-2.0
"""Paths that every tool of the lab can live with."""

import re
from pathlib import Path

from infra.errors import LabError

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
