# SPDX-License-Identifier: Apache-2.0
"""Reads of the log in Postgres, in order of arrival or by event time."""

from collections.abc import Collection, Iterator
from typing import Any

from lineage.events import Kind
from lineage.events.event import ORDER_HASH_BYTES
from lineage.events.ids import RunId
from lineage.graph.snapshot import Snapshot
from lineage.store.compression import decompress
from lineage.store.event_query import EventQuery
from lineage.store.horizons import END_OF_TIME
from lineage.store.postgres import sql
from lineage.store.postgres.reading import ReadingConnection, bodies, history_of_run, read_events
from lineage.store.rows import (
    MAX_PAGE_BYTES,
    PAGE,
    DamagedRowHandler,
    EventRow,
    StoredEvent,
    stored_event,
    stored_events,
    up_to,
)


class LogReads:
    """Events and counts of the log, read by one connection. Thread-safe."""

    def __init__(self, reader: ReadingConnection) -> None:
        self._reader = reader

    def events(self, on_damaged: DamagedRowHandler, after: int = 0) -> Iterator[StoredEvent]:
        """Yield every event after number `after` that is not compacted, in order of arrival.

        Damaged rows are skipped and go to `on_damaged`.
        """
        place = after
        while rows := self._read_rows(place, PAGE):
            yield from stored_events(rows, on_damaged)
            place = rows[-1].seq

    def event(self, content_hash: bytes) -> StoredEvent | None:
        """Return the event stored under a hash, or None.

        Raises:
            ValueError: the row is damaged.
        """
        with self._reader.reading() as connection:
            rows = read_events(connection, sql.EVENT, (content_hash,))
        return stored_event(rows[0]) if rows else None

    def after(self, seq: int, limit: int) -> list[StoredEvent]:
        """Return up to `limit` events after number `seq`, in order of arrival.

        Damaged rows are skipped: they are dead letters already. The page is empty only at the end of the log.
        """
        while rows := self._read_rows(seq, limit):
            if found := list(stored_events(rows, lambda _hash, _error: None)):
                return found
            seq = rows[-1].seq
        return []

    def history_of_run(self, run: RunId) -> tuple[Snapshot | None, list[StoredEvent]]:
        """Return the snapshot of a run's compacted events, if any, and all other events of its UUID.

        Damaged rows are skipped: they are dead letters already.
        """
        with self._reader.reading() as connection:
            return history_of_run(connection, run)

    def runs_with_events(self, runs: Collection[str]) -> set[str]:
        """Return those of some UUIDs that have events in the log."""
        return {run for (run,) in self._reader.rows(sql.RUNS_WITH_EVENTS, ([*runs],))}

    def number(self, content_hash: bytes) -> int:
        """Return the number of an event, given its hash or that of its order; 0 if none is stored under it.

        Such an event was compacted, and so arrived before all that are in the log.
        """
        if len(content_hash) < ORDER_HASH_BYTES:
            return 0
        return self._reader.number(sql.NUMBER, (content_hash,) * 3)

    def count(self) -> int:
        """Return the number of events in the log, without compacted ones."""
        return self._reader.number(sql.COUNT)

    def compacted_through(self) -> int:
        """Return the greatest number of a compacted event; 0 if there is none."""
        return self._reader.number(sql.COMPACTED_THROUGH)

    def run_events(self, query: EventQuery) -> tuple[list[bytes], int]:
        """Return one page of run events as they came, and the total number of matches.

        A page ends before `limit` if one more event would exceed `MAX_PAGE_BYTES`; it holds at least one.
        """
        where = sql.RUN_EVENTS + (sql.OF_RUN if query.run is not None else "")
        values = {
            "kind": Kind.RUN.value,
            "after": 0 if query.after is None else query.after,
            "before": END_OF_TIME if query.before is None else query.before,
            "run": query.run and query.run.lower(),
            "limit": query.limit,
            "offset": query.offset,
        }
        page = sql.RUN_EVENTS_PAGE.format(where=where, order="DESC" if query.newest_first else "ASC")
        with self._reader.reading() as connection:
            rows = bodies(connection).joined(connection.execute(page, values, binary=True))
            found = [body for (body,) in up_to(MAX_PAGE_BYTES, ((decompress(row[-1]),) for row in rows), 0)]
            total: Any = connection.execute(sql.COUNT_RUN_EVENTS.format(where=where), values).fetchone()
        return found, total[0]

    def latest_run_events(self, number: int) -> list[StoredEvent]:
        """Return the latest `number` run events by event time, newest first. Damaged rows are left out."""
        with self._reader.reading() as connection:
            rows = read_events(connection, sql.LATEST_RUN_EVENTS, (Kind.RUN.value, number))
        return list(stored_events(rows, lambda _hash, _error: None))

    def position(self, name: str) -> int:
        """Return the position of a reader: the number of the last event that it has processed."""
        return self._reader.number(sql.POSITION, (name,))

    def _read_rows(self, after: int, limit: int) -> list[EventRow]:
        with self._reader.reading() as connection:
            return read_events(connection, sql.EVENTS_AFTER, (after, END_OF_TIME, limit))
