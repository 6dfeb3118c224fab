# SPDX-License-Identifier: Apache-2.0
"""Time at which a dataset was written last."""

from lineage.events.ids import DatasetId, JobId
from lineage.graph.adjacency import Graph
from lineage.graph.dataset_uses import Use
from lineage.graph.records import LineageRecords
from lineage.graph.run_record import RunRecord
from lineage.graph.run_state import RunState, run_outcome

MAX_RUNS = 20
"""Latest runs of a job among which one that wrote is looked for."""


def last_write(lineage: LineageRecords, graph: Graph, dataset: DatasetId, now: int) -> int | None:
    """Return the event time (ns) of the last write to a dataset at `now` (ns); None if none is known.

    A batch run has written when it completed. A streaming run writes as long as its events name the dataset, with or
    without rows: no orders at night do not make a table old. One that was stopped has written if an event after its
    START names the dataset. A run that failed, and a batch run that was stopped, have written only if they counted
    rows. The graph must be refreshed.
    """
    found = (_last_write_of(lineage, job, dataset, now) for job in graph.producers.get(dataset, ()))
    return max((time for time in found if time is not None), default=None)


def _last_write_of(lineage: LineageRecords, job: JobId, dataset: DatasetId, now: int) -> int | None:
    for run in lineage.jobs[job].latest_runs(0, MAX_RUNS):
        use = lineage.by_node(run.outputs).get(dataset)
        time = None if use is None else _written_by(lineage, run, use, now)
        if time is not None:
            return time
    return None


def _written_by(lineage: LineageRecords, run: RunRecord, use: Use, now: int) -> int | None:
    outcome = run_outcome(lineage, run, now)
    is_streaming = lineage.jobs[run.id.job].is_streaming(run)
    if outcome.state is RunState.FAILED or (outcome.state is RunState.ABORTED and not is_streaming):
        return use.last.time if _has_rows(use) else None
    if is_streaming:
        only_started = outcome.state is RunState.ABORTED and use.last in (run.first_start, run.last_start)
        return None if only_started else use.last.time
    return outcome.ended if outcome.state is RunState.COMPLETED else None


def _has_rows(use: Use) -> bool:
    statistics = use.transfer.get("outputStatistics") if use.transfer is not None else None
    rows = statistics.get("rowCount") if isinstance(statistics, dict) else None
    return isinstance(rows, int) and rows > 0
