# SPDX-License-Identifier: Apache-2.0
"""The SQLite file behind the service: schema, appending, reading.

WAL lets readers go on while the one writer commits; `synchronous=FULL` makes a commit mean *on disk*.
"""

import fcntl
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from lineage.events import Event, Kind
from lineage.ingest import restore_event
from lineage.store.errors import StoreError, StoreFull, StoreUnusable

SCHEMA_VERSION = 1
FILE_NAME = "lineage.db"

_SCHEMA = f"""
BEGIN;
CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,   -- SHA-256 of body
    kind TEXT NOT NULL,          -- run, job, dataset
    event_time INTEGER NOT NULL, -- nanoseconds since the epoch
    received_at INTEGER NOT NULL,
    body BLOB NOT NULL           -- canonical JSON, UTF-8
) STRICT;
CREATE INDEX events_by_time ON events (kind, event_time, hash);
PRAGMA user_version = {SCHEMA_VERSION};
COMMIT;
"""
MAX_PAGE_BYTES = 16 * 2**20
"""Bytes of one page of events: bounds what a reader costs in memory, whatever the number he asks for."""

_INSERT = (
    "INSERT INTO events (hash, kind, event_time, received_at, body) VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT (hash) DO NOTHING"
)


@dataclass(frozen=True, slots=True)
class EventQuery:
    """A page of run events: times in nanoseconds, `after` inclusive, `before` exclusive."""

    after: int | None = None
    before: int | None = None
    newest_first: bool = True
    limit: int = 100
    offset: int = 0


class EventLog:
    """The log of one data directory, which no other process may use at the same time.

    Appending is for one thread (see `EventWriter`); reading pages is safe from any.
    """

    def __init__(self, directory: Path, max_bytes: int = 0) -> None:
        """Open or create the log. `max_bytes` caps its file; 0 leaves it to the disk.

        Raises:
            StoreUnusable: the directory cannot be written, is in use, or its file is not ours to read.
        """
        self.path = directory / FILE_NAME
        self._lock_file = _lock(directory)
        try:
            self._writer = _connect(self.path)
            _migrate(self._writer, self.path)
            if max_bytes:
                page_size = self._writer.execute("PRAGMA page_size").fetchone()[0]
                self._writer.execute(f"PRAGMA max_page_count = {max(1, max_bytes // page_size)}")
            self._reader = _connect(self.path)
            self._reader.execute("PRAGMA query_only = ON")
        except sqlite3.Error as error:
            os.close(self._lock_file)
            message = f"cannot open {self.path}: {error}; restore it or move it away"
            raise StoreUnusable(message) from error
        except StoreUnusable:
            os.close(self._lock_file)
            raise
        self._reading = Lock()

    def append(self, events: Sequence[Event]) -> list[bool]:
        """Store events in one transaction; on return they are on disk. False for each one stored before.

        Raises:
            StoreFull: there is no room; nothing of the batch was stored.
            StoreError: storing failed otherwise; nothing of the batch was stored.
        """
        now = time.time_ns()
        stored: list[bool] = []
        try:
            self._writer.execute("BEGIN IMMEDIATE")
            for event in events:
                row = (event.order.hash, event.kind.value, event.order.time, now, event.encoded)
                stored.append(self._writer.execute(_INSERT, row).rowcount == 1)
            self._writer.execute("COMMIT")
        except sqlite3.Error as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_FULL:
                raise StoreFull(f"no room left for {self.path}: {error}") from error
            raise StoreError(f"cannot write to {self.path}: {error}") from error
        finally:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
        return stored

    def events(self) -> Iterator[Event]:
        """Every event, in the order of arrival."""
        with self._reading:
            for kind, body in self._reader.execute("SELECT kind, body FROM events ORDER BY seq"):
                yield restore_event(kind, body)

    def run_events(self, query: EventQuery) -> tuple[list[bytes], int]:
        """Canonical JSON of one page of run events, and how many the whole query has.

        A page ends before its limit where one more event would take it over `MAX_PAGE_BYTES`; it always holds
        one, so that a reader who continues behind the last event he got reaches the end.
        """
        where = "kind = ? AND event_time >= ? AND event_time < ?"
        after = 0 if query.after is None else query.after
        before = 2**63 - 1 if query.before is None else query.before
        bounds = (Kind.RUN.value, after, before)
        order = "DESC" if query.newest_first else "ASC"
        page = f"SELECT body FROM events WHERE {where} ORDER BY event_time {order}, hash {order} LIMIT ? OFFSET ?"
        with self._reading:
            bodies = _up_to(MAX_PAGE_BYTES, self._reader.execute(page, (*bounds, query.limit, query.offset)))
            total = self._reader.execute(f"SELECT count(*) FROM events WHERE {where}", bounds).fetchone()[0]
        return bodies, total

    def close(self) -> None:
        """Close the file. The last connection to close folds the WAL into it."""
        with self._reading:
            self._reader.close()
        self._writer.close()
        os.close(self._lock_file)


def _up_to(limit: int, rows: Iterable[tuple[bytes]]) -> list[bytes]:
    bodies: list[bytes] = []
    size = 0
    for (body,) in rows:
        size += len(body)
        if bodies and size > limit:
            break
        bodies.append(body)
    return bodies


def _lock(directory: Path) -> int:
    """Take the directory for this process; the kernel gives it back when the process ends."""
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


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise StoreUnusable(f"{path} has schema {version}, this service knows {SCHEMA_VERSION}; use the newer service")
    if version == 0:
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise StoreUnusable(f"{path} is a database of something else; choose another data directory")
        connection.executescript(_SCHEMA)
