# SPDX-License-Identifier: Apache-2.0
"""Lineage of the jobs of one namespace, read from a graph export."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lineage.checks.columns import Column, canonical_type
from lineage.checks.contract.model import Dataset, Source, Sources, Transformation

EXPORT_VERSION = 1


@dataclass(slots=True)
class JobLineage:
    """Lineage of one job. `columns` by output dataset and field; field None: the dataset as a whole."""

    inputs: set[Dataset] = field(default_factory=set)
    outputs: set[Dataset] = field(default_factory=set)
    columns: dict[tuple[Dataset, str | None], Sources] = field(default_factory=dict)


@dataclass(slots=True)
class GraphLineage:
    """Jobs of one namespace that touch any dataset, and the columns, name -> type, that schemas list.

    A dataset without a schema has no columns; nested columns are not listed. Those of `fields_of_readers` are stated by
    readers alone, and may be some of all columns.
    """

    jobs: dict[str, JobLineage]
    fields: dict[Dataset, dict[str, str]]
    fields_of_readers: frozenset[Dataset] = frozenset()

    def columns(self, dataset: Dataset) -> list[Column] | None:
        """Return the columns of a dataset, whose nullability a graph does not know; None without the dataset."""
        found = self.fields.get(dataset)
        return None if found is None else [Column(name, canonical_type(kind)) for name, kind in found.items()]


def read_graph(export: Mapping[str, Any], namespace: str) -> GraphLineage:
    """Read a graph export.

    Raises:
        ValueError: the export is of another version.
    """
    if export.get("version") != EXPORT_VERSION:
        raise ValueError(f"graph export has version {export.get('version')!r}, this check reads {EXPORT_VERSION}")
    jobs: dict[str, JobLineage] = {}
    for edge in export["edges"]:
        if edge["job"]["namespace"] == namespace:
            job = jobs.setdefault(edge["job"]["name"], JobLineage())
            (job.inputs if edge["direction"] == "input" else job.outputs).add(_dataset_of_row(edge["dataset"]))
    for edge in (*export["columns"], *export["datasetColumns"]):
        if edge["job"]["namespace"] == namespace:
            job = jobs.setdefault(edge["job"]["name"], JobLineage())
            target = (_dataset_of_row(edge["output"]), edge["output"].get("field"))
            sources = job.columns.setdefault(target, {})
            source = Source(_dataset_of_row(edge["input"]), edge["input"]["field"])
            transformation = Transformation(edge["type"], edge["subtype"], edge["masking"])
            sources[source] = sources.get(source, frozenset()) | {transformation}
    fields = {
        _dataset_of_row(dataset): {column["name"]: column.get("type") or "" for column in dataset["fields"]}
        for dataset in export["datasets"]
    }
    # Exports of earlier versions lack the key.
    of_readers = (_dataset_of_row(dataset) for dataset in export["datasets"] if dataset.get("fieldsOfReaders"))
    return GraphLineage(jobs, fields, frozenset(of_readers))


def _dataset_of_row(row: Mapping[str, Any]) -> Dataset:
    return Dataset(row["namespace"], row["name"])
