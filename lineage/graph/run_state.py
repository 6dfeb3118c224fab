# SPDX-License-Identifier: Apache-2.0
"""State of a run, derived from its own events, or from its parent and successors if it has no end."""

from bisect import bisect_right
from enum import StrEnum
from typing import NamedTuple

from lineage.graph.job_record import JobRecord, RunRecord
from lineage.graph.mergeable import latest
from lineage.graph.records import LineageRecords

DEFAULT_INTERVAL = 30.0
"""Default interval in seconds between RUNNING events of a streaming job."""

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
    """State of a run. `ended` is in nanoseconds; `closed_because` is set if the service closed the run."""

    state: RunState
    ended: int | None = None
    closed_because: str | None = None


def run_outcome(lineage: LineageRecords, run: RunRecord) -> RunOutcome:
    """Return the state of a run.

    The emitter's terminal event takes precedence over any conclusion. A run without one counts as
    aborted once the same streaming job has started again, or once its parent application has ended.
    """
    own = _own_outcome(lineage, run)
    if own is not None:
        return own
    parent = nearest = lineage.parent(run)
    # Some emitters name a run as its own parent; a cycle of parents closes nothing.
    seen = {run.id.run}
    while parent is not None and parent.id.run not in seen:
        above = _own_outcome(lineage, parent)
        if above is not None and nearest is not None:
            return RunOutcome(RunState.ABORTED, above.ended, f"its parent {nearest.id.job.name} ended")
        seen.add(parent.id.run)
        parent = lineage.parent(parent)
    return RunOutcome(RunState.RUNNING if run.ran else RunState.NEW)


def _own_outcome(lineage: LineageRecords, run: RunRecord) -> RunOutcome | None:
    """Return the outcome from the run's own events or its job's next start; None if it is open."""
    if run.terminal is not None:
        _, order, event_type = run.terminal
        return RunOutcome(_STATE_OF[event_type], order.time)
    job = lineage.jobs[run.id.job]
    if is_streaming(job, run) and (started := _next_start(job, run)) is not None:
        return RunOutcome(RunState.ABORTED, started, "the job started again")
    return None


def _next_start(job: JobRecord, run: RunRecord) -> int | None:
    """Return the time of the first START of another run of the job after the last START of this one."""
    place = (run.last_start or run.span.first, run.id.run)
    for at in range(bisect_right(job.starts, place), len(job.starts)):
        order, other = job.starts[at]
        if other != run.id.run:
            return order.time
    return None


def is_streaming(job: JobRecord, run: RunRecord | None) -> bool:
    """Return whether a run (or the job, if `run` is None) is a streaming one by its jobType facet."""
    facet = (run.job_facets.get("jobType") if run else None) or job.facets.get("jobType") or {}
    return str(facet.get("processingType", "")).upper() == "STREAMING"


def is_stale(lineage: LineageRecords, run: RunRecord, now: int) -> bool:
    """Return whether an open streaming run has sent no event for three of its intervals at `now` (ns)."""
    job = lineage.jobs[run.id.job]
    if not is_streaming(job, run) or run_outcome(lineage, run).ended is not None:
        return False
    facet = latest("jobType", run.job_facets, job.facets) or {}
    interval = (facet.get("emissionPattern") or {}).get("windowDuration") or DEFAULT_INTERVAL
    return now - run.span.last.time > STALE_INTERVALS * interval * 1e9
