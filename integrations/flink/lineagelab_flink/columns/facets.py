# SPDX-License-Identifier: Apache-2.0
"""OpenLineage form of the datasets of a Flink job. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lineagelab_common.events import ColumnEdge, EventWriter, Json, dataset_json, lineage_entry
from lineagelab_flink.columns.naming import Dataset

WRITER = EventWriter("urn:lineage-lab:jobs:flink")


@dataclass
class Output:
    """Table that is written.

    Attributes:
        fields: name -> type of its columns.
        inputs: datasets that reach it.
        columns: edges to each column.
        rows: edges that affect all columns, because they decide about rows.
        unknown: columns whose lineage is incomplete; it is omitted, because a part would be taken for all of it.
        reasons: of the unknown columns.
    """

    fields: dict[str, str] = field(default_factory=dict)
    inputs: set[Dataset] = field(default_factory=set)
    columns: dict[str, set[ColumnEdge]] = field(default_factory=dict)
    rows: set[ColumnEdge] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    reasons: set[str] = field(default_factory=set)

    @property
    def known(self) -> dict[str, set[ColumnEdge]]:
        """Edges of the columns whose lineage is complete."""
        return {name: edges for name, edges in self.columns.items() if name not in self.unknown}


def input_dataset(dataset: Dataset, fields: Mapping[str, str]) -> Json:
    """Return a dataset that is read, with its schema."""
    return dataset_json(dataset, _dataset_facets(dataset, fields))


def output_dataset(dataset: Dataset, output: Output) -> Json:
    """Return a dataset that is written, with schema and column lineage."""
    facets = {**_dataset_facets(dataset, output.fields), "columnLineage": _column_lineage(output)}
    return dataset_json(dataset, facets)


def job_lineage(outputs: Mapping[Dataset, Output]) -> Json:
    """Return the job facet that states the inputs of each output: plain lists would connect all with all."""
    return WRITER.job_lineage(
        lineage_entry(dataset, outputs[dataset].inputs, outputs[dataset].known, outputs[dataset].rows)
        for dataset in sorted(outputs)
    )


def sql(query: str) -> Json:
    """Return the job facet with the text of a query."""
    return WRITER.facet("sql", query=query, dialect="flink")


def _dataset_facets(dataset: Dataset, fields: Mapping[str, str]) -> Json:
    facets = {"schema": WRITER.schema(fields)}
    if dataset.alias:
        alias = {"namespace": dataset.namespace, "name": dataset.alias, "type": "TABLE"}
        facets["symlinks"] = WRITER.facet("symlinks", identifiers=[alias])
    return facets


def _column_lineage(output: Output) -> Json:
    """Return the facet with unknown columns in custom fields, as the lab's Connect plugin writes them."""
    lineage = WRITER.column_lineage(output.known, output.rows)
    if output.reasons:
        lineage["unknownFields"] = sorted(output.unknown)
        lineage["unknownBecause"] = sorted(output.reasons)
    return lineage
