# SPDX-License-Identifier: Apache-2.0
"""The event log: appending, and reading in order of arrival or by event time."""

import sqlite3
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from lineage.events import Kind, Original
from lineage.events.event import MAX_CLOCK_SKEW, ORDER_HASH_BYTES
from lineage.events.ids import RunId
from lineage.graph.snapshot import Snapshot, run_key
from lineage.rules.event_reader import EventReader
from lineage.store.compression import compress, decompress
from lineage.store.database import Database
from lineage.store.dead_letters import DeadLetterKind, DeadLetters
from lineage.store.event_query import EventQuery
from lineage.store.horizons import Horizons
from lineage.store.offsets import Offsets, StoredOffsets, insert_offsets
from lineage.store.packed_ids import packed_id, unpacked_id
from lineage.store.rows import (
    MAX_PAGE_BYTES,
    PAGE,
    SELECT_EVENTS,
    DamagedRowHandler,
    EventRow,
    StoredEvent,
    batched,
    compacted_through,
    event_rows,
    history_of_run,
    places,
    read_rows,
    row_key,
    stored_event,
    stored_events,
    up_to,
)
from lineage.store.segments import Bodies, Segments
from lineage.store.snapshots import Snapshots

_ROWS_PER_INSERT = 64
"""Events per INSERT statement. Each statement makes the writer wait for the GIL, which the event loop keeps busy."""


