# SPDX-License-Identifier: Apache-2.0
"""Runs of a job in order, maintained incrementally."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from lineage.events.event import Order
from lineage.events.ids import DatasetId


class Direction(StrEnum):
    """Direction in which a job uses a dataset."""

    INPUT = "input"
    OUTPUT = "output"


class RunPosition(NamedTuple):
    """Position of a run among the runs of its job: its start, then its UUID."""

    order: Order
    run: str


class RunPositions:
    """Sorted set of run positions."""

    __slots__ = ("_sorted",)

    def __init__(self) -> None:
        self._sorted: list[RunPosition] = []

    def __len__(self) -> int:
        return len(self._sorted)

    def add(self, place: RunPosition) -> None:
        """Add a position; idempotent."""
        at = bisect_left(self._sorted, place)
        if at == len(self._sorted) or self._sorted[at] != place:
            self._sorted.insert(at, place)

    def discard(self, place: RunPosition) -> None:
        """Remove a position if present."""
        at = bisect_left(self._sorted, place)
        if at < len(self._sorted) and self._sorted[at] == place:
            del self._sorted[at]

    def last(self) -> RunPosition | None:
        """Return the last position, or None."""
        return self._sorted[-1] if self._sorted else None

    def after(self, order: Order, run: str = "") -> RunPosition | None:
        """Return the first position after the given one, which need not be in the set."""
        at = bisect_right(self._sorted, RunPosition(order, run))
        return self._sorted[at] if at < len(self._sorted) else None

    def latest_first(self, offset: int, limit: int) -> list[RunPosition]:
        """Return one page of positions, latest first."""
        end = max(0, len(self._sorted) - offset)
        return self._sorted[max(0, end - limit) : end][::-1]


Edge = tuple[Direction, DatasetId]


@dataclass(slots=True)
class RunHistory:
    """Positions of a job's runs: all, those with datasets, by direction, and by edge."""

    runs: RunPositions = field(default_factory=RunPositions)
    with_edges: RunPositions = field(default_factory=RunPositions)
    by_direction: dict[Direction, RunPositions] = field(default_factory=dict)
    by_edge: dict[Edge, RunPositions] = field(default_factory=dict)

    def add(self, place: RunPosition, edges: Iterable[Edge]) -> None:
        """Add a run that names `edges`, or more edges of a known run."""
        self.runs.add(place)
        for edge in edges:
            self.with_edges.add(place)
            self.by_direction.setdefault(edge[0], RunPositions()).add(place)
            self.by_edge.setdefault(edge, RunPositions()).add(place)

    def discard(self, place: RunPosition, edges: Iterable[Edge]) -> None:
        """Remove a run at this position; `edges` must include all that it was added with."""
        self.runs.discard(place)
        self.with_edges.discard(place)
        for edge in edges:
            for places in (self.by_direction.get(edge[0]), self.by_edge.get(edge)):
                if places is not None:
                    places.discard(place)
