# SPDX-License-Identifier: Apache-2.0
"""Reading connection to the log, and the rows that are read with it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any, cast

import psycopg

from lineage.events.ids import RunId
from lineage.graph.snapshot import Key, Snapshot, run_key
from lineage.store.errors import StoreError
from lineage.store.postgres import sql
from lineage.store.postgres.address import PostgresAddress
from lineage.store.postgres.connections import Connection, connect, store_error
from lineage.store.rows import MAX_PAGE_BYTES, PAGE, EventRow, StoredEvent, read_snapshot, row_key, stored_events, up_to
from lineage.store.segments import SegmentBodies, SegmentRow

Values = Sequence[object] | Mapping[str, object]


class ReadingConnection:
    """Connection that is opened again after it broke. Thread-safe: reads are serialized."""

    def __init__(self, address: PostgresAddress) -> None:
        self._address = address
        self._connection: Connection | None = None
        self._pinned = False
        self._lock = Lock()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Lend the connection exclusively for one consistent read.

        Raises:
            StoreError: the server cannot be reached, or reading failed.
        """
        with self._lock:
            if self._connection is None or self._connection.closed:
                if self._pinned:
                    raise StoreError(f"the connection to the store {self._address} was lost; the log is read again")
                self._connection = connect(self._address, "reader")
                self._connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
                self._connection.read_only = True
            try:
                with self._connection.transaction():
                    yield self._connection
            except psycopg.Error as error:
                raise store_error(self._address, "read", error) from error

    def pause_compaction(self) -> None:
        """Keep the writing instance from compacting events, by a lock of the connection.

        Until `resume_compaction` all reads fail once the connection is lost, and the lock with it.
        """
        self.row(sql.PAUSE_COMPACTION)
        self._pinned = True

    def resume_compaction(self) -> None:
        """Allow compaction again."""
        pinned, self._pinned = self._pinned, False
        if pinned:
            self.row(sql.RESUME_COMPACTION)

    def row(self, query: str, values: Values = ()) -> tuple[Any, ...] | None:
        """Return the first row of a query, or None."""
        with self.reading() as connection:
            return connection.execute(query, values, binary=True).fetchone()

    def rows(self, query: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        with self.reading() as connection:
            return connection.execute(query, values, binary=True).fetchall()

    def number(self, query: str, values: Values = ()) -> int:
        """Return the number that is the first column of a query's first row; 0 if there is none."""
        row = self.row(query, values)
        return cast(int, row[0]) if row else 0

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()


def bodies(connection: Connection) -> SegmentBodies:
    """Return the reader of bodies of events, in and out of segments."""

    def find_segment(seq: int) -> SegmentRow | None:
        return cast(SegmentRow | None, connection.execute(sql.SEGMENT, (seq,), binary=True).fetchone())

    return SegmentBodies(find_segment)


def read_events(connection: Connection, query: str, values: Values) -> list[EventRow]:
    """Return the rows of a query that starts with `SELECT_EVENTS`, a page of them at most."""
    rows = bodies(connection).joined(connection.execute(query, values, binary=True))
    return [EventRow(*row) for row in up_to(MAX_PAGE_BYTES, rows, 3)]


def history_of_run(connection: Connection, run: RunId) -> tuple[Snapshot | None, list[StoredEvent]]:
    """Return the snapshot of a run's compacted events, if any, and all other events of its UUID.

    Damaged rows are skipped: they are dead letters already.
    """
    found = bodies(connection).joined(connection.execute(sql.EVENTS_OF_RUN, (run.run,), binary=True))
    rows = [EventRow(*row) for row in found]
    return snapshot_of(connection, run_key(run)), list(stored_events(rows, lambda _hash, _error: None))


def snapshot_page(connection: Connection, after: Key | None) -> list[Snapshot]:
    """Return a page of snapshots after `after`, in restore order."""
    place = ("", "") if after is None else row_key(after)
    rows = connection.execute(sql.SNAPSHOTS_AFTER, (*place, PAGE), binary=True)
    return [read_snapshot(*row) for row in rows]


def snapshot_of(connection: Connection, key: Key) -> Snapshot | None:
    """Return the snapshot of a subject, or None."""
    row = connection.execute(sql.SNAPSHOT, row_key(key), binary=True).fetchone()
    return read_snapshot(*row) if row else None
