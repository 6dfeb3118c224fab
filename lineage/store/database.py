# SPDX-License-Identifier: Apache-2.0
"""The SQLite file: one process's lock on it, one connection that writes, one that reads.

WAL lets readers go on while the writer commits; `synchronous=FULL` makes a commit mean *on disk*.
"""

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

from lineage.store.errors import StoreError, StoreFull, StoreUnusable
from lineage.store.schema import migrate

FILE_NAME = "lineage.db"

_RESERVE_PAGES = 8192
"""32 MiB: more than a page of events, all of which a snapshot may have to hold."""


class Database:
    """The file of one data directory, which no other service may use at the same time.

    Safe from any thread: transactions and reads each wait for their like, not for one another.
    """

    def __init__(self, directory: Path, max_bytes: int = 0) -> None:
        """Open or create the file. `max_bytes` caps it; 0 leaves it to the disk.

        Raises:
            StoreUnusable: the directory cannot be written, is in use, or its file is not ours to read.
        """
        self.path = directory / FILE_NAME
        self._lock_file = lock_directory(directory)
        try:
            self._writer = _connect(self.path)
            migrate(self._writer, self.path)
            page_size: int = self._writer.execute("PRAGMA page_size").fetchone()[0]
            self._max_pages = max(1, max_bytes // page_size) if max_bytes else 0
            if self._max_pages:
                self._writer.execute(f"PRAGMA max_page_count = {self._max_pages}")
            self._reader = _connect(self.path)
            self._reader.execute("PRAGMA query_only = ON")
        except sqlite3.Error as error:
            os.close(self._lock_file)
            raise _unusable(self.path, error) from error
        except StoreUnusable:
            os.close(self._lock_file)
            raise
        self._writing = Lock()
        self._reading = Lock()

    @contextmanager
    def transaction(self, making_room: bool = False) -> Iterator[sqlite3.Connection]:
        """A transaction that is on disk once the block has ended; it leaves nothing where the block fails.

        One that is `making_room` may take the file a little over its limit for the while.

        Raises:
            StoreFull: there is no room.
            StoreError: writing failed otherwise.
        """
        with self._writing:
            try:
                if making_room and self._max_pages:
                    self._writer.execute(f"PRAGMA max_page_count = {self._max_pages + _RESERVE_PAGES}")
                self._writer.execute("BEGIN IMMEDIATE")
                yield self._writer
                self._writer.execute("COMMIT")
            except sqlite3.Error as error:
                if error.sqlite_errorcode == sqlite3.SQLITE_FULL:
                    self._make_room()
                    raise StoreFull(f"no room left for {self.path}: {error}") from error
                raise StoreError(f"cannot write to {self.path}: {error}") from error
            finally:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                if making_room and self._max_pages:
                    self._writer.execute(f"PRAGMA max_page_count = {self._max_pages}")

    def _make_room(self) -> None:
        """Fold the WAL into the file, which small commits on a small disk never do: the next attempt may fit."""
        with suppress(sqlite3.Error):
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection for reading, which is the caller's alone until the block ends.

        Raises:
            StoreUnusable: the file is damaged.
        """
        with self._reading:
            try:
                yield self._reader
            except sqlite3.DatabaseError as error:
                raise _unusable(self.path, error) from error

    def give_back_room(self) -> None:
        """Let the file shrink by what removed rows have left."""
        with self._writing:
            # As a script: stepped as a query, it would stop after the first page.
            self._writer.executescript("PRAGMA incremental_vacuum;")

    def close(self) -> None:
        """Close the file. The last connection to close folds the WAL into it."""
        with self._reading:
            self._reader.close()
        with self._writing:
            self._writer.close()
        os.close(self._lock_file)


def lock_directory(directory: Path) -> int:
    """Take the directory for this process; the kernel gives it back when the process ends.

    Returns the open file that holds the lock.

    Raises:
        StoreUnusable: it cannot be written, or another service has it.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(directory / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreUnusable(f"cannot write to data directory {directory}: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise StoreUnusable(f"data directory {directory} is in use by another lineage service") from error
    return descriptor


def _unusable(path: Path, error: sqlite3.Error) -> StoreUnusable:
    return StoreUnusable(
        f"cannot read {path}: {error}; bring a backup back with `python -m lineage.maintenance restore`,"
        " or move the file away to begin anew"
    )


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
    # Has to be chosen before anything is written; lets removed events give their room back to the disk.
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection
