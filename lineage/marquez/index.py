# SPDX-License-Identifier: Apache-2.0
"""Sorted index of all jobs and datasets by namespace and name, updated incrementally."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Generic, TypeVar

from lineage.events import DatasetId, JobId
from lineage.graph import LineageRecords
from lineage.marquez.names import SortedNames

_NAMES_PER_SLICE = 2000
"""Names indexed between two yields: some milliseconds."""

_Id = TypeVar("_Id", JobId, DatasetId)


class NameIndex(Generic[_Id]):
    """Sorted identities of a mapping that only grows."""

    def __init__(self, keys: dict[_Id, Any], identity: Callable[[str, str], _Id]) -> None:
        self._keys: dict[_Id, Any] = keys
        self._identity: Callable[[str, str], _Id] = identity
        self._taken = 0
        self._waiting: list[_Id] = []
        self._names: dict[str, SortedNames] = {}
        self.namespaces = SortedNames()

    def index_new_keys(self) -> bool:
        """Index one slice of new keys; return False if there were none."""
        # A dictionary keeps insertion order: new keys are the last ones.
        new = len(self._keys) - self._taken
        self._waiting += islice(reversed(self._keys), new)
        self._taken += new
        part, self._waiting = self._waiting[-_NAMES_PER_SLICE:], self._waiting[:-_NAMES_PER_SLICE]
        for namespace, name in part:
            names = self._names.get(namespace)
            if names is None:
                names = self._names[namespace] = SortedNames()
                self.namespaces.add(namespace)
            names.add(name)
        return bool(part)

    def count(self, namespace: str | None = None) -> int:
        """Return the number of indexed names, in one namespace or in all."""
        if namespace is None:
            return self._taken - len(self._waiting)
        return len(self._names.get(namespace, ()))

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
    """Sorted names of jobs and datasets. Run `steps` before reading to update it."""

    def __init__(self, lineage: LineageRecords) -> None:
        self.lineage = lineage
        self.jobs: NameIndex[JobId] = NameIndex(lineage.jobs, JobId)
        self.datasets: NameIndex[DatasetId] = NameIndex(lineage.datasets, DatasetId)

    def steps(self) -> Iterator[None]:
        """Index everything new; yields after each slice."""
        while self.jobs.index_new_keys() or self.datasets.index_new_keys():
            yield
