# SPDX-License-Identifier: Apache-2.0
"""SQLite file with a process lock, one writing and one reading connection.

WAL mode lets reads run during commits; with `synchronous=FULL` a commit is on disk.
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
"""32 MiB: more than one page of events, which a snapshot may have to contain completely."""


class Database:
    """File of one data directory, locked against other processes.

    Thread-safe: transactions are serialized among themselves, and so are reads; they do not block each other.
    """

    def __init__(self, directory: Path, max_bytes: int = 0) -> None:
        """Open or create the file. `max_bytes` limits it; 0 means no limit but the disk.

        Raises:
            StoreUnusable: the directory is not writable, in use, or its file is not a log of this version.
        """
        self.path = directory / FILE_NAME
        self._lock_file = lock_directory(directory)
        try:
            self._writer = _open_connection(self.path)
            migrate(self._writer, self.path)
            page_size: int = self._writer.execute("PRAGMA page_size").fetchone()[0]
            self._max_pages = max(1, max_bytes // page_size) if max_bytes else 0
            if self._max_pages:
                self._writer.execute(f"PRAGMA max_page_count = {self._max_pages}")
            self._reader, self._point_reader = _open_reader(self.path), _open_reader(self.path)
        except sqlite3.Error as error:
            os.close(self._lock_file)
            raise _unusable_store(self.path, error) from error
        except StoreUnusable:
            os.close(self._lock_file)
            raise
        self._writing = Lock()
        self._reading = Lock()
        self._point_reading = Lock()

    @contextmanager
    def transaction(self, making_room: bool = False) -> Iterator[sqlite3.Connection]:
        """Run a transaction that is committed to disk at the end of the block, or rolled back if it fails.

        With `making_room` it may temporarily exceed the file's limit.

        Raises:
            StoreFull: no space left.
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
                    raise StoreFull(f"no space left for {self.path}: {error}") from error
                raise StoreError(f"cannot write to {self.path}: {error}") from error
            finally:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                if making_room and self._max_pages:
                    self._writer.execute(f"PRAGMA max_page_count = {self._max_pages}")

    def _make_room(self) -> None:
        """Checkpoint the WAL, which small commits on a full disk never do: the next attempt may succeed."""
        with suppress(sqlite3.Error):
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Lend the reading connection exclusively for the block.

        Raises:
            StoreUnusable: the file is damaged.
        """
        with self._reading:
            try:
                yield self._reader
            except sqlite3.DatabaseError as error:
                raise _unusable_store(self.path, error) from error

    @contextmanager
    def reading_few(self) -> Iterator[sqlite3.Connection]:
        """Lend another reading connection for one consistent read of a few rows, which waits for no long one.

        Raises:
            StoreUnusable: the file is damaged.
        """
        with self._point_reading:
            try:
                self._point_reader.execute("BEGIN")
                yield self._point_reader
            except sqlite3.DatabaseError as error:
                raise _unusable_store(self.path, error) from error
            finally:
                if self._point_reader.in_transaction:
                    self._point_reader.execute("ROLLBACK")

    def shrink(self) -> None:
        """Shrink the file by the pages that removed rows have freed."""
        with self._writing:
            # executescript runs the statement to its end; execute would stop after the first page.
            self._writer.executescript("PRAGMA incremental_vacuum;")

    def close(self) -> None:
        """Close the file. The last connection checkpoints the WAL."""
        with self._reading:
            self._reader.close()
        with self._point_reading:
            self._point_reader.close()
        with self._writing:
            self._writer.close()
        os.close(self._lock_file)


def lock_directory(directory: Path) -> int:
    """Lock the directory for this process; the kernel releases the lock when the process ends.

    Returns the open lock file.

    Raises:
        StoreUnusable: it is not writable, or another service has locked it.
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


def _unusable_store(path: Path, error: sqlite3.Error) -> StoreUnusable:
    return StoreUnusable(
        f"cannot read {path}: {error}; restore a backup with `python -m lineage.maintenance restore`,"
        " or move the file away to start empty"
    )


def _open_reader(path: Path) -> sqlite3.Connection:
    connection = _open_connection(path)
    connection.execute("PRAGMA query_only = ON")
    return connection


def _open_connection(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
    # Must be set before the first write; lets the file shrink after events were removed.
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection
