# SPDX-License-Identifier: Apache-2.0
"""Dead letters: events that could not be processed, with the cause. The log holds accepted ones."""

import time
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from lineage.store.compression import compress, decompress
from lineage.store.database import Database
from lineage.store.segments import Bodies


class DeadLetterKind(StrEnum):
    """Kind of a dead letter: the use that failed."""

    FOLD = "fold"
    """A defect keeps it out of the graph."""

    DAMAGED = "damaged"
    """Its row in the log is corrupt."""

    FORWARD = "forward"
    """The backend that events are forwarded to rejects it permanently."""

    REFUSED = "refused"
    """Refused terminal event; a smaller one that ends its run is stored in its place."""


MAX_REFUSED = 1_000
"""Refused events that are kept; the oldest are removed."""


class DeadLetter(NamedTuple):
    """One entry; `body` is None if the event was compacted. `parked_at` is in nanoseconds."""

    trouble: DeadLetterKind
    hash: bytes
    error: str
    parked_at: int
    body: bytes | None


class RefusedLetter(NamedTuple):
    """Refused event: the SHA-256 of its bytes, the cause, and the bytes."""

    hash: bytes
    error: str
    body: bytes


class DeadLetters:
    """Table of dead letters in the log's file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def park(self, trouble: DeadLetterKind, content_hash: bytes, error: str) -> None:
        """Add an event, or update its cause."""
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT INTO dead_letters (kind, hash, error, parked_at) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (kind, hash) DO UPDATE SET error = excluded.error",
                (trouble, content_hash, error, time.time_ns()),
            )

    def park_refused(self, letters: Iterable[RefusedLetter]) -> None:
        """Add refused events with their bodies, or update their causes."""
        now = time.time_ns()
        rows = [(DeadLetterKind.REFUSED, one.hash, one.error, now, compress(one.body)) for one in letters]
        with self._database.transaction() as connection:
            connection.executemany(
                "INSERT INTO dead_letters (kind, hash, error, parked_at, body) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (kind, hash) DO UPDATE SET error = excluded.error",
                rows,
            )
            connection.execute(
                "DELETE FROM dead_letters WHERE kind = ?1 AND id <= (SELECT id FROM dead_letters WHERE kind = ?1"
                " ORDER BY id DESC LIMIT 1 OFFSET ?2)",
                (DeadLetterKind.REFUSED, MAX_REFUSED),
            )

    def refused(self, content_hash: bytes) -> bytes | None:
        """Return the body of a refused event; None if it is not kept.

        Raises:
            ValueError: the body is damaged.
        """
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT body FROM dead_letters WHERE kind = ? AND hash = ?", (DeadLetterKind.REFUSED, content_hash)
            ).fetchone()
        return decompress(row[0]) if row else None

    def release(self, trouble: DeadLetterKind, content_hash: bytes) -> None:
        """Remove a dead letter."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM dead_letters WHERE kind = ? AND hash = ?", (trouble, content_hash))

    def hashes(self, trouble: DeadLetterKind) -> list[bytes]:
        """Return the hashes of all events of one kind, oldest first."""
        with self._database.reading() as connection:
            rows = connection.execute("SELECT hash FROM dead_letters WHERE kind = ? ORDER BY id", (trouble,)).fetchall()
        return [content_hash for (content_hash,) in rows]

    def count(self) -> dict[DeadLetterKind, int]:
        """Return the number of dead letters of each kind."""
        with self._database.reading() as connection:
            rows = connection.execute("SELECT kind, count(*) FROM dead_letters GROUP BY kind").fetchall()
        return {DeadLetterKind(kind): count for kind, count in rows}

    def page(self, limit: int, offset: int = 0, trouble: DeadLetterKind | None = None) -> list[DeadLetter]:
        """Return one page, oldest first; `trouble` selects one kind."""
        with self._database.reading() as connection:
            bodies = Bodies(connection)
            found = connection.execute(
                "SELECT e.seq, d.kind, d.hash, d.error, d.parked_at, coalesce(d.body, b.body) FROM dead_letters d"
                " LEFT JOIN events e ON e.hash = d.hash LEFT JOIN bodies b ON b.seq = e.seq"
                " WHERE ?1 IS NULL OR d.kind = ?1 ORDER BY d.id LIMIT ?2 OFFSET ?3",
                (trouble, limit, offset),
            )
            rows = [row if row[0] is None else next(bodies.joined([row])) for row in found]
        return [
            DeadLetter(DeadLetterKind(kind), content_hash, error, parked_at, readable_body(body))
            for _, kind, content_hash, error, parked_at, body in rows
        ]


def readable_body(body: bytes | None) -> bytes | None:
    """Return the event of a row, or the row's content if it is damaged."""
    try:
        return None if body is None else decompress(body)
    except ValueError:
        return body
