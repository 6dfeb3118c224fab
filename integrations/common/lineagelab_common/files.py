# SPDX-License-Identifier: Apache-2.0
"""Atomic replacement of small files."""

import os
from contextlib import suppress
from pathlib import Path


def replace_file(path: Path, text: str) -> None:
    """Write a file through a temporary one, synced to disk, so that a crash leaves the old or the new text.

    Raises:
        OSError: the folder or the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.new")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def remove_file(path: Path) -> None:
    """Remove a file that may not exist.

    Raises:
        OSError: it exists and cannot be removed.
    """
    with suppress(FileNotFoundError, NotADirectoryError):
        path.unlink()
