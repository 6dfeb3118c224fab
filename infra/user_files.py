# SPDX-License-Identifier: Apache-2.0
"""User files in the checkout: connectors, Spark jobs and Flink SQL."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from infra.errors import LabError

CONNECTOR_FOLDER = "jobs/connect"
SPARK_FOLDER = "jobs/spark"
FLINK_FOLDER = "jobs/flink/sql"

CONNECTOR_SUFFIX = ".json"
SPARK_SUFFIX = ".py"
FLINK_SUFFIX = ".sql"


class UserFileError(LabError):
    """Invalid user file; the message begins with its path in the checkout."""


@dataclass(frozen=True)
class UserFiles:
    """Text of each user file by file name, one mapping per folder."""

    connectors: Mapping[str, str] = field(default_factory=dict)
    spark: Mapping[str, str] = field(default_factory=dict)
    flink: Mapping[str, str] = field(default_factory=dict)


NO_USER_FILES = UserFiles()
"""Empty set of user files."""


def read_user_files(project: Path) -> UserFiles:
    """Read all user files of the checkout `project`; a missing folder counts as empty.

    Raises:
        UserFileError: a file is not readable or not UTF-8.
    """
    return UserFiles(
        connectors=_read_folder(project, CONNECTOR_FOLDER, CONNECTOR_SUFFIX),
        spark=_read_folder(project, SPARK_FOLDER, SPARK_SUFFIX),
        flink=_read_folder(project, FLINK_FOLDER, FLINK_SUFFIX),
    )


def _read_folder(project: Path, folder: str, suffix: str) -> dict[str, str]:
    return {path.name: _read_file(path, folder) for path in sorted((project / folder).glob(f"*{suffix}"))}


def _read_file(path: Path, folder: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserFileError(f"{folder}/{path.name} cannot be read: {error}") from error
