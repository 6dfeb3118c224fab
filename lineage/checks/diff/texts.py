# SPDX-License-Identifier: Apache-2.0
"""Comparison of two large graph exports as text: only rows that can be part of a change become objects."""

from collections.abc import Iterator
from typing import Any

import msgspec

from lineage.checks.diff.compare import column_edge_ends, diff_graphs
from lineage.checks.diff.difference import Difference
from lineage.events.ids import JsonObject

_COLUMN_KINDS = ("columns", "datasetColumns")


class _Rows(msgspec.Struct):
    """An export whose rows are not parsed yet."""

    version: int
    jobs: list[msgspec.Raw]
    datasets: list[msgspec.Raw]
    edges: list[msgspec.Raw]
    flows: list[msgspec.Raw]
    columns: list[msgspec.Raw]
    datasetColumns: list[msgspec.Raw]


_decoder = msgspec.json.Decoder(_Rows)


def diff_texts(before: bytes, after: bytes) -> Difference:
    """Return the changes between two exports in canonical JSON, whose rows are sorted; see `diff_graphs`.

    Raises:
        ValueError: one is not a graph export, or has another version.
    """
    old, new = _decoded(before, "first"), _decoded(after, "second")
    found: tuple[JsonObject, JsonObject] = {"version": old.version}, {"version": new.version}
    for kind in ("jobs", "datasets", "edges", "flows", *_COLUMN_KINDS):
        was, now, equal = _compared(getattr(old, kind), getattr(new, kind))
        if kind in _COLUMN_KINDS and (was or now):
            # A change of an edge names all transformations between its ends, also those that are in both graphs.
            both = _between_same_ends([*was, *now], equal)
            was, now = was + both, now + both
        found[0][kind], found[1][kind] = was, now
    return diff_graphs(*found)


def _decoded(text: bytes, which: str) -> _Rows:
    try:
        return _decoder.decode(text)
    except msgspec.DecodeError as error:
        raise ValueError(f"the {which} graph is not a graph export; get one from /api/v1/graph: {error}") from error


def _compared(before: list[msgspec.Raw], after: list[msgspec.Raw]) -> tuple[list[Any], list[Any], list[msgspec.Raw]]:
    """Return the rows of one list only, parsed, those of the other one only, and those of both."""
    was, now, equal = [], [], []
    left, right = _items(before), _items(after)
    one, other = next(left, None), next(right, None)
    while one is not None or other is not None:
        if other is None or (one is not None and one[0] < other[0]):
            assert one is not None
            was.append(msgspec.json.decode(one[0]))
            one = next(left, None)
        elif one is None or other[0] < one[0]:
            now.append(msgspec.json.decode(other[0]))
            other = next(right, None)
        else:
            equal.append(one[1])
            one, other = next(left, None), next(right, None)
    return was, now, equal


def _items(rows: list[msgspec.Raw]) -> Iterator[tuple[bytes, msgspec.Raw]]:
    return ((bytes(row), row) for row in rows)


def _between_same_ends(changed: list[Any], equal: list[msgspec.Raw]) -> list[Any]:
    """Return the rows of both graphs that belong to an edge of which another row changed.

    All rows of both if one is broken: the comparison rejects it, and names the graph.
    """
    try:
        ends = set(map(column_edge_ends, changed))
        return [row for row in map(msgspec.json.decode, equal) if column_edge_ends(row) in ends]
    except (KeyError, TypeError, AttributeError):
        return [*map(msgspec.json.decode, equal)]