class EventLog:
    """Log of one data directory, locked against other processes. Thread-safe."""

    lease: Final = None
    writes: Final = True

    def __init__(self, directory: Path, max_bytes: int = 0) -> None:
        """Open or create the log. `max_bytes` limits its file; 0 means no limit but the disk.

        Raises:
            StoreUnusable: the directory is not writable, in use, or its file is not a log of this version.
        """
        self._database = Database(directory, max_bytes)
        self.path = self._database.path
        self.snapshots = Snapshots(self._database)
        self.offsets = StoredOffsets(self._database)
        self._segments = Segments(self._database)
        self.dead_letters = DeadLetters(self._database)

    @property
    def location(self) -> str:
        """Return the path of the file."""
        return str(self.path)

    @property
    def identity(self) -> str:
        """Return an empty text: a data directory has one file."""
        return ""

    @property
    def environment(self) -> dict[str, str]:
        """Return environment variables that a subprocess needs to read the log: none."""
        return {}

    def check_writes(self) -> None:
        """Do nothing: no other process can open the log."""

    def append(
        self, events: Sequence[Original], accepted: int | None = None, offsets: Offsets | None = None
    ) -> list[bool]:
        """Store events in one transaction; on return they are on disk. False for each one stored before.

        `accepted` is the time of acceptance in nanoseconds, by default now. `offsets` are those after the records of
        Kafka that the events were read from.

        Raises:
            StoreFull: no space left; nothing of the batch was stored.
            StoreError: storing failed otherwise; nothing of the batch was stored.
        """
        accepted = time.time_ns() if accepted is None else accepted
        stored: list[bool] = []
        with self._database.transaction() as connection:
            for first in range(0, len(events), _ROWS_PER_INSERT):
                stored += _insert_events(connection, events[first : first + _ROWS_PER_INSERT], accepted)
            insert_offsets(connection, offsets or {})
        return stored

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
        with self._database.reading() as connection:
            rows = read_rows(connection, f"{SELECT_EVENTS} WHERE e.hash = ?", (content_hash,))
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

        Raises:
            StoreUnusable: the file is damaged.
        """
        with self._database.reading_few() as connection:
            return history_of_run(connection, run)

    def number(self, content_hash: bytes) -> int:
        """Return the number of an event, given its hash or that of its order; 0 if none is stored under it.

        Such an event was compacted, and so arrived before all that are in the log.
        """
        if len(content_hash) < ORDER_HASH_BYTES:
            return 0
        query = "SELECT seq, hash FROM events WHERE hash >= ? ORDER BY hash LIMIT 1"
        with self._database.reading() as connection:
            row = connection.execute(query, (content_hash,)).fetchone()
        return row[0] if row and row[1].startswith(content_hash) else 0

    def count(self) -> int:
        """Return the number of events in the log, without compacted ones."""
        with self._database.reading() as connection:
            total: int = connection.execute("SELECT count(*) FROM events").fetchone()[0]
        return total

    def last(self) -> int:
        """Return the number of the last event; 0 if there is none."""
        with self._database.reading() as connection:
            row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'events'").fetchone()
        return row[0] if row else 0

    def run_events(self, query: EventQuery) -> tuple[list[bytes], int]:
        """Return one page of run events as they came, and the total number of matches.

        A page ends before `limit` if one more event would exceed `MAX_PAGE_BYTES`; it holds at least one, so that
        reading page by page reaches the end.
        """
        where = "e.kind = ? AND e.event_time >= ? AND e.event_time < ?"
        after = 0 if query.after is None else query.after
        before = 2**63 - 1 if query.before is None else query.before
        bounds: tuple[object, ...] = (Kind.RUN.value, after, before)
        if query.run is not None:
            where += " AND e.run = ?"
            bounds += (packed_id(query.run.lower()),)
        order = "DESC" if query.newest_first else "ASC"
        page = f"{SELECT_EVENTS} WHERE {where} ORDER BY e.event_time {order}, e.hash {order} LIMIT ? OFFSET ?"
        with self._database.reading() as connection:
            rows = Bodies(connection).joined(connection.execute(page, (*bounds, query.limit, query.offset)))
            bodies = [body for (body,) in up_to(MAX_PAGE_BYTES, ((decompress(row[-1]),) for row in rows), 0)]
            total = connection.execute(f"SELECT count(*) FROM events e WHERE {where}", bounds).fetchone()[0]
        return bodies, total

    def latest_run_events(self, number: int) -> list[StoredEvent]:
        """Return the latest `number` run events by event time, newest first. Damaged rows are left out."""
        query = f"{SELECT_EVENTS} WHERE e.kind = ? ORDER BY e.event_time DESC, e.hash DESC LIMIT ?"
        with self._database.reading() as connection:
            rows = read_rows(connection, query, (Kind.RUN.value, number))
        return list(stored_events(rows, lambda _hash, _error: None))

    def position(self, name: str) -> int:
        """Return the position of a reader: the number of the last event that it has processed."""
        with self._database.reading() as connection:
            row = connection.execute("SELECT seq FROM positions WHERE name = ?", (name,)).fetchone()
        return row[0] if row else 0

    def set_position(self, name: str, seq: int) -> None:
        """Store the position of a reader; events after it are not compacted."""
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT INTO positions VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET seq = excluded.seq", (name, seq)
            )

    def keep_positions(self, names: Collection[str]) -> None:
        """Register these readers, and remove all others, whose unread events would never be compacted."""
        marks = ",".join("?" * len(names))
        with self._database.transaction() as connection:
            connection.execute(f"DELETE FROM positions WHERE name NOT IN ({marks})", (*names,))
            rows = [(name,) for name in names]
            connection.executemany("INSERT INTO positions VALUES (?, 0) ON CONFLICT DO NOTHING", rows)

    def compact(self, reader: EventReader, horizons: Horizons) -> int:
        """Move one slice of events into snapshots (see `Snapshots.compact`); returns how many, 0 at the end.

        Damaged rows become dead letters, which stay.

        Raises:
            StoreError: the file cannot be written; nothing was removed.
        """
        damaged: list[tuple[bytes, Exception]] = []
        while True:
            damaged.clear()
            removed = self.snapshots.compact(reader, horizons, lambda *found: damaged.append(found))
            for content_hash, error in damaged:
                self.dead_letters.park(DeadLetterKind.DAMAGED, content_hash, str(error))
            if removed or not damaged:
                return removed

    def runs_with_events(self, runs: Collection[str]) -> set[str]:
        """Return those of some UUIDs that have events in the log."""
        found: set[str] = set()
        with self._database.reading() as connection:
            for part in batched([packed_id(run) for run in runs], PAGE):
                query = f"SELECT DISTINCT run FROM events WHERE run IN ({places(part)})"
                found.update(unpacked_id(run) for (run,) in connection.execute(query, part))
        return found

    def forget_runs(self, runs: Collection[RunId]) -> None:
        """Remove the snapshots of runs.

        Raises:
            StoreError: the file cannot be written.
        """
        keys = [row_key(run_key(run)) for run in runs]
        with self._database.transaction(making_room=True) as connection:
            connection.executemany("DELETE FROM snapshots WHERE kind = ? AND key = ?", keys)

    def seal(self) -> int:
        """Compress events in segments (see `Segments.seal`); return their number, 0 if there are too few."""
        return self._segments.seal()

    def shrink(self) -> None:
        """Shrink the file by the pages that compacted events have freed."""
        self._database.shrink()

    def compacted_through(self) -> int:
        """Return the greatest number of a compacted event; 0 if there is none."""
        with self._database.reading() as connection:
            return compacted_through(connection)

    def pause_compaction(self) -> None:
        """Do nothing: only this process compacts events."""

    def resume_compaction(self) -> None:
        """Do nothing: only this process compacts events."""

    def wait(self, seconds: float) -> None:
        """Return at once: no other instance stores events."""

    def lease_is_free(self) -> bool:
        """Return False: there is no lease."""
        return False

    def close(self) -> None:
        """Close the file. The last connection checkpoints the WAL."""
        self._database.close()

    def _read_rows(self, after: int, limit: int) -> list[EventRow]:
        with self._database.reading() as connection:
            return event_rows(connection, after, limit)


def _insert_events(connection: sqlite3.Connection, events: Sequence[Original], accepted: int) -> list[bool]:
    """Insert new events; return for each whether it was new."""
    hashes = [event.hash for event in events]
    marks = ",".join("?" * len(hashes))
    known = {
        found
        for table in ("events", "compacted")
        for (found,) in connection.execute(f"SELECT hash FROM {table} WHERE hash IN ({marks})", hashes)
    }
    numbers = _namespace_numbers(connection, {event.namespace for event in events})
    stored: list[bool] = []
    values: list[object] = []
    for event in events:
        is_new = event.hash not in known
        stored.append(is_new)
        if is_new:
            known.add(event.hash)
            effective = min(event.time, accepted + MAX_CLOCK_SKEW)
            run = None if event.run is None else packed_id(event.run)
            values += (event.hash, event.kind.value, effective, accepted, run, numbers[event.namespace])
    if values:
        rows = ",".join(["(?,?,?,?,?,?)"] * sum(stored))
        columns = "hash, kind, event_time, received_at, run, namespace"
        last = connection.execute(f"INSERT INTO events ({columns}) VALUES {rows}", values).lastrowid
        _insert_bodies(connection, [event.data for event, is_new in zip(events, stored, strict=True) if is_new], last)
    return stored


def _namespace_numbers(connection: sqlite3.Connection, names: set[str]) -> dict[str, int]:
    """Return the number of each namespace; new ones are added."""
    query = f"SELECT name, number FROM namespaces WHERE name IN ({','.join('?' * len(names))})"
    numbers: dict[str, int] = dict(connection.execute(query, (*names,)))
    for name in names - numbers.keys():
        row = connection.execute("INSERT INTO namespaces (name) VALUES (?) RETURNING number", (name,)).fetchone()
        numbers[name] = row[0]
    return numbers


def _insert_bodies(connection: sqlite3.Connection, bodies: list[bytes], last: int | None) -> None:
    """Insert the bodies of the events just inserted, whose numbers are consecutive and end at `last`."""
    assert last is not None
    values: list[object] = []
    for seq, data in enumerate(bodies, last - len(bodies) + 1):
        values += (seq, compress(data))
    connection.execute(f"INSERT INTO bodies VALUES {','.join(['(?,?)'] * len(bodies))}", values)
