# SPDX-License-Identifier: Apache-2.0
"""The event log: appending, and reading in order of arrival or by event time."""

import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lineage.events import Event, Kind, canonical_json
from lineage.store.database import Database
from lineage.store.dead_letters import DeadLetterKind, DeadLetters
from lineage.store.rows import (
    END_OF_TIME,
    MAX_PAGE_BYTES,
    PAGE,
    DamagedRowHandler,
    EventRow,
    event_of,
    event_rows,
    events_of,
    up_to,
)
from lineage.store.snapshots import Snapshots

_ROWS = 64
"""Events of one statement. Each statement costs the writer a wait for the interpreter, which the loop keeps busy."""


@dataclass(frozen=True, slots=True)
class EventQuery:
    """A page of run events: times in nanoseconds, `after` inclusive, `before` exclusive; `run` is the UUID of one."""

    after: int | None = None
    before: int | None = None
    newest_first: bool = True
    limit: int = 100
    offset: int = 0
    run: str | None = None


class EventLog:
    """The log of one data directory, which no other process may use at the same time. Safe from any thread."""

    def __init__(self, directory: Path, max_bytes: int = 0) -> None:
        """Open or create the log. `max_bytes` caps its file; 0 leaves it to the disk.

        Raises:
            StoreUnusable: the directory cannot be written, is in use, or its file is not ours to read.
        """
        self._database = Database(directory, max_bytes)
        self.path = self._database.path
        self.snapshots = Snapshots(self._database)
        self.dead_letters = DeadLetters(self._database)

    def append(self, events: Sequence[Event]) -> list[bool]:
        """Store events in one transaction; on return they are on disk. False for each one stored before.

        Raises:
            StoreFull: there is no room; nothing of the batch was stored.
            StoreError: storing failed otherwise; nothing of the batch was stored.
        """
        now = time.time_ns()
        stored: list[bool] = []
        with self._database.transaction() as connection:
            for first in range(0, len(events), _ROWS):
                stored += _insert(connection, events[first : first + _ROWS], now)
        return stored

    def events(self, on_damaged: DamagedRowHandler) -> Iterator[Event]:
        """Every event that is not compacted, in order of arrival.

        Rows that cannot be read are left out and told to `on_damaged`.
        """
        place = 0
        while rows := self._rows(place, PAGE):
            yield from (event for _, event in events_of(rows, on_damaged))
            place = rows[-1].seq

    def event(self, content_hash: bytes) -> Event | None:
        """The event stored under a hash; None where there is none.

        Raises:
            ValueError: the row is damaged.
        """
        query = "SELECT seq, hash, kind, body FROM events WHERE hash = ?"
        with self._database.reading() as connection:
            row = connection.execute(query, (content_hash,)).fetchone()
        return None if row is None else event_of(EventRow(*row))

    def after(self, seq: int, limit: int) -> list[tuple[int, Event]]:
        """Up to `limit` events that arrived after number `seq`, in order of arrival, each with its number.

        Damaged rows are passed over: the fold has met them and put them on the list of dead letters. The page is
        empty only at the end of the log.
        """
        while rows := self._rows(seq, limit):
            if found := list(events_of(rows, lambda _hash, _error: None)):
                return found
            seq = rows[-1].seq
        return []

    def number(self, content_hash: bytes) -> int:
        """The number under which an event arrived; 0 where it has left the log, and so came before all that is in."""
        with self._database.reading() as connection:
            row = connection.execute("SELECT seq FROM events WHERE hash = ?", (content_hash,)).fetchone()
        return row[0] if row else 0

    def count(self) -> int:
        """How many events the log holds; those that retention has compacted are not among them."""
        with self._database.reading() as connection:
            total: int = connection.execute("SELECT count(*) FROM events").fetchone()[0]
        return total

    def last(self) -> int:
        """The number of the last event that arrived; 0 where there was none."""
        with self._database.reading() as connection:
            row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'events'").fetchone()
        return row[0] if row else 0

    def run_events(self, query: EventQuery) -> tuple[list[bytes], int]:
        """Canonical JSON of one page of run events, and how many the whole query has.

        A page ends before its limit where one more event would take it over `MAX_PAGE_BYTES`; it always holds
        one, so that a reader who continues behind the last event he got reaches the end.
        """
        where = "kind = ? AND event_time >= ? AND event_time < ?"
        after = 0 if query.after is None else query.after
        before = 2**63 - 1 if query.before is None else query.before
        bounds: tuple[object, ...] = (Kind.RUN.value, after, before)
        if query.run is not None:
            where += " AND json_extract(CAST(body AS TEXT), '$.run.runId') = ?"
            bounds += (query.run,)
        order = "DESC" if query.newest_first else "ASC"
        page = f"SELECT body FROM events WHERE {where} ORDER BY event_time {order}, hash {order} LIMIT ? OFFSET ?"
        with self._database.reading() as connection:
            rows = connection.execute(page, (*bounds, query.limit, query.offset))
            bodies = [body for (body,) in up_to(MAX_PAGE_BYTES, rows, 0)]
            total = connection.execute(f"SELECT count(*) FROM events WHERE {where}", bounds).fetchone()[0]
        return bodies, total

    def latest_run_events(self, scanned: int, text: str) -> list[bytes]:
        """Of the latest `scanned` run events those whose canonical JSON holds `text` as a JSON string, newest first."""
        latest = "SELECT body FROM events WHERE kind = ? ORDER BY event_time DESC, hash DESC LIMIT ?"
        query = f"SELECT body FROM ({latest}) WHERE instr(body, ?) > 0"
        with self._database.reading() as connection:
            rows = connection.execute(query, (Kind.RUN.value, scanned, canonical_json(text)))
            return [body for (body,) in up_to(MAX_PAGE_BYTES, rows, 0)]

    def position(self, name: str) -> int:
        """How far the reader of that name has come: the number of the last event it is done with."""
        with self._database.reading() as connection:
            row = connection.execute("SELECT seq FROM positions WHERE name = ?", (name,)).fetchone()
        return row[0] if row else 0

    def set_position(self, name: str, seq: int) -> None:
        """Note durably how far a reader has come; what it is not done with is not compacted."""
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT INTO positions VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET seq = excluded.seq", (name, seq)
            )

    def keep_position(self, name: str | None) -> None:
        """Know this reader, if any, and no other: what those that are gone have not read must not stay for ever."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM positions WHERE name IS NOT ?", (name,))
            if name is not None:
                connection.execute("INSERT INTO positions VALUES (?, 0) ON CONFLICT DO NOTHING", (name,))

    def compact(self, before: int, arrived_before: int = END_OF_TIME) -> int:
        """Move one slice of events into snapshots (see `Snapshots.compact`); returns how many, 0 at the end.

        Damaged rows become dead letters, which stay.

        Raises:
            StoreError: the file cannot be written; nothing was removed.
        """
        damaged: list[tuple[bytes, Exception]] = []
        while True:
            damaged.clear()
            removed = self.snapshots.compact(before, arrived_before, lambda *found: damaged.append(found))
            for content_hash, error in damaged:
                self.dead_letters.park(DeadLetterKind.DAMAGED, content_hash, str(error))
            if removed or not damaged:
                return removed

    def give_back_room(self) -> None:
        """Let the file shrink by what compacted events have left."""
        self._database.give_back_room()

    def close(self) -> None:
        """Close the file. The last connection to close folds the WAL into it."""
        self._database.close()

    def _rows(self, after: int, limit: int) -> list[EventRow]:
        with self._database.reading() as connection:
            return event_rows(connection, after, limit)


def _insert(connection: sqlite3.Connection, events: Sequence[Event], now: int) -> list[bool]:
    """Store those of some events that are new; True for each of them."""
    hashes = [event.order.hash for event in events]
    marks = ",".join("?" * len(hashes))
    known = {
        found
        for table in ("events", "compacted")
        for (found,) in connection.execute(f"SELECT hash FROM {table} WHERE hash IN ({marks})", hashes)
    }
    stored: list[bool] = []
    values: list[object] = []
    for event in events:
        is_new = event.order.hash not in known
        stored.append(is_new)
        if is_new:
            known.add(event.order.hash)
            values += (event.order.hash, event.kind.value, event.order.time, now, event.encoded)
    if values:
        rows = ",".join(["(?,?,?,?,?)"] * sum(stored))
        connection.execute(f"INSERT INTO events (hash, kind, event_time, received_at, body) VALUES {rows}", values)
    return stored
