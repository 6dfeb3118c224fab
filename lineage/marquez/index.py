# SPDX-License-Identifier: Apache-2.0
"""Sorted index of all jobs and datasets that are not deleted, updated incrementally."""

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from lineage.events import DatasetId, JobId
from lineage.graph import LineageRecords
from lineage.graph.records_by_name import READS_PER_PART, RecordsByName
from lineage.marquez.names import SortedNames
from lineage.marquez.recency import RecentJobs

_NODES_PER_SLICE = 2000
"""Jobs or datasets indexed between two yields: some milliseconds."""

_Id = TypeVar("_Id", JobId, DatasetId)


class NameIndex(Generic[_Id]):
    """Sorted identities by namespace and name."""

    def __init__(self, identity: Callable[[str, str], _Id]) -> None:
        self._identity: Callable[[str, str], _Id] = identity
        self._names: dict[str, SortedNames] = {}
        self._size = 0
        self.namespaces = SortedNames()

    def add(self, node: _Id) -> None:
        """Add an identity; idempotent."""
        names = self._names.get(node.namespace)
        if names is None:
            names = self._names[node.namespace] = SortedNames()
        if not names:
            self.namespaces.add(node.namespace)
        self._size += names.add(node.name)

    def discard(self, node: _Id) -> None:
        """Remove an identity if present."""
        names = self._names.get(node.namespace)
        if names is not None and names.discard(node.name):
            self._size -= 1
            if not names:
                self.namespaces.discard(node.namespace)

    def count(self, namespace: str | None = None) -> int:
        """Return the number of indexed names, in one namespace or in all."""
        return self._size if namespace is None else len(self._names.get(namespace, ()))

    def page(self, namespace: str | None, offset: int, limit: int) -> list[_Id]:
        """Return one page of the identities in one namespace or in all."""
        found: list[_Id] = []
        for space, names in self._names_by_namespace(namespace):
            if len(found) == limit:
                break
            if offset >= len(names):
                offset -= len(names)
                continue
            found += (self._identity(space, name) for name in names.page(offset, limit - len(found)))
            offset = 0
        return found

    def all(self, namespace: str | None = None) -> Iterator[_Id]:
        """Yield all identities in one namespace or in all; names may be added meanwhile."""
        for space, names in self._names_by_namespace(namespace):
            yield from (self._identity(space, name) for name in names)

    def containing(self, wanted: str, namespace: str | None) -> Iterator[tuple[str, list[str]]]:
        """Yield namespace and sorted names that contain a lower-case text, per searched bucket."""
        for space, names in self._names_by_namespace(namespace):
            for part in names.containing(wanted):
                yield space, part

    def _names_by_namespace(self, namespace: str | None) -> Iterator[tuple[str, SortedNames]]:
        if namespace is None:
            for space in self.namespaces:
                yield space, self._names[space]
        elif namespace in self._names:
            yield namespace, self._names[namespace]


class Index:
    """Jobs and datasets by name, and jobs by time of their last event; without deleted ones.

    Run `steps` before reading to update it.
    """

    def __init__(self, lineage: LineageRecords) -> None:
        self.lineage = lineage
        self.jobs: NameIndex[JobId] = NameIndex(JobId)
        self.datasets: NameIndex[DatasetId] = NameIndex(DatasetId)
        self.recent_jobs = RecentJobs()
        self._changes = lineage.follow()
        self._jobs = list(lineage.jobs)
        self._datasets = list(lineage.datasets)

    def steps(self) -> Iterator[None]:
        """Index every change; yields after each slice."""
        while self._take_changes():
            for job in _last_slice(self._jobs, self.lineage.jobs):
                self._update_job(job)
            yield
            for dataset in _last_slice(self._datasets, self.lineage.datasets):
                self._update_dataset(dataset)
            yield

    def _take_changes(self) -> bool:
        """Move changes to the waiting lists; return whether anything waits."""
        self._jobs += self._changes.jobs
        self._datasets += self._changes.datasets
        self._changes.jobs.clear()
        self._changes.datasets.clear()
        return bool(self._jobs or self._datasets)

    def _update_job(self, job: JobId) -> None:
        record = self.lineage.jobs[job]
        if self.lineage.catalog.is_deleted_job(record):
            self.jobs.discard(job)
            self.recent_jobs.discard(job)
        else:
            self.jobs.add(job)
            self.recent_jobs.update(job, record.span.last.time)

    def _update_dataset(self, dataset: DatasetId) -> None:
        record = self.lineage.datasets.get(dataset)
        if record is None or self.lineage.catalog.is_deleted_dataset(record):
            self.datasets.discard(dataset)
        else:
            self.datasets.add(dataset)


def _last_slice(waiting: list[_Id], records: RecordsByName[_Id, Any]) -> list[_Id]:
    """Remove and return the last slice of a list, which has fewer names if records must be read."""
    part: list[_Id] = []
    reads = 0
    while waiting and len(part) < _NODES_PER_SLICE and reads < READS_PER_PART:
        part.append(waiting.pop())
        reads += records.in_memory(part[-1]) is None
    return part
