# SPDX-License-Identifier: Apache-2.0
"""Paged reads of event and snapshot rows: no reader holds the file for long."""

import json
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from lineage.events import EventError, Original, canonical_json, read_original
from lineage.events.ids import RunId
from lineage.graph.snapshot import Key, Snapshot, Subject, run_key
from lineage.store.compression import decompress
from lineage.store.errors import StoreUnusable
from lineage.store.horizons import END_OF_TIME
from lineage.store.packed_ids import packed_id
from lineage.store.segments import Bodies

_Value = TypeVar("_Value")

PAGE = 500
MAX_PAGE_BYTES = 16 * 2**20
"""Maximum bytes of a page of events: bounds memory whatever the requested number."""

DamagedRowHandler = Callable[[bytes, Exception], None]
"""Callback for a damaged row: the hash it was stored under, and the error."""


SELECT_EVENTS = "SELECT e.seq, e.hash, e.received_at, b.body FROM events e LEFT JOIN bodies b USING (seq)"
"""Rows for `Bodies.joined`, which make an `EventRow` each."""


class EventRow(NamedTuple):
    """Row of an event, in the order of the columns of `SELECT_EVENTS`."""

    seq: int
    hash: bytes
    received_at: int
    body: bytes


class StoredEvent(NamedTuple):
    """Event of the log: its number, its first acceptance (ns), and the event as it came."""

    seq: int
    accepted: int
    original: Original


def history_of_run(connection: sqlite3.Connection, run: RunId) -> tuple[Snapshot | None, list[StoredEvent]]:
    """Return the snapshot of a run's compacted events, if any, and all other events of its UUID.

    Damaged rows are skipped: they are dead letters already.
    """
    found = connection.execute(f"{SELECT_EVENTS} WHERE e.run = ? ORDER BY e.seq", (packed_id(run.run),))
    rows = [EventRow(*row) for row in Bodies(connection).joined(found)]
    return snapshot_of(connection, run_key(run)), list(stored_events(rows, lambda _hash, _error: None))


def event_rows(connection: sqlite3.Connection, after: int, limit: int, until: int = END_OF_TIME) -> list[EventRow]:
    """Return up to `limit` rows after number `after`, in order of arrival, of event time (ns) `until` or before."""
    query = f"{SELECT_EVENTS} WHERE e.seq > ? AND e.event_time <= ? ORDER BY e.seq LIMIT ?"
    return read_rows(connection, query, (after, until, limit))


def events_of(
    connection: sqlite3.Connection, runs: Iterable[str], hashes: Iterable[bytes], after: int, until: int
) -> Iterator[EventRow]:
    """Yield the rows of the events of runs, and of those with some hashes, after number `after`.

    Of event time (ns) `until` or before, in order of arrival, so that each segment is read once.
    """
    found: set[int] = set()
    keys: tuple[tuple[str, list[bytes | str]], ...] = (("run", [packed_id(run) for run in runs]), ("hash", [*hashes]))
    for column, values in keys:
        for part in batched(values, PAGE):
            query = f"SELECT seq FROM events WHERE {column} IN ({places(part)}) AND seq > ? AND event_time <= ?"
            found.update(seq for (seq,) in connection.execute(query, (*part, after, until)))
    bodies = Bodies(connection)
    for numbers in batched(sorted(found), PAGE):
        query = f"{SELECT_EVENTS} WHERE e.seq IN ({places(numbers)}) ORDER BY e.seq"
        for row in bodies.joined(connection.execute(query, numbers)):
            yield EventRow(*row)


def batched(values: Sequence[_Value], size: int) -> Iterator[Sequence[_Value]]:
    """Yield up to `size` values each."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def places(values: Sequence[object]) -> str:
    """Return the placeholders of a statement for some values."""
    return ",".join("?" * len(values))


def read_rows(connection: sqlite3.Connection, query: str, values: tuple[object, ...]) -> list[EventRow]:
    """Return the rows of a query that starts with `SELECT_EVENTS`, a page of them at most."""
    rows = Bodies(connection).joined(connection.execute(query, values))
    return [EventRow(*row) for row in up_to(MAX_PAGE_BYTES, rows, 3)]


def up_to(limit: int, rows: Iterable[tuple[Any, ...]], body: int) -> Iterator[tuple[Any, ...]]:
    """Yield rows until their bodies (column number `body`) exceed `limit` bytes; at least one row."""
    size = 0
    for row in rows:
        if size and size + len(row[body]) > limit:
            return
        size += len(row[body])
        yield row


def stored_event(row: EventRow) -> StoredEvent:
    """Decode the event of a row.

    Raises:
        ValueError: the row's content does not match its hash.
    """
    try:
        original = read_original(decompress(row.body))
    except (ValueError, EventError) as error:
        raise ValueError(f"the stored event cannot be read: {error!r}") from error
    if original.hash != row.hash:
        raise ValueError("the stored event has been changed: its content does not match its hash")
    return StoredEvent(row.seq, row.received_at, original)


def stored_events(rows: Iterable[EventRow], on_damaged: DamagedRowHandler) -> Iterator[StoredEvent]:
    """Yield the events of rows; damaged rows go to `on_damaged`."""
    for row in rows:
        try:
            event = stored_event(row)
        except ValueError as error:
            on_damaged(row.hash, error)
        else:
            yield event


def snapshot_page(connection: sqlite3.Connection, after: Key | None) -> list[Snapshot]:
    """Return a page of snapshots after `after`, in restore order."""
    query = "SELECT kind, key, body FROM snapshots WHERE (kind, key) > (?, ?) ORDER BY kind, key LIMIT ?"
    place = ("", "") if after is None else row_key(after)
    return [read_snapshot(*row) for row in connection.execute(query, (*place, PAGE))]


def snapshot_of(connection: sqlite3.Connection, key: Key) -> Snapshot | None:
    """Return the snapshot of a subject, or None."""
    row = connection.execute(
        "SELECT kind, key, body FROM snapshots WHERE kind = ? AND key = ?", row_key(key)
    ).fetchone()
    return read_snapshot(*row) if row else None


def compacted_through(connection: sqlite3.Connection) -> int:
    """Return the greatest number of a compacted event; 0 if there is none."""
    through: int = connection.execute("SELECT coalesce(max(through), 0) FROM retention").fetchone()[0]
    return through


def known_since(connection: sqlite3.Connection) -> int | None:
    """Return the event time (ns) of the last compacted event, the earliest time that can be queried.

    None if nothing was compacted.
    """
    row = connection.execute("SELECT known_since FROM retention").fetchone()
    return row[0] if row else None


def row_key(key: Key) -> tuple[str, str]:
    """Return the primary key of a snapshot."""
    return key.subject.value, canonical_json(list(key.identity)).decode()


def snapshot_body(snapshot: Snapshot) -> bytes:
    """Encode a snapshot's content for the file."""
    return zlib.compress(canonical_json(snapshot.content), 1)


def read_snapshot(kind: str, key: str, body: bytes) -> Snapshot:
    """Decode the snapshot of a row.

    Raises:
        StoreUnusable: the row is damaged.
    """
    try:
        return Snapshot(Key(Subject(kind), tuple(json.loads(key))), json.loads(zlib.decompress(body)))
    except (ValueError, zlib.error) as error:
        raise StoreUnusable(
            f"the snapshot of {kind} {key} is damaged ({error}); restore a backup with"
            " `python -m lineage.maintenance restore`, or move the log away to start empty"
        ) from error
