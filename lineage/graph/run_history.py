# SPDX-License-Identifier: Apache-2.0
"""The order of a job's runs, kept as events arrive: no reader has to sort a history that only grows."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from lineage.events.event import Order
from lineage.events.ids import DatasetId


class Direction(StrEnum):
    """How a job uses a dataset."""

    INPUT = "input"
    OUTPUT = "output"


class RunPosition(NamedTuple):
    """A run's place among the runs of its job: its beginning, then its UUID."""

    order: Order
    run: str


class RunPositions:
    """A sorted set of places."""

    __slots__ = ("_sorted",)

    def __init__(self) -> None:
        self._sorted: list[RunPosition] = []

    def __len__(self) -> int:
        return len(self._sorted)

    def add(self, place: RunPosition) -> None:
        """Put a place in; a second time it changes nothing."""
        at = bisect_left(self._sorted, place)
        if at == len(self._sorted) or self._sorted[at] != place:
            self._sorted.insert(at, place)

    def discard(self, place: RunPosition) -> None:
        """Take a place out if it is in."""
        at = bisect_left(self._sorted, place)
        if at < len(self._sorted) and self._sorted[at] == place:
            del self._sorted[at]

    def last(self) -> RunPosition | None:
        """The last place of all."""
        return self._sorted[-1] if self._sorted else None

    def after(self, order: Order, run: str = "") -> RunPosition | None:
        """The first place behind the given one, which need not be in the set."""
        at = bisect_right(self._sorted, RunPosition(order, run))
        return self._sorted[at] if at < len(self._sorted) else None

    def latest_first(self, offset: int, limit: int) -> list[RunPosition]:
        """One page of all places, the last of them first."""
        end = max(0, len(self._sorted) - offset)
        return self._sorted[max(0, end - limit) : end][::-1]


Edge = tuple[Direction, DatasetId]


@dataclass(slots=True)
class RunHistory:
    """Places of a job's runs: of all, of those that name any dataset, by direction, and by edge."""

    runs: RunPositions = field(default_factory=RunPositions)
    with_edges: RunPositions = field(default_factory=RunPositions)
    by_direction: dict[Direction, RunPositions] = field(default_factory=dict)
    by_edge: dict[Edge, RunPositions] = field(default_factory=dict)

    def add(self, place: RunPosition, edges: Iterable[Edge]) -> None:
        """Note a run that names `edges`, or more edges of a run that is known."""
        self.runs.add(place)
        for edge in edges:
            self.with_edges.add(place)
            self.by_direction.setdefault(edge[0], RunPositions()).add(place)
            self.by_edge.setdefault(edge, RunPositions()).add(place)

    def discard(self, place: RunPosition, edges: Iterable[Edge]) -> None:
        """Forget a run at this place; `edges` are at least those that it has been added with."""
        self.runs.discard(place)
        self.with_edges.discard(place)
        for edge in edges:
            for places in (self.by_direction.get(edge[0]), self.by_edge.get(edge)):
                if places is not None:
                    places.discard(place)
