# SPDX-License-Identifier: Apache-2.0
"""The event log: appending, and reading in order of arrival or by event time."""

import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lineage.events import Event, Kind
from lineage.store.database import Database
from lineage.store.dead_letters import DeadLetters
from lineage.store.rows import PAGE, EventRow, OnDamaged, event_of, event_rows, events_of
from lineage.store.snapshots import Snapshots

MAX_PAGE_BYTES = 16 * 2**20
"""Bytes of one page of events: bounds what a reader costs in memory, whatever the number he asks for."""

_ROWS = 64
"""Events of one statement. Each statement costs the writer a wait for the interpreter, which the loop keeps busy."""


@dataclass(frozen=True, slots=True)
class EventQuery:
    """A page of run events: times in nanoseconds, `after` inclusive, `before` exclusive."""

    after: int | None = None
    before: int | None = None
    newest_first: bool = True
    limit: int = 100
    offset: int = 0


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

    def events(self, on_damaged: OnDamaged) -> Iterator[Event]:
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
        bounds = (Kind.RUN.value, after, before)
        order = "DESC" if query.newest_first else "ASC"
        page = f"SELECT body FROM events WHERE {where} ORDER BY event_time {order}, hash {order} LIMIT ? OFFSET ?"
        with self._database.reading() as connection:
            bodies = _up_to(MAX_PAGE_BYTES, connection.execute(page, (*bounds, query.limit, query.offset)))
            total = connection.execute(f"SELECT count(*) FROM events WHERE {where}", bounds).fetchone()[0]
        return bodies, total

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

    def forget_positions_but(self, name: str | None) -> None:
        """Forget readers that are gone for good: what they have not read must not stay for ever on their account."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM positions WHERE name IS NOT ?", (name,))

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


def _up_to(limit: int, rows: Iterable[tuple[bytes]]) -> list[bytes]:
    bodies: list[bytes] = []
    size = 0
    for (body,) in rows:
        size += len(body)
        if bodies and size > limit:
            break
        bodies.append(body)
    return bodies
