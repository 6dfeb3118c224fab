# SPDX-License-Identifier: Apache-2.0
"""Reads the files of the user's own connectors."""

from pathlib import Path

from infra.services.own_connectors import FOLDER, SUFFIX, ConnectorFileError


def read_connector_files(project: Path) -> dict[str, str]:
    """The text of each file in the folder of connectors, by the file's name; none where there is no folder.

    Raises:
        ConnectorFileError: one cannot be read.
    """
    files = sorted((project / FOLDER).glob(f"*{SUFFIX}"))
    return {path.name: _text(path) for path in files}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConnectorFileError(f"{FOLDER}/{path.name} cannot be read: {error}") from error
