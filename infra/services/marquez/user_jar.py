# SPDX-License-Identifier: Apache-2.0
"""Validation of user-supplied jars."""

import zipfile
from pathlib import Path

from infra.errors import LabError
from infra.project import NAME, PROJECT, reject_unsafe_path, user_path


def user_jar(setting: str, text: str, main: str) -> Path:
    """Return the path of the jar that `setting` refers to by `text`; the jar must contain the class `main`.

    Raises:
        LabError: the file is missing, not a jar, or does not contain the class.
    """
    path = user_path(PROJECT, text)
    reject_unsafe_path(f"the jar of {NAME}:{setting}", path)
    problem = _invalid_reason(path, main)
    if problem:
        raise LabError(
            f"invalid {NAME}:{setting} {path}: {problem}. Correct it in Pulumi.<stack>.yaml, or remove it to "
            "resolve the jar with Maven"
        )
    return path


def _invalid_reason(path: Path, main: str) -> str:
    if not path.is_file():
        return "is a folder" if path.is_dir() else "file not found"
    try:
        with zipfile.ZipFile(path) as jar:
            names = jar.namelist()
    except (OSError, zipfile.BadZipFile) as error:
        return f"not a readable jar ({error})"
    return "" if f"{main.replace('.', '/')}.class" in names else f"jar does not contain {main}"
