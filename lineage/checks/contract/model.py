# SPDX-License-Identifier: Apache-2.0
"""Data model of lineage contracts."""

from dataclasses import dataclass
from typing import NamedTuple

from lineage.checks.columns import Column, Compatibility


class Dataset(NamedTuple):
    """Dataset; rendered as `namespace/name`, as in a contract."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class Transformation(NamedTuple):
    """Transformation from a source column to its target; None if an emitter omits type or subtype."""

    type: str | None
    subtype: str | None
    masking: bool = False

    def __str__(self) -> str:
        kind = "/".join(part for part in (self.type, self.subtype) if part) or "unspecified"
        return f"{kind} masked" if self.masking else kind


class Source(NamedTuple):
    """Column that is a source of a target."""

    dataset: Dataset
    field: str

    def __str__(self) -> str:
        return f"{self.dataset}#{self.field}"


Sources = dict[Source, frozenset[Transformation]]
"""Sources of one target, each with all its transformations."""

Features = frozenset[str]


@dataclass(frozen=True, slots=True)
class InputRow:
    """Dataset that a job reads, if the features in `requires` are enabled."""

    dataset: Dataset
    requires: Features


@dataclass(frozen=True, slots=True)
class OutputRow:
    """Dataset that a job writes. `columns` None: its columns are not checked, nor `dataset_columns`."""

    dataset: Dataset
    requires: Features
    columns: dict[str, Sources] | None
    dataset_columns: Sources


@dataclass(frozen=True, slots=True)
class JobRow:
    """Job and its complete lineage."""

    name: str
    requires: Features
    inputs: tuple[InputRow, ...]
    outputs: tuple[OutputRow, ...]


@dataclass(frozen=True, slots=True)
class AgreedSchema:
    """Columns that a dataset must have.

    Attributes:
        columns: in the order of the contract.
        compatibility: how the dataset's columns may differ from them.
        version: of the agreement, for its readers; empty if it has none.
    """

    columns: tuple[Column, ...]
    compatibility: Compatibility
    version: str


@dataclass(frozen=True, slots=True)
class DatasetRow:
    """Demands on a dataset, whoever writes it. `freshness` is the longest time since it was written, in seconds."""

    dataset: Dataset
    requires: Features
    schema: AgreedSchema | None
    freshness: int | None


@dataclass(frozen=True, slots=True)
class Contract:
    """All expected jobs of one namespace, and demands on datasets."""

    namespace: str
    jobs: tuple[JobRow, ...]
    datasets: tuple[DatasetRow, ...] = ()

    @property
    def features(self) -> Features:
        """Return all features that any row requires."""
        found = [row.requires for row in self.datasets]
        for job in self.jobs:
            found += [job.requires, *(use.requires for use in job.inputs), *(use.requires for use in job.outputs)]
        return frozenset[str]().union(*found)
