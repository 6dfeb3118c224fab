# SPDX-License-Identifier: Apache-2.0
"""Encoded summaries of all jobs and datasets, kept until their records change.

Encoding one takes as long as sending hundreds, above all if its record is not in memory.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from lineage.events.ids import DatasetId, JobId, JsonObject
from lineage.events.strict_json import canonical_json
from lineage.graph.adjacency import Graph
from lineage.graph.job_record import JobRecord
from lineage.graph.records import LineageRecords
from lineage.graph.records_by_name import READS_PER_PART
from lineage.graph.run_record import RunRecord
from lineage.graph.run_state import is_stale
from lineage.graph.summaries import dataset_summary, job_description, run_summary

_Id = TypeVar("_Id")

_ROWS_PER_STEP = 4 * READS_PER_PART
"""Rows encoded in one step: some milliseconds if their records are in memory."""


class _JobRow(NamedTuple):
    """Members of a summary: of the job, and of its run unless they depend on other records or on the time.

    A run that is open is stale after `stale_after` (ns); for any other run that is None.
    """

    description: bytes
    run: bytes | None
    stale_after: float | None


class SummaryRows:
    """Summaries without edges. Run `steps` before reading to update them.

    Not thread-safe: one thread owns the graph, its records and these rows.
    """

    def __init__(self, lineage: LineageRecords) -> None:
        self.lineage = lineage
        self._changes = lineage.follow()
        self._changes.jobs.update(lineage.jobs)
        self._changes.datasets.update(lineage.datasets)
        self._jobs: dict[JobId, _JobRow] = {}
        self.datasets: dict[DatasetId, bytes] = {}
        """Members of the summary of each dataset that is not deleted, without `masked`."""

    def steps(self, graph: Graph) -> Iterator[None]:
        """Encode the summaries that have changed; yields after each slice, in which others may run steps too.

        What changes meanwhile is encoded with the last slice. A job whose lineage is not derived again yet keeps its
        former row until the next call.
        """
        changes, lineage = self._changes, self.lineage
        datasets = _Waiting(changes.datasets, lineage.datasets.in_memory, self._update_dataset)
        jobs = _Waiting(changes.jobs, lineage.jobs.in_memory, lambda job: self._update_job(job, graph))
        yield from datasets.steps(list(changes.datasets))
        yield from jobs.steps(changes.jobs - lineage.touched)
        for _ in datasets.steps(list(changes.datasets)):
            pass
        for _ in jobs.steps(changes.jobs - lineage.touched):
            pass

    def job(self, job: JobId, graph: Graph, now: int) -> bytes | None:
        """Return the members of the summary of a job at `now` (ns), without its edges; None if it has no row yet."""
        row = self._jobs.get(job)
        if row is None:
            return None
        if row.run is not None:
            members, stale = row.run, row.stale_after is not None and now > row.stale_after
        else:
            run = graph.latest_run(job)
            members = _members(run_summary(self.lineage, run, now))
            stale = run is not None and is_stale(self.lineage, run, now)
        return b'%b,%b,"stale":%b' % (row.description, members, b"true" if stale else b"false")

    def _update_dataset(self, name: DatasetId) -> None:
        record = self.lineage.datasets.get(name)
        if record is None or self.lineage.catalog.is_deleted_dataset(record):
            self.datasets.pop(name, None)
        else:
            self.datasets[name] = _members(dataset_summary(self.lineage, record))

    def _update_job(self, job: JobId, graph: Graph) -> None:
        if job not in graph.job_lineages:
            self._jobs.pop(job, None)
            return
        record, run = self.lineage.jobs[job], graph.latest_run(job)
        fixed, stale_after = self._fixed_run(record, run)
        self._jobs[job] = _JobRow(_members(job_description(self.lineage, record, run)), fixed, stale_after)

    def _fixed_run(self, record: JobRecord, run: RunRecord | None) -> tuple[bytes | None, float | None]:
        """Return the members of a run and when it is stale, if only events of its job change them."""
        now = 0
        if run is None or run.terminal is not None:
            return _members(run_summary(self.lineage, run, now)), None
        restarted = record.first_start_after(run.last_start or run.span.first, run.id.run)
        if restarted is not None or run.facets.get("parent") is not None:
            return None, None
        stale_after = run.span.last.time + record.silence_limit(run) if record.is_streaming(run) else None
        return _members(run_summary(self.lineage, run, now)), stale_after


@dataclass(frozen=True, slots=True)
class _Waiting(Generic[_Id]):
    """Names whose rows must be encoded, all requests together; `update` encodes one."""

    names: set[_Id]
    in_memory: Callable[[_Id], object]
    update: Callable[[_Id], None]

    def steps(self, names: Iterable[_Id]) -> Iterator[None]:
        """Update names, but for those that another request has updated meanwhile; yields after each slice."""
        rows = reads = 0
        for name in names:
            if name not in self.names:
                continue
            rows, reads = rows + 1, reads + (self.in_memory(name) is None)
            self.update(name)
            self.names.discard(name)
            if rows >= _ROWS_PER_STEP or reads >= READS_PER_PART:
                yield
                rows = reads = 0


def _members(summary: JsonObject) -> bytes:
    """Return a JSON object without its braces."""
    return canonical_json(summary)[1:-1]
