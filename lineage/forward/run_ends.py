# SPDX-License-Identifier: Apache-2.0
"""Ends of runs: the event that ended a run, and other runs that an event ends.

`lineage.graph.run_state` derives the state of a run; this module finds the event that caused it, because a backend must
receive the end with that event and not before.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from lineage.events import Event, RunId
from lineage.events.event import Order
from lineage.graph import LineageRecords, run_outcome
from lineage.graph.job_record import JobRecord, RunRecord
from lineage.graph.run_state import is_streaming


class RunEnd(NamedTuple):
    """End of a run. `order` is that of the event that ended it: its own or, if `because` is set, another run's."""

    order: Order
    event_type: str
    because: str | None


class ClosedRun(NamedTuple):
    """Run that the service closed, and the order of the event that caused it."""

    run: RunId
    order: Order


class OpenChildren:
    """Runs with a parent and without a terminal event of their own, by the parent's UUID."""

    def __init__(self) -> None:
        self._children: dict[str, set[RunId]] = {}

    def update(self, run: RunRecord) -> None:
        """Add a run, or remove it once it has ended."""
        facet = run.facets.get("parent")
        if facet is None:
            return
        parent = facet["run"]["runId"].lower()
        if run.terminal is None:
            self._children.setdefault(parent, set()).add(run.id)
        elif siblings := self._children.get(parent):
            siblings.discard(run.id)
            if not siblings:
                del self._children[parent]

    def children_of(self, run: RunId) -> list[RunId]:
        """Return the open children of a run, sorted."""
        return sorted(self._children.get(run.run, ()))

    def discard(self, parent: RunId, child: RunId) -> None:
        """Remove a child."""
        siblings = self._children.get(parent.run, set())
        siblings.discard(child)
        if not siblings:
            self._children.pop(parent.run, None)


def end_of(lineage: LineageRecords, run: RunRecord) -> RunEnd | None:
    """Return the end of a run; None while it is open."""
    if run.terminal is not None:
        _, order, event_type = run.terminal
        return RunEnd(order, event_type, None)
    because = run_outcome(lineage, run).closed_because
    return None if because is None else RunEnd(_closing_order(lineage, run), "ABORT", because)


def closed_by(lineage: LineageRecords, event: Event, children: OpenChildren, ended: Order | None) -> list[ClosedRun]:
    """Return the runs that this event ends besides its own; parents before their children.

    `ended` is the order of the event that ended the event's own run, if that has arrived: a later event may be the
    first to name the parent of its run, or the first of a run that has already ended. Closed children are removed
    from `children`.
    """
    if event.job is None or event.run is None:
        return []
    older = _superseded_runs(lineage.jobs[event.job], event) if event.event_type == "START" else ()
    closed = [ClosedRun(run.id, event.order) for run in older if is_closed_at(lineage, ClosedRun(run.id, event.order))]
    parents = [*closed, *([ClosedRun(event.run, ended)] if ended is not None else [])]
    while parents:
        parent = parents.pop()
        for run in children.children_of(parent.run):
            child = ClosedRun(run, parent.order)
            if is_closed_at(lineage, child):
                children.discard(parent.run, run)
                closed.append(child)
                parents.append(child)
    return closed


def is_closed_at(lineage: LineageRecords, closing: ClosedRun) -> bool:
    """Return whether the service closed a run because of this event."""
    end = end_of(lineage, lineage.jobs[closing.run.job].runs[closing.run.run])
    return end is not None and end.because is not None and end.order == closing.order


def _superseded_runs(job: JobRecord, event: Event) -> Iterator[RunRecord]:
    """Yield runs that this START may close: the last one started before, and later ones without a START."""
    assert event.run is not None
    at = bisect_left(job.starts, (event.order, event.run.run)) - 1
    while at >= 0 and job.starts[at][1] == event.run.run:
        at -= 1
    since, last = job.starts[at] if at >= 0 else (Order(0, b""), "")
    if last:
        yield job.runs[last]
    place = job.history.runs.after(since, last)
    while place is not None and place.order < event.order:
        if place.run not in (event.run.run, last):
            yield job.runs[place.run]
        place = job.history.runs.after(*place)


def _closing_order(lineage: LineageRecords, run: RunRecord) -> Order:
    """Return the order of the event that ended a run without a terminal event. The run must have ended."""
    climbed: RunRecord | None = run
    while climbed is not None:
        if climbed.terminal is not None:
            return climbed.terminal[1]
        job = lineage.jobs[climbed.id.job]
        if is_streaming(job, climbed) and (started := _next_start(job, climbed)) is not None:
            return started
        climbed = lineage.parent(climbed)
    raise ValueError(f"run {run.id.run} of {run.id.job.namespace}/{run.id.job.name} has not been closed")


def _next_start(job: JobRecord, run: RunRecord) -> Order | None:
    at = bisect_right(job.starts, (run.last_start or run.span.first, run.id.run))
    while at < len(job.starts):
        order, other = job.starts[at]
        if other != run.id.run:
            return order
        at += 1
    return None
