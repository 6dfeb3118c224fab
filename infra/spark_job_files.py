# SPDX-License-Identifier: Apache-2.0
"""Reads the files that may be Spark jobs of the user's own."""

from pathlib import Path

from infra.services.spark_own_jobs import FOLDER, SUFFIX, SparkJobFileError


def read_spark_job_files(project: Path) -> dict[str, str]:
    """The text of each module in the folder of Spark jobs, by the file's name; none where there is no folder.

    Raises:
        SparkJobFileError: one cannot be read.
    """
    return {path.name: _text(path) for path in sorted((project / FOLDER).glob(f"*{SUFFIX}"))}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SparkJobFileError(f"{FOLDER}/{path.name} cannot be read: {error}") from error
