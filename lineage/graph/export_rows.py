# SPDX-License-Identifier: Apache-2.0
"""Rows of a graph export, encoded and compressed as they are made: as objects they would take a hundred times the
memory.
"""

import heapq
from collections.abc import Iterator

from lineage.events.ids import JsonObject
from lineage.events.strict_json import canonical_json
from lineage.graph import zstd

EXPORT_VERSION = 1

KINDS = ("columns", "datasetColumns", "datasets", "edges", "flows", "jobDependencies", "jobs", "vanished")
"""Lists of rows of an export, sorted."""

_ROWS_PER_PART = 2_000
"""Rows that are sorted at once, which takes some milliseconds."""

_ROWS_PER_CHUNK = 100
"""Rows that are compressed together; of each part, so many are not compressed while the parts are merged."""

_LEVEL = 1
_SEPARATOR = b"\n"
"""JSON without white space does not contain it."""

_BLOCK_BYTES = 2**17
"""Bytes of text in a block: some milliseconds of merging."""


class ExportRows:
    """Rows by kind, each as canonical JSON, by which they are sorted. `blocks` can be read once."""

    def __init__(self) -> None:
        self._parts: dict[str, list[list[bytes]]] = {kind: [] for kind in KINDS}
        self._last: dict[str, list[bytes]] = {kind: [] for kind in KINDS}
        self._bytes = len(_text_around())

    def add(self, kind: str, row: JsonObject) -> None:
        """Add a row."""
        last, encoded = self._last[kind], canonical_json(row)
        # Every row but the first has a comma before it.
        self._bytes += len(encoded) + bool(last or self._parts[kind])
        last.append(encoded)
        if len(last) == _ROWS_PER_PART:
            self._parts[kind].append(_chunks(last))
            last.clear()

    @property
    def size(self) -> int:
        """Return the number of bytes of the text."""
        return self._bytes

    def blocks(self) -> Iterator[bytes]:
        """Yield the export as canonical JSON, in blocks. Each row is freed when its block was made."""
        block = bytearray(b"{")
        for kind in KINDS:
            block += b'"%b":[' % kind.encode()
            separator = b""
            for row in self._sorted(kind):
                block += separator + row
                separator = b","
                if len(block) >= _BLOCK_BYTES:
                    yield bytes(block)
                    block.clear()
            block += b"],"
        yield bytes(block + _VERSION)

    def _sorted(self, kind: str) -> Iterator[bytes]:
        parts, self._parts[kind] = self._parts[kind], []
        return heapq.merge(sorted(self._last.pop(kind)), *map(_rows, parts))


_VERSION = b'"version":%d}' % EXPORT_VERSION


def _text_around() -> bytes:
    """Return the text of an export without rows."""
    return b"{%b%b" % (b"".join(b'"%b":[],' % kind.encode() for kind in KINDS), _VERSION)


def _chunks(rows: list[bytes]) -> list[bytes]:
    """Return rows sorted, in compressed chunks, the last one first."""
    ordered = sorted(rows)
    starts = reversed(range(0, len(ordered), _ROWS_PER_CHUNK))
    return [zstd.compressed(_SEPARATOR.join(ordered[at : at + _ROWS_PER_CHUNK]), _LEVEL) for at in starts]


def _rows(chunks: list[bytes]) -> Iterator[bytes]:
    """Yield the rows of chunks, which are removed."""
    while chunks:
        yield from zstd.decompressed(chunks.pop()).split(_SEPARATOR)
