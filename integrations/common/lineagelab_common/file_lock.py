# SPDX-License-Identifier: Apache-2.0
"""Locks of files that belong to one process at a time."""

import fcntl
import os
from pathlib import Path
from typing import IO


def locked(path: Path) -> IO[str]:
    """Create and lock a file, which its owner may remove before it closes it. A process that is killed unlocks it.

    Raises:
        BlockingIOError: another process has locked it.
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        file = path.open("w", encoding="utf-8")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise
        if _is_at(file, path):
            return file
        file.close()  # its owner removed it between the two calls


def _is_at(file: IO[str], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
