# SPDX-License-Identifier: Apache-2.0
"""Runs of a job in order, maintained incrementally."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
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

    def before(self, order: Order) -> RunPosition | None:
        """Return the last position before a point in the total order."""
        at = bisect_left(self._sorted, RunPosition(order, ""))
        return self._sorted[at - 1] if at else None

    def backwards(self) -> Iterator[RunPosition]:
        """Yield all positions, latest first."""
        return reversed(self._sorted)


Edge = tuple[Direction, DatasetId]


class Authority(StrEnum):
    """Condition under which a run is authoritative: the only kind of run that removes edges of its job.

    A run of a batch job is once it is COMPLETE, one of a streaming job once it has said RUNNING with its datasets, or
    a complete snapshot. The type of a run that does not state its own is that of its job, which may change.
    """

    ALWAYS = "always"
    IN_BATCH_JOB = "batch"
    IN_STREAMING_JOB = "streaming"


@dataclass(slots=True)
class RunEntry:
    """What the history knows of one run. `spoke` is its last event if the run is open and possibly streaming."""

    place: RunPosition
    edges: frozenset[Edge] = frozenset()
    dropped: frozenset[Edge] = frozenset()
    authority: tuple[Authority, ...] = ()
    spoke: RunPosition | None = None

    def states_all_of(self, other: "RunEntry") -> bool:
        """Return whether the entry has all edges and all authority of another one, and has dropped the same edges."""
        return (
            other.edges <= self.edges
            and other.dropped == self.dropped
            and set(other.authority).issubset(self.authority)
        )


@dataclass(slots=True)
class RunHistory:
    """Positions of a job's runs: all, and by what the derivation of its lineage asks for.

    `by_edge` are the runs that have an edge, `by_dropped_edge` those whose later snapshot left it out, `by_direction`
    those with any edge of a direction. `authoritative` is by condition. `open` are the open runs that may be streaming,
    at the positions of their last events.
    """

    runs: RunPositions = field(default_factory=RunPositions)
    by_direction: dict[Direction, RunPositions] = field(default_factory=dict)
    by_edge: dict[Edge, RunPositions] = field(default_factory=dict)
    by_dropped_edge: dict[Edge, RunPositions] = field(default_factory=dict)
    authoritative: dict[Authority, RunPositions] = field(default_factory=dict)
    open: RunPositions = field(default_factory=RunPositions)

    def replace(self, before: RunEntry | None, after: RunEntry) -> None:
        """Enter a run, or replace its entry; costs only what differs."""
        if before is None or before.place != after.place:
            if before is not None:
                self.discard(before)
            self.runs.add(after.place)
            before = RunEntry(after.place)
        self._replace_edges(after.place, before, after)
        for authority in before.authority:
            if authority not in after.authority:
                self.authoritative[authority].discard(after.place)
        for authority in after.authority:
            if authority not in before.authority:
                self.authoritative.setdefault(authority, RunPositions()).add(after.place)
        if before.spoke != after.spoke:
            if before.spoke is not None:
                self.open.discard(before.spoke)
            if after.spoke is not None:
                self.open.add(after.spoke)

    def last_authoritative(self, streaming: bool) -> RunPosition | None:
        """Return the position of the last authoritative run of a job that is streaming, or not."""
        found = [runs.last() for runs in self._authoritative_runs(streaming)]
        return max((place for place in found if place is not None), default=None)

    def authoritative_after(self, place: RunPosition, streaming: bool) -> RunPosition | None:
        """Return the first authoritative run after a position."""
        found = [runs.after(*place) for runs in self._authoritative_runs(streaming)]
        return min((place for place in found if place is not None), default=None)

    def _authoritative_runs(self, streaming: bool) -> Iterator[RunPositions]:
        for authority in (Authority.ALWAYS, Authority.IN_STREAMING_JOB if streaming else Authority.IN_BATCH_JOB):
            if (runs := self.authoritative.get(authority)) is not None:
                yield runs

    def discard(self, entry: RunEntry) -> None:
        """Remove a run from everything."""
        self.replace(entry, RunEntry(entry.place))
        self.runs.discard(entry.place)

    def is_extended_by(self, before: RunEntry | None, after: RunEntry) -> bool:
        """Return whether a change of a run only adds to the end of the history, which may lack older runs.

        Otherwise what the change uncovers may be a run that is not in memory.
        """
        last, place = self.runs.last(), after.place
        if before is None:
            if last is not None and place < last:
                return False
            before = RunEntry(place)
        if before.place != place or not after.states_all_of(before):
            return False
        authority = [found for runs in self.authoritative.values() if (found := runs.last()) is not None]
        if all(place >= found for found in authority):
            return True
        return all(self._has_later(edge, place) for edge in after.edges - before.edges)

    def _has_later(self, edge: Edge, place: RunPosition) -> bool:
        places = self.by_edge.get(edge)
        last = places.last() if places else None
        return last is not None and last > place

    def _replace_edges(self, place: RunPosition, before: RunEntry, after: RunEntry) -> None:
        for index, old, new in (
            (self.by_edge, before.edges, after.edges),
            (self.by_dropped_edge, before.dropped, after.dropped),
        ):
            if old is new:
                continue
            for edge in old - new:
                index[edge].discard(place)
            for edge in new - old:
                index.setdefault(edge, RunPositions()).add(place)
        if before.edges is not after.edges:
            directions = {direction for direction, _ in after.edges}
            for direction in {direction for direction, _ in before.edges} - directions:
                self.by_direction[direction].discard(place)
            for direction in directions:
                self.by_direction.setdefault(direction, RunPositions()).add(place)
