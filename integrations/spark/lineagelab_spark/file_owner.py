# SPDX-License-Identifier: Apache-2.0
"""Lock of the file of open runs: two launchers with one file would end each other's runs."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lineagelab_common.file_lock import locked
from lineagelab_common.files import remove_file
from lineagelab_spark.driver_settings import OPEN_RUNS


@contextmanager
def own_file(path: Path, private: Path) -> Iterator[Path]:
    """Provide a file for this process alone: `path`, or `private` with a warning if another launcher uses `path`.

    The lock is on a file beside it, which is removed at the end. A process that is killed leaves the file unlocked.
    """
    lock_path = path.with_name(f"{path.name}.lock")
    try:
        lock = locked(lock_path)
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
