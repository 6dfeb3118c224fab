# SPDX-License-Identifier: Apache-2.0
"""Parts of past states: rows of the checkpoint with neighbouring keys, compressed together.

Most rows of one past state equal those of the one before. So the parts of a few past states after another, their
anchor, have its keys and are compressed against its parts: they take half of the space.
"""

import logging
import sqlite3
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import zstandard

from lineage.graph import zstd
from lineage.store.state_records import decompressed_content

logger = logging.getLogger(__name__)

SCHEMA = """
CREATE TABLE past_parts (
    position INTEGER NOT NULL,   -- of the past state
    part INTEGER NOT NULL,       -- ascending by key, lineages last
    is_lineages INTEGER NOT NULL,
    kind TEXT NOT NULL,          -- of the first row; of lineages its namespace
    key TEXT NOT NULL,           -- of the first row; of lineages its name
    base INTEGER,                -- part of the anchor that it is compressed against
    body BLOB NOT NULL,          -- zstd of MessagePack: rows of `records`, or of `lineages`
    PRIMARY KEY (position, part)
) STRICT, WITHOUT ROWID;
"""

ROWS_PER_PART = 128
"""Rows that are compressed together, which takes a fifth of the space of single ones.

Four times as many take 7 % less, and one row costs reading all of its part. Parts with a base have up to twice as many.
"""

_LEVEL = 2
"""The fastest one that finds again what an anchor's part of 300 kB has: level 1 would take twice the space."""

_TABLES = (
    "SELECT kind, key, body FROM records ORDER BY kind, key",
    "SELECT namespace, name, body FROM lineages ORDER BY namespace, name",
)
_FIRSTS = "SELECT kind, key FROM past_parts WHERE position = ? AND is_lineages = ? ORDER BY part"
_BODIES = """
SELECT part.is_lineages, part.body, base.body FROM past_parts AS part
JOIN past_states AS state ON state.position = part.position
LEFT JOIN past_parts AS base ON base.position = state.anchor AND base.part = part.base
WHERE part.position = ?
"""

PartRow = tuple[str, str, bytes]
"""Kind, key and content of a record; or namespace, name and lineage of a job."""

_rows_decoder = msgspec.msgpack.Decoder(list[PartRow])


class Part(NamedTuple):
    """Rows of `records`, their content decompressed, or of `lineages`."""

    is_lineages: bool
    rows: list[PartRow]


def store_parts(connection: sqlite3.Connection, position: int, anchor: int) -> None:
    """Store the records and lineages of now as parts of a past state; an anchor has its own position as `anchor`.

    Raises:
        ValueError: a record is damaged.
    """
    number = first = 0
    for is_lineages, table in enumerate(_TABLES):
        firsts = connection.execute(_FIRSTS, (anchor, is_lineages)).fetchall() if anchor != position else []
        for base, rows in _grouped(connection.execute(table), firsts):
            content = rows if is_lineages else [(kind, key, decompressed_content(body)) for kind, key, body in rows]
            against = None if base is None else first + base
            dictionary = None if against is None else _stored_dictionary(connection, anchor, against)
            body = zstandard.ZstdCompressor(level=_LEVEL, dict_data=dictionary).compress(
                msgspec.msgpack.encode(content)
            )
            row = (position, number, is_lineages, *rows[0][:2], against if dictionary else None, body)
            connection.execute("INSERT INTO past_parts VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            number += 1
        first += len(firsts)


def read_parts(connection: sqlite3.Connection, position: int) -> Iterator[Part]:
    """Yield the parts of a past state.

    Raises:
        ValueError: it is damaged.
    """
    numbers = connection.execute("SELECT part FROM past_parts WHERE position = ? ORDER BY part", (position,)).fetchall()
    for (number,) in numbers:
        yield read_part(connection, position, number)


def read_part(connection: sqlite3.Connection, position: int, number: int) -> Part:
    """Return one part of a past state.

    Raises:
        ValueError: it is damaged.
    """
    is_lineages, body, base = connection.execute(f"{_BODIES} AND part.part = ?", (position, number)).fetchone()
    try:
        return Part(bool(is_lineages), _rows_decoder.decode(_decompressed(body, base)))
    except (zstandard.ZstdError, msgspec.DecodeError) as error:
        raise ValueError(f"a past state is damaged: {error}") from error


def _grouped(rows: sqlite3.Cursor, firsts: list[tuple[str, str]]) -> Iterator[tuple[int | None, list[PartRow]]]:
    """Yield rows in parts, each with the index of the first key among those of the anchor's parts that it belongs to.

    No part goes beyond the next of these keys, so that it has the rows of one part of the anchor.
    """
    limit = 2 * ROWS_PER_PART if firsts else ROWS_PER_PART
    base: int | None = None
    part: list[PartRow] = []
    for row in rows:
        belongs_to = max(0, bisect_right(firsts, row[:2]) - 1) if firsts else None
        if part and (len(part) == limit or belongs_to != base):
            yield base, part
            part = []
        base = belongs_to
        part.append(row)
    if part:
        yield base, part


def _stored_dictionary(connection: sqlite3.Connection, anchor: int, part: int) -> zstandard.ZstdCompressionDict | None:
    """Return what parts are compressed against; None if it is damaged, which other past states need not be."""
    query = "SELECT body FROM past_parts WHERE position = ? AND part = ?"
    (body,) = connection.execute(query, (anchor, part)).fetchone()
    try:
        return _dictionary(body)
    except zstandard.ZstdError:
        logger.warning("part %s of the past state at event %s is damaged", part, anchor, exc_info=True)
        return None


def _decompressed(body: bytes, base: bytes | None) -> bytes:
    if base is None:
        return zstd.decompressed(body)
    return zstandard.ZstdDecompressor(dict_data=_dictionary(base)).decompress(body)


def _dictionary(base: bytes) -> zstandard.ZstdCompressionDict:
    return zstandard.ZstdCompressionDict(zstd.decompressed(base), dict_type=zstandard.DICT_TYPE_RAWCONTENT)
