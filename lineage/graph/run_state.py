# SPDX-License-Identifier: Apache-2.0
"""State of a run, derived from its own events, or from its parent and successors if it has no end."""

from enum import StrEnum
from typing import NamedTuple

from lineage.events.event import Order
from lineage.graph.job_record import JobRecord
from lineage.graph.records import LineageRecords
from lineage.graph.run_record import RunRecord

SETTLED = None
"""Time at which every run without a sign of life since the cause of an inferred end has been silent long enough.

It makes states a function of the set of events alone, for exports and comparisons.
"""


class RunState(StrEnum):
    """States as Marquez names them."""

    NEW = "NEW"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    ABORTED = "ABORTED"
    FAILED = "FAILED"


_STATE_OF = {"COMPLETE": RunState.COMPLETED, "ABORT": RunState.ABORTED, "FAIL": RunState.FAILED}


class RunOutcome(NamedTuple):
    """State of a run. `ended` is in nanoseconds; `closed_because` is set if the end is inferred."""

    state: RunState
    ended: int | None = None
    closed_because: str | None = None


class InferredEnd(NamedTuple):
    """Inferred end of an open run: its time (ns), the reason, and the order of the event that is the cause."""

    time: int
    reason: str
    cause: Order


def run_outcome(lineage: LineageRecords, run: RunRecord, now: int | None) -> RunOutcome:
    """Return the state of a run at `now` (ns), or `SETTLED`.

    The emitter's terminal event takes precedence over any conclusion. A run without one counts as aborted if its end
    is inferred.
    """
    if run.terminal is not None:
        _, order, event_type = run.terminal
        return RunOutcome(_STATE_OF[event_type], order.time)
    inferred = inferred_end(lineage, run, now)
    if inferred is not None:
        return RunOutcome(RunState.ABORTED, inferred.time, inferred.reason)
    return RunOutcome(RunState.RUNNING if run.ran else RunState.NEW)


def inferred_end(lineage: LineageRecords, run: RunRecord, now: int | None) -> InferredEnd | None:
    """Return the inferred end of a run without a terminal event at `now` (ns), or `SETTLED`; None if it is open.

    The run has ended if its application has, or a newer run of the same streaming job has started, and it has been
    silent since for three of its intervals. With its next event it is open again.
    """
    own = _end_by_next_start(lineage, run, now)
    if own is not None:
        return own
    parent = nearest = lineage.parent(run)
    # Some emitters name a run as its own parent; a cycle of parents closes nothing.
    seen = {run.id.run}
    while parent is not None and nearest is not None and parent.id.run not in seen:
        cause = parent.terminal[1] if parent.terminal else None
        if cause is None and (above := _end_by_next_start(lineage, parent, now)) is not None:
            cause = above.cause
        if cause is not None:
            return _end_if_silent(lineage, run, cause, f"its parent {nearest.id.job.name} ended", now)
        seen.add(parent.id.run)
        parent = lineage.parent(parent)
    return _end_by_root(lineage, run, now)


def _end_by_root(lineage: LineageRecords, run: RunRecord, now: int | None) -> InferredEnd | None:
    """Return the end by the application that the parent facet names as root, also if runs in between are unknown."""
    root = lineage.root(run)
    if root is None or root.terminal is None:
        return None
    return _end_if_silent(lineage, run, root.terminal[1], f"its application {root.id.job.name} ended", now)


def _end_by_next_start(lineage: LineageRecords, run: RunRecord, now: int | None) -> InferredEnd | None:
    job = lineage.jobs[run.id.job]
    started = _next_start(job, run) if job.is_streaming(run) else None
    return None if started is None else _end_if_silent(lineage, run, started, "the job started again", now)


def _end_if_silent(
    lineage: LineageRecords, run: RunRecord, cause: Order, reason: str, now: int | None
) -> InferredEnd | None:
    since = max(cause.time, run.span.last.time)
    limit = lineage.jobs[run.id.job].silence_limit(run)
    silent = run.span.last <= cause if now is SETTLED else now - since > limit
    return InferredEnd(since, reason, cause) if silent else None


def _next_start(job: JobRecord, run: RunRecord) -> Order | None:
    """Return the first START of another run of the job after the last START of this one."""
    return job.first_start_after(run.last_start or run.span.first, run.id.run)


def is_stale(lineage: LineageRecords, run: RunRecord, now: int) -> bool:
    """Return whether an open streaming run has sent no event for three of its intervals at `now` (ns)."""
    job = lineage.jobs[run.id.job]
    if not job.is_streaming(run) or run_outcome(lineage, run, now).ended is not None:
        return False
    return now - run.span.last.time > job.silence_limit(run)
