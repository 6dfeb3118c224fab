# SPDX-License-Identifier: Apache-2.0
"""How a run stands: from its own events, and where it has no end, from what happened around it."""

from bisect import bisect_right
from enum import StrEnum
from typing import NamedTuple

from lineage.graph.record_types import JobRecord, RunRecord, latest
from lineage.graph.records import LineageRecords

DEFAULT_INTERVAL = 30.0
"""Seconds between the RUNNING events of a streaming job that does not say its own interval."""

STALE_INTERVALS = 3


class RunState(StrEnum):
    """States as Marquez names them."""

    NEW = "NEW"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    ABORTED = "ABORTED"
    FAILED = "FAILED"


_STATE_OF = {"COMPLETE": RunState.COMPLETED, "ABORT": RunState.ABORTED, "FAIL": RunState.FAILED}


class RunOutcome(NamedTuple):
    """A run's state. `ended` is in nanoseconds; `closed_because` is set where the service closed the run."""

    state: RunState
    ended: int | None = None
    closed_because: str | None = None


def run_outcome(lineage: LineageRecords, run: RunRecord) -> RunOutcome:
    """The state of a run.

    The emitter's own terminal event stands before anything the service concludes. A run without one counts as
    aborted once the same streaming job has started anew, or once the application it belongs to has ended.
    """
    own = _own_outcome(lineage, run)
    if own is not None:
        return own
    parent = nearest = lineage.parent(run)
    # Emitters have been seen to name a run its own parent; a circle of parents closes nothing.
    seen = {run.id.run}
    while parent is not None and parent.id.run not in seen:
        above = _own_outcome(lineage, parent)
        if above is not None and nearest is not None:
            return RunOutcome(RunState.ABORTED, above.ended, f"its parent {nearest.id.job.name} ended")
        seen.add(parent.id.run)
        parent = lineage.parent(parent)
    return RunOutcome(RunState.RUNNING if run.ran else RunState.NEW)


def _own_outcome(lineage: LineageRecords, run: RunRecord) -> RunOutcome | None:
    """How a run has ended by its own events or by its job's next start; None where neither has."""
    if run.terminal is not None:
        _, order, event_type = run.terminal
        return RunOutcome(_STATE_OF[event_type], order.time)
    job = lineage.jobs[run.id.job]
    if is_streaming(job, run) and (started := _next_start(job, run)) is not None:
        return RunOutcome(RunState.ABORTED, started, "the job started again")
    return None


def _next_start(job: JobRecord, run: RunRecord) -> int | None:
    """Time of the first START of another run of the job after the last START of this one."""
    place = (run.last_start or run.span.first, run.id.run)
    for at in range(bisect_right(job.starts, place), len(job.starts)):
        order, other = job.starts[at]
        if other != run.id.run:
            return order.time
    return None


def is_streaming(job: JobRecord, run: RunRecord | None) -> bool:
    """Whether a run (or the job, where `run` is None) is a streaming one by its jobType facet."""
    facet = (run.job_facets.get("jobType") if run else None) or job.facets.get("jobType") or {}
    return str(facet.get("processingType", "")).upper() == "STREAMING"


def is_stale(lineage: LineageRecords, run: RunRecord, now: int) -> bool:
    """Whether a streaming run that should be alive was silent for three of its intervals at `now` (ns)."""
    job = lineage.jobs[run.id.job]
    if not is_streaming(job, run) or run_outcome(lineage, run).ended is not None:
        return False
    facet = latest("jobType", run.job_facets, job.facets) or {}
    interval = (facet.get("emissionPattern") or {}).get("windowDuration") or DEFAULT_INTERVAL
    return now - run.span.last.time > STALE_INTERVALS * interval * 1e9
