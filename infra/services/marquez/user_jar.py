# SPDX-License-Identifier: Apache-2.0
"""Jars that the user brings, named by settings: looked at before anything is built on them."""

import zipfile
from pathlib import Path

from infra.errors import LabError
from infra.project import NAME, PROJECT, refuse_odd_path, user_path


def user_jar(setting: str, text: str, main: str) -> Path:
    """The path of the jar that `setting` names as `text`; it must hold the class `main`.

    Raises:
        LabError: it is not there, is no jar, or is another one.
    """
    path = user_path(PROJECT, text)
    refuse_odd_path(f"The jar of {NAME}:{setting}", path)
    problem = _problem(path, main)
    if problem:
        raise LabError(
            f"{NAME}:{setting} names {path}, {problem}. Correct it in Pulumi.<stack>.yaml, or leave it empty to "
            "have Maven look for the jar"
        )
    return path


def _problem(path: Path, main: str) -> str:
    if not path.is_file():
        return "which is a folder" if path.is_dir() else "where there is no file"
    try:
        with zipfile.ZipFile(path) as jar:
            names = jar.namelist()
    except (OSError, zipfile.BadZipFile) as error:
        return f"which cannot be read as a jar ({error})"
    return "" if f"{main.replace('.', '/')}.class" in names else f"a jar without {main}"
