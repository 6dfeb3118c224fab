# SPDX-License-Identifier: Apache-2.0
"""Graph over all jobs, updated incrementally."""

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

from lineage.events.ids import DatasetId, JobId
from lineage.graph.column_edges import ColumnEdge, ColumnEdges, UnpackedEdges
from lineage.graph.job_dependencies import JobDependency
from lineage.graph.job_lineage import EMPTY_JOB_LINEAGE, JobLineage, derive_job_lineage, without_dropped
from lineage.graph.job_record import JobRecord
from lineage.graph.packed_lineage import pack_lineage, unpack_lineage
from lineage.graph.records import LineageRecords
from lineage.graph.run_record import RunRecord

logger = logging.getLogger(__name__)

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Column(NamedTuple):
    """Column of a dataset; `field` None means the dataset as a whole."""

    dataset: DatasetId
    field: str | None


class Graph:
    """Adjacency of jobs, datasets and columns.

    Call `refresh` before reading: it derives the lineage of the jobs that events have changed since. Deleted jobs are
    left out.
    `failed` holds the jobs whose lineage could not be derived, with the cause. `referencing_jobs` holds the jobs that
    name a dataset as a source in lineage facets and not among their inputs, `job_dependencies` those that state a
    dependency between two jobs.

    Not thread-safe: one thread owns the graph and its records.
    """

    def __init__(self, lineage: LineageRecords) -> None:
        self._lineage = lineage
        self.job_lineages: dict[JobId, JobLineage] = {}
        self.failed: dict[JobId, str] = {}
        self.consumers: dict[DatasetId, set[JobId]] = {}
        self.producers: dict[DatasetId, set[JobId]] = {}
        self.referencing_jobs: dict[DatasetId, set[JobId]] = {}
        self.job_dependencies: dict[JobDependency, set[JobId]] = {}
        self._unpacked = UnpackedEdges()
        self._upstream_jobs: dict[JobId, set[JobId]] = {}
        self._downstream_jobs: dict[JobId, set[JobId]] = {}
        lineage.touched.update(lineage.jobs)

    def refresh(self) -> None:
        """Derive the lineage of all changed jobs."""
        while self.refresh_some(len(self._lineage.touched)):
            pass

    def refresh_some(self, limit: int) -> bool:
        """Derive the lineage of up to `limit` changed jobs; return False once none is left.

        A job whose lineage cannot be derived keeps its previous lineage: a defect that one job triggers must not affect
        others.
        """
        touched = self._lineage.touched
        for _ in range(min(limit, len(touched))):
            job = touched.pop()
            record = self._lineage.jobs[job]
            if self._lineage.catalog.is_deleted_job(record):
                self._remove_job(job)
                continue
            try:
                after = self._derived(record)
            except Exception as error:
                logger.exception("the lineage of job %s/%s cannot be derived", job.namespace, job.name)
                self.failed[job] = repr(error)
                self.job_lineages.setdefault(job, EMPTY_JOB_LINEAGE)
                self._mark_unsaved(job)
                continue
            self.failed.pop(job, None)
            self._replace_job(job, after)
        return bool(touched)

    def upstream_jobs(self, job: JobId) -> set[JobId]:
        """Return the jobs that facets of any job state as upstream of one."""
        return self._upstream_jobs.get(job, set())

    def downstream_jobs(self, job: JobId) -> set[JobId]:
        """Return the jobs that facets of any job state as downstream of one."""
        return self._downstream_jobs.get(job, set())

    def jobs_of(self, dataset: DatasetId) -> set[JobId]:
        """Return the jobs that read or write a dataset."""
        return self.consumers.get(dataset, set()) | self.producers.get(dataset, set())

    def lineage_of(self, job: JobId) -> JobLineage:
        """Return the lineage of a job; an empty one if it was removed."""
        return self.job_lineages.get(job, EMPTY_JOB_LINEAGE)

    def edges_into(self, column: Column) -> Iterator[ColumnEdge]:
        """Yield the edges into a column, or into a dataset as a whole; the graph may change in between."""
        for job in list(self.producers.get(column.dataset, ())):
            for edge in self.lineage_of(job).columns:
                if edge.field == column.field and edge.output == column.dataset:
                    yield edge

    def edges_from(self, column: Column) -> Iterator[ColumnEdge]:
        """Yield the edges from a column; the graph may change in between."""
        for job in self.consumers.get(column.dataset, set()) | self.referencing_jobs.get(column.dataset, set()):
            for edge in self.lineage_of(job).columns:
                if edge.source_field == column.field and edge.source == column.dataset:
                    yield edge

    def latest_run(self, job: JobId) -> RunRecord | None:
        """Return the latest run of a job; None without any, or if the job was removed."""
        uuid = self.lineage_of(job).latest_run
        return None if uuid is None else self._lineage.jobs[job].runs[uuid]

    def packed(self, job: JobId) -> bytes | None:
        """Return the lineage of a job for `restore`; None if it must be derived again."""
        view = self.job_lineages.get(job)
        return None if view is None or job in self.failed else pack_lineage(view)

    def restore(self, job: JobId, packed: bytes, known: Callable[[DatasetId], DatasetId]) -> None:
        """Set the lineage of a job, which then need not be derived; its record must be that of the same checkpoint.

        `known` returns one object for equal identities, which saves memory.
        """
        view = unpack_lineage(job, packed, known, self._unpacked)
        self.job_lineages[job] = view
        self._add_job(job, view)
        self._lineage.touched.discard(job)

    def _derived(self, record: JobRecord) -> JobLineage:
        found = derive_job_lineage(record, self._lineage.nodes.node)
        dropped = self._lineage.catalog.dropped
        if not dropped or dropped.isdisjoint(_datasets_of(found)):
            return found
        return without_dropped(found, self._lineage.dropped_at(dropped & _datasets_of(found)))

    def _remove_job(self, job: JobId) -> None:
        self.failed.pop(job, None)
        before = self.job_lineages.pop(job, None)
        if before is not None:
            self._discard_job(job, before)
        self._mark_unsaved(job)

    def _replace_job(self, job: JobId, after: JobLineage) -> None:
        before = self.job_lineages.get(job)
        if before is not None:
            self._discard_job(job, before)
        kept = after._replace(columns=ColumnEdges(job, after.columns, self._unpacked))
        self.job_lineages[job] = kept
        self._add_job(job, kept)
        self._mark_unsaved(job)

    def _mark_unsaved(self, job: JobId) -> None:
        if self._lineage.archive is not None:
            self._lineage.unsaved.lineages.add(job)

    def _add_job(self, job: JobId, view: JobLineage) -> None:
        for dataset in view.inputs:
            self.consumers.setdefault(dataset, set()).add(job)
        for dataset in view.outputs:
            self.producers.setdefault(dataset, set()).add(job)
        for dataset in _facet_only_sources(view):
            self.referencing_jobs.setdefault(dataset, set()).add(job)
        for dependency in view.dependencies:
            self.job_dependencies.setdefault(dependency, set()).add(job)
            self._upstream_jobs.setdefault(dependency.downstream, set()).add(dependency.upstream)
            self._downstream_jobs.setdefault(dependency.upstream, set()).add(dependency.downstream)

    def _discard_job(self, job: JobId, view: JobLineage) -> None:
        if isinstance(view.columns, ColumnEdges):
            self._unpacked.discard(view.columns)
        _discard_from(self.consumers, view.inputs, job)
        _discard_from(self.producers, view.outputs, job)
        _discard_from(self.referencing_jobs, _facet_only_sources(view), job)
        for dependency in view.dependencies:
            _discard_from(self.job_dependencies, [dependency], job)
            if dependency not in self.job_dependencies:
                _discard_from(self._upstream_jobs, [dependency.downstream], dependency.upstream)
                _discard_from(self._downstream_jobs, [dependency.upstream], dependency.downstream)


def _datasets_of(view: JobLineage) -> set[DatasetId]:
    return _facet_only_sources(view) | view.inputs | view.outputs


def _facet_only_sources(view: JobLineage) -> set[DatasetId]:
    columns = view.columns
    of_columns = columns.sources if isinstance(columns, ColumnEdges) else {edge.source for edge in columns}
    return ({flow.source for flow in view.flows} | of_columns) - view.inputs


def _discard_from(index: dict[_Key, set[_Value]], keys: Iterable[_Key], value: _Value) -> None:
    for key in keys:
        members = index[key]
        members.discard(value)
        if not members:
            del index[key]
