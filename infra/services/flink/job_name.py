# SPDX-License-Identifier: Apache-2.0
"""Name of a job file, which is its job's."""

import re
from collections.abc import Collection
from pathlib import PurePosixPath

from infra.user_files import UserFileError


def job_name(path: str, taken: Collection[str], renamed: str = "the file") -> str:
    """Return the name of the job of a file.

    Args:
        path: of the file in the checkout.
        taken: names of services and tasks of the lab.
        renamed: what has to be renamed where the name is taken.

    Raises:
        UserFileError: the name is invalid or taken.
    """
    name = PurePosixPath(path).stem
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise UserFileError(
            f"{path}: the file name is the job's name; use a lower-case letter, then lower-case letters, digits and "
            "'_' only"
        )
    if name in taken:
        raise UserFileError(f"{path}: the lab already has a part {name}; rename {renamed}")
    return name
