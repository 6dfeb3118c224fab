# SPDX-License-Identifier: Apache-2.0
"""The graph over all jobs, kept current as events arrive."""

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

from lineage.events.ids import DatasetId, JobId
from lineage.fold.lineage import Lineage
from lineage.fold.view import ColumnEdge, JobView, view_of

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Column(NamedTuple):
    """A column of a dataset; `field` None stands for the dataset as a whole."""

    dataset: DatasetId
    field: str | None


class Graph:
    """Adjacency of jobs, datasets and columns.

    Call `refresh` before reading: it derives anew the views of those jobs that events have touched since.
    """

    def __init__(self, lineage: Lineage) -> None:
        self._lineage = lineage
        self.views: dict[JobId, JobView] = {}
        self.consumers: dict[DatasetId, set[JobId]] = {}
        self.producers: dict[DatasetId, set[JobId]] = {}
        self.columns_into: dict[Column, set[ColumnEdge]] = {}
        self.columns_from: dict[Column, set[ColumnEdge]] = {}
        lineage.touched.update(lineage.jobs)

    def refresh(self) -> None:
        """Bring every view up to date with the records."""
        for job in self._lineage.touched:
            before = self.views.get(job)
            after = view_of(self._lineage.jobs[job])
            self.views[job] = after
            if before is not None:
                self._discard(job, before)
            self._add(job, after)
        self._lineage.touched.clear()

    def jobs_of(self, dataset: DatasetId) -> set[JobId]:
        """Jobs that read or write a dataset."""
        return self.consumers.get(dataset, set()) | self.producers.get(dataset, set())

    def _add(self, job: JobId, view: JobView) -> None:
        for dataset in view.inputs:
            self.consumers.setdefault(dataset, set()).add(job)
        for dataset in view.outputs:
            self.producers.setdefault(dataset, set()).add(job)
        for edge in view.columns:
            self.columns_into.setdefault(Column(edge.output, edge.field), set()).add(edge)
            self.columns_from.setdefault(Column(edge.source, edge.source_field), set()).add(edge)

    def _discard(self, job: JobId, view: JobView) -> None:
        _discard_from(self.consumers, view.inputs, job)
        _discard_from(self.producers, view.outputs, job)
        for edge in view.columns:
            _discard_from(self.columns_into, [Column(edge.output, edge.field)], edge)
            _discard_from(self.columns_from, [Column(edge.source, edge.source_field)], edge)


def _discard_from(index: dict[_Key, set[_Value]], keys: Iterable[_Key], value: _Value) -> None:
    for key in keys:
        members = index[key]
        members.discard(value)
        if not members:
            del index[key]
