# SPDX-License-Identifier: Apache-2.0
"""Dead letters in Postgres. See `lineage.store.dead_letters`."""

import time
from collections.abc import Iterable

from lineage.store.compression import compress, decompress
from lineage.store.dead_letters import MAX_REFUSED, DeadLetter, DeadLetterKind, RefusedLetter, readable_body
from lineage.store.postgres import sql
from lineage.store.postgres.lease import WriterLease
from lineage.store.postgres.reading import ReadingConnection, bodies


class PostgresDeadLetters:
    """Table of dead letters. Only the writing instance changes it: others raise NotWriter."""

    def __init__(self, reader: ReadingConnection, lease: WriterLease) -> None:
        self._reader = reader
        self._lease = lease

    def park(self, trouble: DeadLetterKind, content_hash: bytes, error: str) -> None:
        """Add an event, or update its cause."""
        with self._lease.writing() as connection:
            connection.execute(sql.PARK, (trouble.value, content_hash, _storable(error), time.time_ns()))

    def park_refused(self, letters: Iterable[RefusedLetter]) -> None:
        """Add refused events with their bodies, or update their causes."""
        now, kind = time.time_ns(), DeadLetterKind.REFUSED.value
        rows = [(kind, one.hash, _storable(one.error), now, compress(one.body)) for one in letters]
        with self._lease.writing() as connection, connection.cursor() as cursor:
            cursor.executemany(sql.PARK_REFUSED, rows)
            cursor.execute(sql.EVICT_REFUSED, {"kind": kind, "kept": MAX_REFUSED})

    def refused(self, content_hash: bytes) -> bytes | None:
        """Return the body of a refused event; None if it is not kept.

        Raises:
            ValueError: the body is damaged.
        """
        row = self._reader.row(sql.REFUSED_BODY, (DeadLetterKind.REFUSED.value, content_hash))
        return decompress(row[0]) if row else None

    def release(self, trouble: DeadLetterKind, content_hash: bytes) -> None:
        """Remove a dead letter."""
        with self._lease.writing() as connection:
            connection.execute(sql.RELEASE, (trouble.value, content_hash))

    def hashes(self, trouble: DeadLetterKind) -> list[bytes]:
        """Return the hashes of all events of one kind, oldest first."""
        return [row[0] for row in self._reader.rows(sql.DEAD_HASHES, (trouble.value,))]

    def count(self) -> dict[DeadLetterKind, int]:
        """Return the number of dead letters of each kind."""
        return {DeadLetterKind(kind): count for kind, count in self._reader.rows(sql.COUNT_DEAD)}

    def page(self, limit: int, offset: int = 0, trouble: DeadLetterKind | None = None) -> list[DeadLetter]:
        """Return one page, oldest first; `trouble` selects one kind."""
        values = {"kind": trouble and trouble.value, "limit": limit, "offset": offset}
        with self._reader.reading() as connection:
            found = connection.execute(sql.DEAD_PAGE, values, binary=True).fetchall()
            reader = bodies(connection)
            rows = [row if row[0] is None else next(reader.joined([row])) for row in found]
        return [
            DeadLetter(DeadLetterKind(kind), content_hash, error, parked_at, readable_body(body))
            for _, kind, content_hash, error, parked_at, body in rows
        ]


def _storable(error: str) -> str:
    """Replace what a text of Postgres cannot contain: NUL characters and lone surrogates."""
    return error.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()
