# SPDX-License-Identifier: Apache-2.0
"""OpenLineage's form of datasets and of what reaches what. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lineagelab_flink.columns.naming import Dataset

PRODUCER = "urn:lineage-lab:jobs:flink"

SPECIFICATION = "https://openlineage.io/spec"

_DIRECT = {"IDENTITY", "TRANSFORMATION", "AGGREGATION"}
"""Subtypes of edges along which values flow. The others decide about values or rows."""

Json = dict[str, Any]


@dataclass(frozen=True, order=True)
class InputField:
    """A column of an input reaches an output in the way that `subtype` says."""

    dataset: Dataset
    name: str
    subtype: str
    masking: bool


@dataclass
class Output:
    """A table that is written.

    Attributes:
        fields: name -> type of its columns.
        inputs: the datasets that reach it.
        columns: what reaches each column.
        rows: what decides about all of them.
        unknown: the columns of which not all is known: nothing is told of them, a part would read as all.
        reasons: why.
    """

    fields: dict[str, str] = field(default_factory=dict)
    inputs: set[Dataset] = field(default_factory=set)
    columns: dict[str, set[InputField]] = field(default_factory=dict)
    rows: set[InputField] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    reasons: set[str] = field(default_factory=set)

    @property
    def known(self) -> dict[str, set[InputField]]:
        """The columns of which all is known."""
        return {name: made for name, made in self.columns.items() if name not in self.unknown}


def input_dataset(dataset: Dataset, fields: Mapping[str, str]) -> Json:
    """A dataset that is read."""
    return {"namespace": dataset.namespace, "name": dataset.name, "facets": _dataset_facets(dataset, fields)}


def output_dataset(dataset: Dataset, output: Output) -> Json:
    """A dataset that is written, with what its columns are made of."""
    facets = {**_dataset_facets(dataset, output.fields), "columnLineage": _column_lineage(output)}
    return {"namespace": dataset.namespace, "name": dataset.name, "facets": facets}


def pairs(outputs: Mapping[Dataset, Output]) -> Json:
    """Which input reaches which output, where lists of both alone would say that all reach all."""
    return facet(
        "1-0-0/LineageFacet", "LineageJobFacet", entries=[_entry(*item) for item in sorted(outputs.items(), key=_place)]
    )


def sql(query: str) -> Json:
    """The text of a job."""
    return facet("1-1-0/SQLJobFacet", query=query, dialect="flink")


def facet(schema: str, definition: str = "", **values: object) -> Json:
    """A facet with these values.

    Args:
        schema: version and file of one of the standard's (`1-1-0/SQLJobFacet`), or the URN of one of the lab's own.
        definition: its name in that file, where that is not the file's.
    """
    definition = definition or schema.partition("/")[2]
    url = schema if schema.startswith("urn:") else f"{SPECIFICATION}/facets/{schema}.json#/$defs/{definition}"
    return {"_producer": PRODUCER, "_schemaURL": url, **values}


def _place(item: tuple[Dataset, Output]) -> Dataset:
    return item[0]


def _dataset_facets(dataset: Dataset, fields: Mapping[str, str]) -> Json:
    facets = {
        "schema": facet(
            "1-2-0/SchemaDatasetFacet", fields=[{"name": name, "type": kind} for name, kind in fields.items()]
        )
    }
    if dataset.alias:
        alias = {"namespace": dataset.namespace, "name": dataset.alias, "type": "TABLE"}
        facets["symlinks"] = facet("1-0-1/SymlinksDatasetFacet", identifiers=[alias])
    return facets


def _column_lineage(output: Output) -> Json:
    """As the lab's Connect plugin says it, what is not known has fields of its own."""
    lineage = facet(
        "1-2-0/ColumnLineageDatasetFacet",
        fields={name: {"inputFields": _inputs(made)} for name, made in output.known.items()},
        dataset=_inputs(output.rows),
    )
    if output.reasons:
        lineage["unknownFields"] = sorted(output.unknown)
        lineage["unknownBecause"] = sorted(output.reasons)
    return lineage


def _entry(dataset: Dataset, output: Output) -> Json:
    whole = [{"namespace": read.namespace, "name": read.name, "type": "DATASET"} for read in sorted(output.inputs)]
    return {
        "namespace": dataset.namespace,
        "name": dataset.name,
        "type": "DATASET",
        "inputs": [*whole, *_inputs(output.rows, type="DATASET")],
        "fields": {name: {"inputs": _inputs(made, type="DATASET")} for name, made in output.known.items()},
    }


def _inputs(made: Iterable[InputField], **more: str) -> list[Json]:
    """One item for each column, with each way in which it reaches the output."""
    ways: dict[tuple[Dataset, str], list[InputField]] = {}
    for one in sorted(made):
        ways.setdefault((one.dataset, one.name), []).append(one)
    return [
        {
            "namespace": dataset.namespace,
            "name": dataset.name,
            **more,
            "field": name,
            "transformations": [_transformation(one) for one in same],
        }
        for (dataset, name), same in ways.items()
    ]


def _transformation(one: InputField) -> Json:
    kind = "DIRECT" if one.subtype in _DIRECT else "INDIRECT"
    return {"type": kind, "subtype": one.subtype, "description": "", "masking": one.masking}
