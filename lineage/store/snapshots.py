# SPDX-License-Identifier: Apache-2.0
"""Snapshots of compacted events: one compressed record per job, run, dataset and namespace."""

import json
import sqlite3
from collections.abc import Iterable, Iterator

from lineage.events import Event, EventError
from lineage.graph.records import LineageRecords
from lineage.graph.snapshot import Key, Snapshot, restore, snapshots_of, subjects_of
from lineage.rules.event_reader import EventReader
from lineage.store.database import Database
from lineage.store.horizons import Horizon, Horizons
from lineage.store.rows import (
    SELECT_EVENTS,
    DamagedRowHandler,
    EventRow,
    read_rows,
    row_key,
    snapshot_body,
    snapshot_of,
    snapshot_page,
    stored_events,
)
from lineage.store.segments import drop_bodies
from lineage.store.statement_retention import forget_compacted

SLICE = 200
"""Events per compaction transaction; bounds the time that an ingest waits for one."""

_REMOVABLE = (
    f"{SELECT_EVENTS} WHERE {{of_namespace}} AND e.event_time < ? AND e.received_at < ?"
    " AND e.seq <= (SELECT coalesce(min(seq), 9223372036854775807) FROM positions)"
    " AND e.hash NOT IN (SELECT hash FROM dead_letters)"
    " ORDER BY e.event_time, e.hash LIMIT ?"
)
_OF_NAMESPACE = "e.namespace = (SELECT number FROM namespaces WHERE name = ?)"
_OF_OTHERS = (
    "e.namespace IS NOT NULL AND e.namespace NOT IN"
    " (SELECT number FROM namespaces WHERE name IN (SELECT value FROM json_each(?)))"
)
_OF_OLDER_FILES = "e.namespace IS ?"


class Snapshots:
    """Table of snapshots in the log's file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> Iterator[Snapshot]:
        """Yield every snapshot in restore order."""
        page: list[Snapshot] = []
        while page := self._read_page(page[-1].key if page else None):
            yield from page

    def compact(self, reader: EventReader, horizons: Horizons, on_unusable: DamagedRowHandler) -> int:
        """Move one slice of events before their horizon into snapshots.

        Dead letters, and events that a registered reader has not read, are kept. Damaged rows, and events that the
        naming rules of `reader` refuse, are kept and go to `on_unusable`.

        Returns the number of removed events; 0 when nothing is left to compact.

        Raises:
            StoreError: the file cannot be written; nothing was removed.
            StoreUnusable: a snapshot cannot be read; nothing was removed.
        """
        with self._database.reading() as connection:
            rows = _removable_rows(connection, horizons)
        events = list(readable_events(rows, reader, on_unusable))
        if not events:
            return 0
        changed = self._merged_rows(events, horizons)
        with self._database.transaction(making_room=True) as connection:
            removed = {event.hash for event in events}
            hashes = [(content_hash,) for content_hash in removed]
            # Delete first: in a full file the snapshots need the space of the removed events.
            connection.executemany("DELETE FROM events WHERE hash = ?", hashes)
            drop_bodies(connection, [row.seq for row in rows if row.hash in removed])
            connection.executemany("INSERT INTO compacted VALUES (?) ON CONFLICT DO NOTHING", hashes)
            connection.executemany(
                "INSERT INTO snapshots VALUES (?, ?, ?) ON CONFLICT (kind, key) DO UPDATE SET body = excluded.body",
                changed,
            )
            connection.execute(
                "INSERT INTO retention VALUES (1, ?, ?) ON CONFLICT (one) DO UPDATE"
                " SET known_since = max(known_since, excluded.known_since), through = max(through, excluded.through)",
                (max(event.order.time for event in events), max(row.seq for row in rows)),
            )
        return len(events)

    def _read_page(self, after: Key | None) -> list[Snapshot]:
        with self._database.reading() as connection:
            return snapshot_page(connection, after)

    def _merged_rows(self, events: list[Event], horizons: Horizons) -> list[tuple[str, str, bytes]]:
        """Return the rows of all snapshots that the events change, with the events merged into them."""
        keys = set().union(*(subjects_of(event) for event in events))
        return merged_rows(list(self._stored_snapshots(keys)), events, horizons)

    def _stored_snapshots(self, keys: Iterable[Key]) -> Iterator[Snapshot]:
        with self._database.reading() as connection:
            for key in sorted(keys):
                if (found := snapshot_of(connection, key)) is not None:
                    yield found


def _removable_rows(connection: sqlite3.Connection, horizons: Horizons) -> list[EventRow]:
    """Return a slice of the events of the first namespace that has any before its horizon."""
    queries: list[tuple[str, str | None, Horizon | None]] = [
        (_OF_OTHERS, json.dumps([*horizons.namespaces]), horizons.others),
        (_OF_OLDER_FILES, None, horizons.earliest),
    ]
    queries += [(_OF_NAMESPACE, namespace, horizon) for namespace, horizon in horizons.namespaces.items()]
    for of_namespace, value, horizon in queries:
        if horizon is not None:
            query = _REMOVABLE.format(of_namespace=of_namespace)
            if rows := read_rows(connection, query, (value, *horizon, SLICE)):
                return rows
    return []


def merged_rows(
    snapshots: Iterable[Snapshot], events: Iterable[Event], horizons: Horizons
) -> list[tuple[str, str, bytes]]:
    """Return the rows of snapshots with events merged into them, without old versions of datasets."""
    lineage = LineageRecords()
    restore(lineage, snapshots)
    for event in events:
        lineage.apply(event)
    forget_compacted(lineage, horizons)
    return [(*row_key(snapshot.key), snapshot_body(snapshot)) for snapshot in snapshots_of(lineage)]


def readable_events(rows: list[EventRow], reader: EventReader, on_unusable: DamagedRowHandler) -> Iterator[Event]:
    """Yield the events of rows; unusable ones go to `on_unusable`."""
    for stored in stored_events(rows, on_unusable):
        try:
            yield reader.event(stored.original, stored.accepted)
        except EventError as error:
            on_unusable(stored.original.hash, error)
