# SPDX-License-Identifier: Apache-2.0
"""Upstream columns, datasets and jobs of a dataset or column, with distances in jobs."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

from lineage.checks.cause.facts import RunFacts
from lineage.checks.node_lookup import Node
from lineage.events import DatasetId, JobId

N = TypeVar("N")


class Column(NamedTuple):
    """A column of a dataset."""

    dataset: DatasetId
    field: str

    def __str__(self) -> str:
        return f"{self.dataset.namespace}/{self.dataset.name}#{self.field}"


@dataclass(frozen=True)
class Upstream:
    """Upstream columns, datasets and jobs of a dataset or column, with their distances in jobs.

    Attributes:
        start: the dataset or column.
        columns: columns that contribute to it, itself included. Distance 0 is its own dataset.
        datasets: the datasets of `columns`, and those that decide on its rows.
        jobs: jobs between them; the job that writes `start` has distance 1.
        row_columns: columns that only decide on the rows, as in a filter; those that `path` has found.
    """

    start: Node
    columns: Mapping[Column, int]
    datasets: Mapping[DatasetId, int]
    jobs: Mapping[JobId, int]
    row_columns: frozenset[Column] = frozenset()

    @classmethod
    def of_origin(cls, origin: Mapping[str, Any]) -> "Upstream":
        """Parse a response of `/api/v1/origin`."""
        start = origin["start"]
        own, field = DatasetId(start["namespace"], start["name"]), start.get("field")
        columns = {
            Column(DatasetId(row["namespace"], row["name"]), row["field"]): row["distance"] for row in origin["columns"]
        }
        datasets = {DatasetId(row["namespace"], row["name"]): row["distance"] for row in origin["datasets"]}
        jobs = {JobId(row["namespace"], row["name"]): row["distance"] for row in origin["jobs"]}
        return cls(
            Node(start["namespace"], start["name"], field),
            columns | ({} if field is None else {Column(own, field): 0}),
            datasets | {own: 0},
            jobs,
        )

    def merged(self, other: "Upstream") -> "Upstream":
        """Return what either has, with the smaller distance."""
        return Upstream(
            self.start,
            _nearest(self.columns, other.columns),
            _nearest(self.datasets, other.datasets),
            _nearest(self.jobs, other.jobs),
        )

    def path(self, facts: Iterable[RunFacts]) -> "Upstream":
        """Return this with `row_columns` apart from `columns`: the origin of a column has both kinds.

        The column edges of the events decide. Where the events of a dataset's writers have none, all columns farther
        upstream may contribute.
        """
        sources: dict[Column, set[Column]] = defaultdict(set)
        written, known = set(), set()
        for fact in facts:
            for found in fact.datasets:
                if found.is_output:
                    written.add(found.dataset)
                    if found.edges is not None:
                        known.add(found.dataset)
                    for field, dataset, source in found.edges or ():
                        if field and source:
                            sources[Column(found.dataset, field)].add(Column(dataset, source))
        unknown = written - known
        own = DatasetId(self.start.namespace, self.start.name)
        fields = {column.field for column in sources if column.dataset == own}
        pending = [Column(own, field) for field in (fields if self.start.field is None else {self.start.field})]
        contributing = set(pending)
        opaque = [] if pending else [0]
        for column in pending:
            if column.dataset in unknown:
                opaque.append(self.datasets.get(column.dataset, 0))
            new = sources[column] - contributing
            contributing |= new
            pending += new
        if opaque:
            contributing |= {column for column, distance in self.columns.items() if distance > min(opaque)}
        kept = {column: distance for column, distance in self.columns.items() if column in contributing}
        return replace(self, columns=kept, row_columns=frozenset(self.columns.keys() - kept.keys()))

    def decides_on_rows(self, dataset: DatasetId, fields: frozenset[str]) -> bool:
        """Return True if one of the fields only decides on the rows of `start`."""
        return any(Column(dataset, field) in self.row_columns for field in fields)

    def has_column_of(self, dataset: DatasetId, fields: frozenset[str]) -> bool:
        """Return True if one of the fields contributes; each field of `start` does if it is a whole dataset."""
        if self.start.field is None and dataset == (self.start.namespace, self.start.name):
            return True
        return any(Column(dataset, field) in self.columns for field in fields)

    def contributes(self, dataset: DatasetId) -> bool:
        """Return True if any column of the dataset contributes to `start`."""
        return self.datasets.get(dataset) == 0 or any(column.dataset == dataset for column in self.columns)


def _nearest(one: Mapping[N, int], other: Mapping[N, int]) -> dict[N, int]:
    return {
        node: min(one.get(node, other.get(node, 0)), other.get(node, one.get(node, 0))) for node in {**one, **other}
    }
