# SPDX-License-Identifier: Apache-2.0
"""Byte ranges of encoded columns: framed messages have a header that selects the decoder of the payload.

A decoded column is replaced by the fields of its message. Conditions on the header alone (is there a message, which
schema id) belong to decoding and are not edges of those fields.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from lineagelab_spark.model import Column, Edge, Origin


def byte_range(column: Column, start: int, end: int) -> Column | None:
    """Return bytes [`start`, `end`), 1-based, of an unmodified source column; None for any other column."""
    if not column.is_source:
        return None
    (edge,) = column.edges
    if edge.origin.path or edge.origin.byte_range:
        return None
    return Column(frozenset({replace(edge, origin=replace(edge.origin, byte_range=(start, end)))}))


def first_byte(encoded: Origin) -> int:
    """Return the 1-based position of the first decoded byte."""
    return encoded.byte_range[0] if encoded.byte_range else 1


def is_encoded(edge: Edge, encoded: Origin) -> bool:
    """Return True if an edge is from the decoded bytes, or an INDIRECT one from their header."""
    if edge.subtype.is_direct:
        return edge.origin == encoded
    return edge.origin.without_byte_range == encoded.without_byte_range and _is_before(edge.origin, first_byte(encoded))


def widen_to_columns(edges: Iterable[Edge], starts: Mapping[tuple[int, str], int]) -> Iterator[Edge]:
    """Widen byte ranges to their columns, and drop INDIRECT edges from headers.

    Args:
        starts: position of the first decoded byte, by (leaf, column).
    """
    for edge in edges:
        start = starts.get((edge.origin.leaf, edge.origin.column), 0)
        if edge.subtype.is_direct or not _is_before(edge.origin, start):
            yield edge.without_byte_range


def _is_before(origin: Origin, start: int) -> bool:
    return bool(origin.byte_range) and origin.byte_range[1] <= start
