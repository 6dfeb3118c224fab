# SPDX-License-Identifier: Apache-2.0
"""Datasets that a job file names, and the line of each."""

from dataclasses import dataclass
from enum import StrEnum

from infra.namespaces import CATALOG_NAME, KAFKA_NAMESPACE, WAREHOUSE_NAMESPACE
from lineage.checks.contract import Dataset


class Use(StrEnum):
    """Use of a dataset by a job. UNKNOWN: the file only names it."""

    READ = "reads"
    WRITTEN = "writes"
    UNKNOWN = "names"


@dataclass(frozen=True)
class NamedDataset:
    """Dataset that a file names; `line` is counted from 1, 0 if unknown."""

    dataset: Dataset
    use: Use
    line: int = 0


def topic(name: str) -> Dataset:
    """Return the dataset of a topic."""
    return Dataset(KAFKA_NAMESPACE, name)


def table(name: str) -> Dataset | None:
    """Return the dataset of a table, `database.table` or `lake.database.table`; None for another name."""
    parts = name.split(".")
    if len(parts) == 3 and parts[0] == CATALOG_NAME:
        parts = parts[1:]
    if len(parts) != 2 or not all(parts):
        return None
    return Dataset(WAREHOUSE_NAMESPACE, "/".join(parts))
