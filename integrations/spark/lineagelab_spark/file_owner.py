# SPDX-License-Identifier: Apache-2.0
"""Lock of the file of open runs: two launchers with one file would end each other's runs."""

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from lineagelab_common.files import remove_file
from lineagelab_spark.driver_settings import OPEN_RUNS


@contextmanager
def own_file(path: Path, private: Path) -> Iterator[Path]:
    """Provide a file for this process alone: `path`, or `private` with a warning if another launcher uses `path`.

    The lock is on a file beside it, which is removed at the end. A process that is killed leaves the file unlocked.
    """
    lock_path = path.with_name(f"{path.name}.lock")
    try:
        lock = _locked(lock_path)
    except BlockingIOError:
        print(
            f"{OPEN_RUNS} names {path}, which another launcher uses: give each driver a file of its own. Until then"
            " lineage events of this driver are not kept across launches",
            file=sys.stderr,
        )
        yield private
        return
    except OSError as error:
        print(f"cannot lock the file of open lineage runs: {error}", file=sys.stderr)
        yield path
        return
    with lock:
        try:
            yield path
        finally:
            remove_file(lock_path)


def _locked(path: Path) -> IO[str]:
    """Create and lock a file.

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
