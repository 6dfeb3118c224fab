# SPDX-License-Identifier: Apache-2.0
"""Segments: events of the log that are compressed together, which takes a tenth of the space of single ones."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec
import zstandard

from lineage.graph import zstd
from lineage.store.compression import decompress
from lineage.store.database import Database

SEGMENT_EVENTS = 128
"""Events of a segment: four times as many take 5 % less per event, and one event costs reading all of its segment."""

SEGMENTS_PER_SEAL = 4
"""Segments of one transaction, for which events wait that are to be stored."""

SEGMENT_BYTES = 2 * 2**20
"""Compressed bytes of single events after which a segment ends."""

_LEVEL = 6

_Segment = dict[int, bytes]
_decoder = msgspec.msgpack.Decoder(_Segment)


SegmentRow = tuple[int, int, bytes]
"""Numbers of the first and the last event of a segment, and its content."""


class SegmentBodies:
    """Reads the bodies of events, in or out of segments. Keeps the last segment: neighbours are read together.

    `find_segment` returns the last segment that starts at or before a number, or None.
    """

    def __init__(self, find_segment: Callable[[int], SegmentRow | None]) -> None:
        self._find_segment = find_segment
        self._range = range(0)
        self._segment: _Segment = {}

    def joined(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """Replace the last column of rows, the body or None, by the body; the first one is the event's number."""
        for seq, *others, body in rows:
            yield (seq, *others, self._body_in_segment(seq) if body is None else body)

    def _body_in_segment(self, seq: int) -> bytes:
        """Return the body of an event, empty if its segment is damaged."""
        if seq not in self._range:
            row = self._find_segment(seq)
            if row is None or seq > row[1]:
                return b""
            self._range, self._segment = range(row[0], row[1] + 1), _unpacked(row[2])
        return self._segment.get(seq, b"")


class Bodies(SegmentBodies):
    """Bodies of events in the log's file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        query = "SELECT first, last, body FROM segments WHERE first <= ? ORDER BY first DESC LIMIT 1"
        super().__init__(lambda seq: connection.execute(query, (seq,)).fetchone())


class Segments:
    """Moves events into segments."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def seal(self) -> int:
        """Compress the oldest single events, `SEGMENT_EVENTS` together, in up to `SEGMENTS_PER_SEAL` segments.

        Returns the number of events, 0 if there are too few.

        Raises:
            StoreError: the file cannot be written; nothing was changed.
        """
        with self._database.reading() as connection:
            found = connection.execute("SELECT seq, body FROM bodies ORDER BY seq LIMIT ?", (events_per_seal(),))
            segments = next_segments(found)
        if not segments:
            return 0
        packed = [packed_segment(rows) for rows in segments]
        with self._database.transaction(making_room=True) as connection:
            # Events that were compacted meanwhile stay in the segment, which retention drops later.
            connection.execute("DELETE FROM bodies WHERE seq BETWEEN ? AND ?", (packed[0][0], packed[-1][1]))
            connection.executemany("INSERT INTO segments VALUES (?, ?, ?)", packed)
        return sum(map(len, segments))


def drop_bodies(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Remove the bodies of events that left the log; a segment once all of its events have left."""
    removed = sorted(numbers)
    connection.executemany("DELETE FROM bodies WHERE seq = ?", [(seq,) for seq in removed])
    last = 0
    for seq in removed:
        if seq <= last:
            continue
        row = connection.execute(
            "SELECT first, last FROM segments WHERE first <= ? ORDER BY first DESC LIMIT 1", (seq,)
        )
        for first, last in row.fetchall():
            left = connection.execute("SELECT 1 FROM events WHERE seq BETWEEN ? AND ? LIMIT 1", (first, last))
            if left.fetchone() is None:
                connection.execute("DELETE FROM segments WHERE first = ?", (first,))


def events_per_seal() -> int:
    """Return the number of the oldest single events of which segments are made at once."""
    return SEGMENT_EVENTS * SEGMENTS_PER_SEAL


def next_segments(oldest: Iterable[tuple[int, bytes]]) -> list[list[tuple[int, bytes]]]:
    """Return the next segments, as many as `SEGMENTS_PER_SEAL`, of the oldest single events, given by number and body.

    There are none while there are too few events for one.
    """
    segments: list[list[tuple[int, bytes]]] = []
    rows: list[tuple[int, bytes]] = []
    size = 0
    for seq, body in oldest:
        rows.append((seq, body))
        size += len(body)
        if size >= SEGMENT_BYTES or len(rows) == SEGMENT_EVENTS:
            segments.append(rows)
            rows, size = [], 0
            if len(segments) == SEGMENTS_PER_SEAL:
                break
    return segments


def packed_segment(rows: list[tuple[int, bytes]]) -> SegmentRow:
    """Return a segment of events, given by number and body."""
    segment = {seq: _readable_or_stored(body) for seq, body in rows}
    content = zstandard.ZstdCompressor(level=_LEVEL).compress(msgspec.msgpack.encode(segment))
    return rows[0][0], rows[-1][0], content


def _readable_or_stored(body: bytes) -> bytes:
    """Return the event of a body. A damaged body is returned unchanged: its event is a dead letter already."""
    try:
        return decompress(body)
    except ValueError:
        return body


def _unpacked(body: bytes) -> _Segment:
    """Return the events of a segment, none if it is damaged: each of them is then reported as damaged."""
    try:
        return _decoder.decode(zstd.decompressed(body))
    except (zstandard.ZstdError, msgspec.DecodeError):
        return {}
