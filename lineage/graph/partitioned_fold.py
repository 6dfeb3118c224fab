# SPDX-License-Identifier: Apache-2.0
"""Graph of events that are partitioned by job, so that partitions are folded apart, in parallel and on other machines.

1. `PartitionFold` folds the events of a partition. Its parts are the records of jobs, which are complete, those of
   datasets, which other partitions have parts of, too, and what events state about the catalog.
2. `SharedState` is made of what concerns more than one job: names that lead to others, dropped datasets, deletions. It
   needs those datasets only whose names are linked with others (`linked_names`).
3. `job_rows` and `dataset_rows` make the rows of the graph export of each job and dataset.

The graph equals that of a fold of all events, as records are mergeable (see `lineage.graph.mergeable`). States of runs
are left out: they depend on other jobs.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lineage.events.event import Event
from lineage.events.ids import DatasetId, JobId, JsonObject, RunId
from lineage.events.own_facets import CatalogKey, CatalogStatement, EntryKind
from lineage.graph.catalog_record import CatalogEntries, CatalogEntry
from lineage.graph.dataset_lineage import declared_job
from lineage.graph.dataset_record import DatasetRecord
from lineage.graph.export import dataset_json, job_lineage_rows
from lineage.graph.job_lineage import JobLineage, derive_job_lineage, without_dropped
from lineage.graph.job_record import JobRecord
from lineage.graph.name_links import links_of_names, links_of_statement
from lineage.graph.records import LineageRecords


class ExportRow(NamedTuple):
    """Row of the graph export: the key of its list, such as `edges`, and its content."""

    kind: str
    content: JsonObject


def partition_key(event: Event) -> tuple[str, str]:
    """Return the key by which events are partitioned: the job, or that which a dataset event amounts to."""
    found = declared_job(event)
    owner: JobId | DatasetId | None = found.job or found.dataset
    assert owner is not None
    return owner


class PartitionFold:
    """Records of the events of some jobs; all events of a job must be in one partition."""

    def __init__(self) -> None:
        self._lineage = LineageRecords()

    def apply(self, event: Event) -> None:
        """Apply one event; idempotent, and in any order."""
        self._lineage.apply(event)

    def jobs(self) -> Iterator[JobRecord]:
        """Yield the records of all jobs."""
        yield from self._lineage.jobs.values()

    def datasets(self) -> Iterator[DatasetRecord]:
        """Yield the records of all datasets, by the names that events use."""
        yield from self._lineage.nodes.by_name.values()

    def entries(self) -> Iterator[tuple[CatalogKey, CatalogEntry]]:
        """Yield the entries of the catalog."""
        yield from self._lineage.catalog.items()

    def failed_runs(self) -> list[RunId]:
        """Return the runs that announced a change of a dataset, and failed."""
        return sorted(filter(self._lineage.has_failed, self._lineage.runs_that_changed_datasets()))


def merged_dataset(parts: Iterable[DatasetRecord]) -> DatasetRecord:
    """Return the record of a dataset, made of those of all partitions; the first one is changed."""
    first, *others = parts
    for other in others:
        first.merge(other)
        if other.names is not None and other.names.location is not None:
            first.stated_names().location = other.names.location
    return first


def merged_entry(parts: Iterable[CatalogEntry]) -> CatalogEntry:
    """Return an entry of the catalog, made of those of all partitions; the first one is changed."""
    first, *others = parts
    for other in others:
        first.span.merge(other.span)
        if other.deleted is not None:
            first.deleted = max(first.deleted or other.deleted, other.deleted)
        if other.described is not None and (first.described is None or first.described.order < other.described.order):
            first.described = other.described
    return first


def linked_names(record: DatasetRecord) -> set[DatasetId]:
    """Return the names that a record, or a part of one, links with each other; empty if it links none."""
    if record.names is None:
        return set()
    return {record.id}.union(*links_of_names(record.id, record.names))


def linked_by_entry(key: CatalogKey, entry: CatalogEntry) -> set[DatasetId]:
    """Return the names that an entry of the catalog links with each other."""
    if key.kind is not EntryKind.TABLE or entry.described is None:
        return set()
    return set[DatasetId]().union(*links_of_statement(CatalogStatement(key, entry.content, False)))


class _LinkedRecords(LineageRecords):
    """Records of datasets without those of jobs; of their runs, those that failed are known."""

    def __init__(self, failed: Iterable[RunId]) -> None:
        super().__init__()
        self._failed = frozenset(failed)

    def has_failed(self, run: RunId) -> bool:
        """Return whether a run failed or was aborted."""
        return run in self._failed


class SharedState:
    """Nodes of names, dropped datasets, deletions: what several jobs depend on. It is small, to be sent to workers."""

    def __init__(
        self,
        datasets: Iterable[DatasetRecord],
        entries: Iterable[tuple[CatalogKey, CatalogEntry]],
        failed: Iterable[RunId],
    ) -> None:
        """`datasets` are the merged records of all linked names, and of all names in deleted namespaces."""
        records = _LinkedRecords(failed)
        for key, entry in entries:
            records.restore_entry(key, entry)
        for record in datasets:
            records.restore_dataset(record)
        self.entries = CatalogEntries()
        self.entries.update(records.catalog)
        self.nodes = {name: node for name in records.nodes.by_name if (node := records.nodes.node(name)) != name}
        self.dropped = records.dropped_at(records.catalog.dropped)
        self.rows = [
            ExportRow("datasets", dataset_json(records, record))
            for record in records.datasets.values()
            if not records.catalog.is_deleted_dataset(record)
        ]
        """Rows of the export of the linked datasets."""

    def node(self, name: DatasetId) -> DatasetId:
        """Return the node of a name that events use."""
        return self.nodes.get(name, name)

    def lineage_of(self, job: JobRecord) -> JobLineage | None:
        """Return the lineage of a job; None if it is deleted."""
        if self.entries.is_deleted_job(job):
            return None
        found = derive_job_lineage(job, self.node)
        return without_dropped(found, self.dropped) if self.dropped else found


def deleted_namespaces(entries: Iterable[tuple[CatalogKey, CatalogEntry]]) -> set[str]:
    """Return the namespaces that an event deleted, whether or not others of them followed."""
    return {key.name for key, entry in entries if key.kind is EntryKind.NAMESPACE and entry.deleted is not None}


def job_rows(job: JobRecord, shared: SharedState) -> Iterator[ExportRow]:
    """Yield the rows of a job; those of `jobDependencies` may be repeated by other jobs."""
    lineage = shared.lineage_of(job)
    if lineage is None:
        return
    facet = job.facets.get("jobType") or {}
    yield ExportRow("jobs", {"namespace": job.id.namespace, "name": job.id.name, "type": facet.get("processingType")})
    for kind, row in job_lineage_rows(job.id, lineage):
        yield ExportRow(kind, row)


def dataset_row(record: DatasetRecord) -> ExportRow:
    """Return the row of a dataset whose name is not linked with others."""
    return ExportRow("datasets", dataset_json(None, record))
