# SPDX-License-Identifier: Apache-2.0
"""Runs of a job that must stay in memory: its next events, and the derivation of its lineage, ask for them."""

from collections.abc import Iterator

from lineage.graph.current_runs import current_runs
from lineage.graph.job_record import JobRecord
from lineage.graph.run_history import Edge, RunPosition, RunPositions


def retained_runs(job: JobRecord) -> set[str]:
    """Return the UUIDs of these runs, of all that the history of the job has in memory.

    They are the latest run, those of the current lineage, the last ones of each index, those that removed an edge, and
    the open ones that may still be live. With them every later event gives the same lineage as with all runs, if it
    does not change the past (see `RunHistory.is_extended_by`).
    """
    history = job.history
    retained = {run.id.run for run in current_runs(job).runs}
    if job.last_stated is not None:
        retained.add(job.last_stated[1])
    lasts = [history.runs, *history.authoritative.values(), *history.by_edge.values()]
    retained |= {place.run for places in lasts if (place := places.last()) is not None}
    retained |= {place.run for places in history.by_dropped_edge.values() if (place := places.last()) is not None}
    retained |= {place.run for place in _removing(job)}
    limit = job.span.last.time - job.longest_silence()
    for place in history.open.backwards():
        if place.order.time < limit:
            break
        retained.add(place.run)
    return retained


def _removing(job: JobRecord) -> Iterator[RunPosition]:
    """Yield the runs that removed the last use of an edge, whether the job is a batch or a streaming one."""
    lasts = [_last(job.history.by_edge, edge) for edge in job.history.by_edge]
    if job.declared is not None:
        lasts.append(RunPosition(job.declared.order, ""))
    for place in lasts:
        for streaming in (False, True):
            removing = job.history.authoritative_after(place, streaming) if place is not None else None
            if removing is not None:
                yield removing


def _last(index: dict[Edge, RunPositions], edge: Edge) -> RunPosition | None:
    return index[edge].last()
