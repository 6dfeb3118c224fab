# SPDX-License-Identifier: Apache-2.0
"""Dependencies between datasets, indexed for one traversal and cached."""

from collections.abc import Iterator
from typing import Any

from lineage.events.ids import DatasetId, JobId
from lineage.graph.adjacency import Column, Graph
from lineage.graph.column_edges import ColumnEdge
from lineage.graph.records import LineageRecords

_JOBS_PER_SLICE = 50
"""Jobs indexed between two yields: some milliseconds."""

_FREED_PER_SLICE = 1_000
"""Items freed between two yields: some milliseconds."""


def empty_steps(items: dict[Any, Any]) -> Iterator[None]:
    """Empty a dictionary in steps: freeing a large one at once would block the event loop."""
    while items:
        for _ in range(min(len(items), _FREED_PER_SLICE)):
            items.popitem()
        yield


class JobDependencies:
    """Data flows and column edges of one job, indexed by dataset."""

    def __init__(self, graph: Graph, job: JobId) -> None:
        view = graph.lineage_of(job)
        self.columns: dict[DatasetId, set[str]] = {}
        self.from_source: dict[DatasetId, list[DatasetId]] = {}
        self.into_output: dict[DatasetId, list[DatasetId]] = {}
        self.with_columns: set[DatasetId] = set()
        """Outputs for which the job reports column lineage."""
        self.unknown: dict[DatasetId, set[str]] = {}
        """Columns of these outputs that may be made of any column of the inputs."""
        self.edges_from: dict[Column, list[ColumnEdge]] = {}
        self.edges_into: dict[Column, list[ColumnEdge]] = {}
        self.connected: set[tuple[DatasetId, DatasetId]] = set()
        for edge in view.columns:
            self.columns.setdefault(edge.source, set()).add(edge.source_field)
            if edge.field is not None:
                self.columns.setdefault(edge.output, set()).add(edge.field)
            self.edges_from.setdefault(Column(edge.source, edge.source_field), []).append(edge)
            self.edges_into.setdefault(Column(edge.output, edge.field), []).append(edge)
            self.with_columns.add(edge.output)
            self.connected.add((edge.source, edge.output))
        for output, field in view.unknown:
            self.columns.setdefault(output, set()).add(field)
            if output in self.with_columns:
                self.unknown.setdefault(output, set()).add(field)
        for flow in view.flows:
            self.from_source.setdefault(flow.source, []).append(flow.output)
            self.into_output.setdefault(flow.output, []).append(flow.source)


class Dependencies:
    """Dependencies derived from the graph, cached for one traversal."""

    def __init__(self, lineage: LineageRecords, graph: Graph) -> None:
        self.graph = graph
        self._lineage = lineage
        self._links: dict[JobId, JobDependencies] = {}
        self._columns: dict[DatasetId, set[str]] = {}

    def links(self, job: JobId) -> JobDependencies:
        """Return flows and column edges of a job."""
        found = self._links.get(job)
        if found is None:
            found = self._links[job] = JobDependencies(self.graph, job)
        return found

    def edges_from(self, column: Column) -> Iterator[ColumnEdge | None]:
        """Yield the edges from a column; None is a pause, as many jobs may use its dataset."""
        for number, job in enumerate(self.readers(column.dataset), 1):
            yield from self.links(job).edges_from.get(column, ())
            if number % _JOBS_PER_SLICE == 0:
                yield None

    def edges_into(self, column: Column) -> Iterator[ColumnEdge | None]:
        """Yield the edges into a column, or into a dataset as a whole; None is a pause."""
        for number, job in enumerate(self.writers(column.dataset), 1):
            yield from self.links(job).edges_into.get(column, ())
            if number % _JOBS_PER_SLICE == 0:
                yield None

    def columns(self, dataset: DatasetId) -> set[str]:
        """Return every column of a dataset that its schema or an edge names."""
        for _ in self.column_steps(dataset):
            pass
        return self._columns[dataset]

    def column_steps(self, dataset: DatasetId) -> Iterator[None]:
        """Determine the columns of a dataset in steps: many jobs may use it."""
        if dataset in self._columns:
            return
        record = self._lineage.datasets.get(dataset)
        found = {field["name"] for field in record.fields()} if record else set()
        jobs = self.graph.jobs_of(dataset) | self.graph.referencing_jobs.get(dataset, set())
        for number, job in enumerate(jobs, 1):
            found |= self.links(job).columns.get(dataset, set())
            if number % _JOBS_PER_SLICE == 0:
                yield
        self._columns[dataset] = found

    def free(self) -> Iterator[None]:
        """Empty the caches in steps."""
        yield from empty_steps(self._links)
        yield from empty_steps(self._columns)

    def readers(self, dataset: DatasetId) -> set[JobId]:
        """Return the jobs that read a dataset, including those that name it in lineage facets only."""
        return self.graph.consumers.get(dataset, set()) | self.graph.referencing_jobs.get(dataset, set())

    def writers(self, dataset: DatasetId) -> set[JobId]:
        """Return the jobs that write a dataset."""
        return set(self.graph.producers.get(dataset, ()))
