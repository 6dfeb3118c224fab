# SPDX-License-Identifier: Apache-2.0
"""Reads the files of Flink SQL jobs."""

from pathlib import Path

from infra.services.flink_own_jobs import FOLDER, SUFFIX, FlinkJobFileError


def read_flink_job_files(project: Path) -> dict[str, str]:
    """The text of each file in the folder of Flink SQL, by the file's name; none where there is no folder.

    Raises:
        FlinkJobFileError: one cannot be read.
    """
    return {path.name: _text(path) for path in sorted((project / FOLDER).glob(f"*{SUFFIX}"))}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FlinkJobFileError(f"{FOLDER}/{path.name} cannot be read: {error}") from error
