# SPDX-License-Identifier: Apache-2.0
"""How a run ended, by which event, and which runs an event ends besides its own.

`lineage.graph.run_state` says how a run stands; here it matters which event made it so, because a consumer has to
learn of it at that event and not before.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from lineage.events import Event, RunId
from lineage.events.event import Order
from lineage.graph import LineageRecords, run_outcome
from lineage.graph.record_types import JobRecord, RunRecord
from lineage.graph.run_state import is_streaming


class End(NamedTuple):
    """The end of a run. `order` is that of the event which ended it: its own, or (`because` set) another's."""

    order: Order
    event_type: str
    because: str | None


class Closing(NamedTuple):
    """A run that the service closed, and the order of the event because of which it did."""

    run: RunId
    order: Order


class OpenChildren:
    """Runs with a parent and without a terminal event of their own, by the parent's UUID."""

    def __init__(self) -> None:
        self._children: dict[str, set[RunId]] = {}

    def note(self, run: RunRecord) -> None:
        """Take a run in, or out once it has its end."""
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

    def of(self, run: RunId) -> list[RunId]:
        """The open children of a run, sorted."""
        return sorted(self._children.get(run.run, ()))

    def discard(self, parent: RunId, child: RunId) -> None:
        """Forget a child of which nothing more is to be said."""
        siblings = self._children.get(parent.run, set())
        siblings.discard(child)
        if not siblings:
            self._children.pop(parent.run, None)


def end_of(lineage: LineageRecords, run: RunRecord) -> End | None:
    """The end of a run; None while it is open."""
    if run.terminal is not None:
        _, order, event_type = run.terminal
        return End(order, event_type, None)
    because = run_outcome(lineage, run).closed_because
    return None if because is None else End(_closer(lineage, run), "ABORT", because)


def closed_by(lineage: LineageRecords, event: Event, children: OpenChildren, ended: Order | None) -> list[Closing]:
    """The runs that the service takes to have ended when it learns of this event; parents before their children.

    `ended` is what ended the event's own run, if that has arrived. An event may come behind it and be the first to
    say whose child its run is, or bring up a run that ended before it was heard of. Children are taken out of
    `children`.
    """
    if event.job is None or event.run is None:
        return []
    older = _older(lineage.jobs[event.job], event) if event.event_type == "START" else ()
    closed = [Closing(run.id, event.order) for run in older if is_closed_at(lineage, Closing(run.id, event.order))]
    parents = [*closed, *([Closing(event.run, ended)] if ended is not None else [])]
    while parents:
        parent = parents.pop()
        for run in children.of(parent.run):
            child = Closing(run, parent.order)
            if is_closed_at(lineage, child):
                children.discard(parent.run, run)
                closed.append(child)
                parents.append(child)
    return closed


def is_closed_at(lineage: LineageRecords, closing: Closing) -> bool:
    """Whether the service closed a run, and because of this event."""
    end = end_of(lineage, lineage.jobs[closing.run.job].runs[closing.run.run])
    return end is not None and end.because is not None and end.order == closing.order


def _older(job: JobRecord, event: Event) -> Iterator[RunRecord]:
    """Runs that this START may close: the last that started before, and those that came up since without one."""
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


def _closer(lineage: LineageRecords, run: RunRecord) -> Order:
    """The event because of which a run without a terminal event counts as ended; the caller knows that it does."""
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
