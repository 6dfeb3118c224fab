# SPDX-License-Identifier: Apache-2.0
"""Rows of one consistent snapshot of the log in Postgres."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from lineage.events.ids import RunId
from lineage.graph.snapshot import Key, Snapshot
from lineage.store.postgres import sql
from lineage.store.postgres.address import PostgresAddress
from lineage.store.postgres.connections import Connection
from lineage.store.postgres.reading import ReadingConnection, bodies, history_of_run, read_events, snapshot_page
from lineage.store.rows import PAGE, EventRow, StoredEvent, batched


class PostgresRows:
    """Rows that one transaction reads."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def known_since(self) -> int | None:
        """Return the event time (ns) of the last compacted event; None if nothing was compacted."""
        row = self._connection.execute(sql.KNOWN_SINCE).fetchone()
        return row[0] if row else None

    def snapshot_page(self, after: Key | None) -> list[Snapshot]:
        """Return a page of snapshots after `after`, in restore order."""
        return snapshot_page(self._connection, after)

    def event_rows(self, after: int, until: int) -> list[EventRow]:
        """Return a page of rows after number `after`, of event time (ns) `until` or before."""
        return read_events(self._connection, sql.EVENTS_AFTER, (after, until, PAGE))

    def events_of(self, runs: Iterable[str], hashes: Iterable[bytes], after: int, until: int) -> Iterator[EventRow]:
        """Yield the rows of the events of runs, and of those with some hashes, after number `after`.

        Of event time (ns) `until` or before, in order of arrival.
        """
        found = self._connection.execute(sql.EVENT_NUMBERS, (list(runs), list(hashes), after, until), binary=True)
        numbers = [seq for (seq,) in found]
        read = bodies(self._connection)
        for part in batched(sorted(numbers), PAGE):
            for row in read.joined(self._connection.execute(sql.NUMBERED_EVENTS, (part,), binary=True)):
                yield EventRow(*row)

    def compacted_through(self) -> int:
        """Return the greatest number of a compacted event; 0 if there is none."""
        row = self._connection.execute(sql.COMPACTED_THROUGH).fetchone()
        return int(row[0]) if row else 0

    def history_of_run(self, run: RunId) -> tuple[Snapshot | None, list[StoredEvent]]:
        """Return the snapshot of a run's compacted events, if any, and all other events of its UUID."""
        return history_of_run(self._connection, run)

    def counts(self) -> tuple[int, int]:
        """Return the numbers of events and of snapshots."""
        queries = (sql.COUNT, sql.COUNT_SNAPSHOTS)
        events, snapshots = (row[0] for query in queries for row in self._connection.execute(query))
        return events, snapshots


@contextmanager
def rows_of(address: PostgresAddress) -> Iterator[PostgresRows]:
    """Open a log for reading, beside running instances.

    Raises:
        StoreError: the server cannot be reached, or reading failed.
    """
    reader = ReadingConnection(address)
    try:
        with reader.reading() as connection:
            yield PostgresRows(connection)
    finally:
        reader.close()
