# SPDX-License-Identifier: Apache-2.0
"""Parts of encoded columns: a message comes in a wrapping, whose header says how the rest is to be read.

Where a column is decoded, its columns are those of the message. What the wrapping decides, that there is a message
at all or which schema wrote it, is decided by none of them: it is part of decoding, as the decoder is.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from lineagelab_spark.model import Column, Edge, Origin


def part_of(column: Column, start: int, end: int) -> Column | None:
    """The bytes from `start` to before `end` of a source's own column; None of anything else."""
    if not column.is_source:
        return None
    (edge,) = column.edges
    if edge.origin.path or edge.origin.part:
        return None
    return Column(frozenset({replace(edge, origin=replace(edge.origin, part=(start, end)))}))


def start_of(encoded: Origin) -> int:
    """The first byte of what is decoded, counted from 1."""
    return encoded.part[0] if encoded.part else 1


def is_encoded(edge: Edge, encoded: Origin) -> bool:
    """Whether an edge of a value is the bytes that are decoded, or their own header deciding about them."""
    if edge.subtype.is_direct:
        return edge.origin == encoded
    return edge.origin.whole == encoded.whole and _is_before(edge.origin, start_of(encoded))


def of_columns(edges: Iterable[Edge], starts: Mapping[tuple[int, str], int]) -> Iterator[Edge]:
    """The edges of whole columns, without those of wrappings.

    Args:
        starts: (leaf, column) of each column that is decoded -> the first byte that is.
    """
    for edge in edges:
        start = starts.get((edge.origin.leaf, edge.origin.column), 0)
        if edge.subtype.is_direct or not _is_before(edge.origin, start):
            yield edge.whole


def _is_before(origin: Origin, start: int) -> bool:
    return bool(origin.part) and origin.part[1] <= start
