# SPDX-License-Identifier: Apache-2.0
"""Edges that a job once had, with the time, the run and the reason of their removal."""

from typing import NamedTuple

from lineage.events.ids import DatasetId
from lineage.graph.job_record import JobRecord
from lineage.graph.run_history import Direction, Edge, RunPosition

LATER_RUN = "a later run does not name it"
LATER_SNAPSHOT = "a later complete snapshot of the run does not name it"
LATER_DECLARATION = "a later declaration of the job does not name it"


class VanishedEdge(NamedTuple):
    """Edge that the job once had.

    `since` is the time (ns) of the run or declaration that removed it, or of the last event that named it if that is
    later or a snapshot of the same run removed it. `run` is the UUID of the run that removed it.
    """

    direction: Direction
    dataset: DatasetId
    since: int
    reason: str
    run: str | None


class _Removal(NamedTuple):
    since: int
    reason: str
    run: str | None


def vanished_edges(job: JobRecord, current: dict[Direction, frozenset[DatasetId]]) -> list[VanishedEdge]:
    """Return the edges of a job that are not current, sorted."""
    known = job.ever_declared | job.history.by_edge.keys() | job.history.by_dropped_edge.keys()
    vanished = (edge for edge in known if edge[1] not in current[edge[0]])
    return sorted(_vanished_edge(job, edge) for edge in vanished)


def _vanished_edge(job: JobRecord, edge: Edge) -> VanishedEdge:
    (direction, dataset), (since, reason, run) = edge, _last_removal(job, edge)
    return VanishedEdge(direction, dataset, since, reason, run)


def _last_removal(job: JobRecord, edge: Edge) -> _Removal:
    found = [_removal_by_run(job, edge), _removal_by_snapshot(job, edge), _removal_of_declaration(job, edge)]
    return max(
        (removal for removal in found if removal is not None), key=lambda removal: (removal.since, removal.reason)
    )


def _removal_by_run(job: JobRecord, edge: Edge) -> _Removal | None:
    places = job.history.by_edge.get(edge)
    last = places.last() if places else None
    if last is None:
        return None
    removing = job.history.authoritative_after(last, job.is_streaming(None))
    assert removing is not None, "the edges of the last authoritative run and of later ones are current"
    since = max(removing.order.time, job.runs[last.run].named(edge[0])[edge[1]].last.time)
    return _Removal(since, LATER_RUN, removing.run)


def _removal_by_snapshot(job: JobRecord, edge: Edge) -> _Removal | None:
    places = job.history.by_dropped_edge.get(edge)
    last = places.last() if places else None
    if last is None:
        return None
    return _Removal(job.runs[last.run].named(edge[0])[edge[1]].last.time, LATER_SNAPSHOT, last.run)


def _removal_of_declaration(job: JobRecord, edge: Edge) -> _Removal | None:
    direction, dataset = edge
    if edge not in job.ever_declared or job.declared is None:
        return None
    if dataset not in job.declared.uses(direction):
        return _Removal(job.declared.order.time, LATER_DECLARATION, None)
    later = job.history.authoritative_after(RunPosition(job.declared.order, ""), job.is_streaming(None))
    return None if later is None else _Removal(later.order.time, LATER_RUN, later.run)
