# SPDX-License-Identifier: Apache-2.0
"""Snapshots of compacted events in Postgres."""

import logging
from collections.abc import Iterator

from lineage.graph.snapshot import Snapshot, subjects_of
from lineage.rules.event_reader import EventReader
from lineage.store.horizons import Horizon, Horizons
from lineage.store.postgres import sql
from lineage.store.postgres.connections import Connection
from lineage.store.postgres.lease import WriterLease
from lineage.store.postgres.reading import ReadingConnection, read_events, snapshot_of, snapshot_page
from lineage.store.rows import DamagedRowHandler, EventRow
from lineage.store.snapshots import SLICE, merged_rows, readable_events

logger = logging.getLogger(__name__)


class PostgresSnapshots:
    """Table of snapshots."""

    def __init__(self, reader: ReadingConnection, lease: WriterLease) -> None:
        self._reader = reader
        self._lease = lease

    def all(self) -> Iterator[Snapshot]:
        """Yield every snapshot in restore order."""
        page: list[Snapshot] = []
        while page := self._read_page(page):
            yield from page

    def compact(self, reader: EventReader, horizons: Horizons, on_unusable: DamagedRowHandler) -> int:
        """Move one slice of events into snapshots, as `lineage.store.snapshots.Snapshots.compact` does.

        Returns 0 too while an instance reads the whole log: an event must not move from the part that it has not read
        to the part that it has.

        Raises:
            StoreError: the database cannot be written, or another instance writes; nothing was removed.
            StoreUnusable: a snapshot cannot be read; nothing was removed.
        """
        with self._reader.reading() as connection:
            rows = _removable_rows(connection, horizons)
            events = list(readable_events(rows, reader, on_unusable))
            keys = {key for event in events for key in subjects_of(event)}
            stored = [found for key in sorted(keys) if (found := snapshot_of(connection, key)) is not None]
            changed = merged_rows(stored, events, horizons)
        if not events:
            return 0
        removed = {event.hash for event in events}
        numbers = [row.seq for row in rows if row.hash in removed]
        with self._lease.writing() as connection:
            if connection.execute(sql.TRY_COMPACTION).fetchone() != (True,):
                logger.info("another instance reads the whole log; events are compacted later")
                return 0
            _remove(connection, list(removed), numbers)
            with connection.cursor() as cursor:
                cursor.executemany(sql.PUT_SNAPSHOT, changed)
            known_since = max(event.order.time for event in events)
            connection.execute(sql.SET_RETENTION, (known_since, max(numbers)))
        return len(events)

    def _read_page(self, previous: list[Snapshot]) -> list[Snapshot]:
        with self._reader.reading() as connection:
            return snapshot_page(connection, previous[-1].key if previous else None)


def _removable_rows(connection: Connection, horizons: Horizons) -> list[EventRow]:
    """Return a slice of the events of the first namespace that has any before its horizon."""
    queries: list[tuple[str, str | list[str] | None, Horizon | None]] = [
        (sql.OF_OTHERS, [*horizons.namespaces], horizons.others),
        (sql.OF_OLDER_LOGS, None, horizons.earliest),
        *((sql.OF_NAMESPACE, namespace, horizon) for namespace, horizon in horizons.namespaces.items()),
    ]
    for of_namespace, value, horizon in queries:
        if horizon is not None:
            query = sql.REMOVABLE.format(of_namespace=of_namespace)
            if rows := read_events(connection, query, (value, *horizon, SLICE)):
                return rows
    return []


def _remove(connection: Connection, hashes: list[bytes], numbers: list[int]) -> None:
    """Remove events; their hashes stay, so that they are not stored again."""
    connection.execute(sql.DELETE_EVENTS, (hashes,))
    connection.execute(sql.INSERT_COMPACTED, (hashes,))
    connection.execute(sql.DELETE_BODIES, (numbers,))
    connection.execute(sql.DELETE_EMPTY_SEGMENTS, {"first": min(numbers), "last": max(numbers)})
