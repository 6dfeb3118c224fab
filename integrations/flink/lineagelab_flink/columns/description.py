# SPDX-License-Identifier: Apache-2.0
"""Conversion of the planner's output to OpenLineage datasets and facets. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from lineagelab_common.events import ColumnEdge
from lineagelab_flink.columns import facets
from lineagelab_flink.columns.facets import Output
from lineagelab_flink.columns.naming import Dataset, datasets, field_name, written_names
from lineagelab_flink.columns.planned import Origins, PlannedScript, Table, Write


@dataclass(frozen=True)
class Description:
    """OpenLineage datasets and job facets of a script.

    Attributes:
        inputs, outputs: datasets with facets, in the form of events.
        job_facets: `sql` of statements, and `lineage` where inputs and outputs alone are ambiguous.
        sql: text of the job, without secrets.
        unknown: reasons for incomplete lineage; empty where it is complete.
    """

    inputs: list[dict[str, Any]] = field(default_factory=list)
    outputs: list[dict[str, Any]] = field(default_factory=list)
    job_facets: dict[str, Any] = field(default_factory=dict)
    sql: str = ""
    unknown: list[str] = field(default_factory=list)


def description(planned: PlannedScript) -> Description:
    """Convert all INSERTs; a table that is written twice is one output."""
    inputs: dict[Dataset, dict[str, str]] = {}
    outputs: dict[Dataset, Output] = {}
    unknown: set[str] = set()
    for write in planned.writes:
        for table in write.sources:
            for dataset in datasets(table) or ():
                inputs.setdefault(dataset, {}).update(_fields(table))
        unknown.update(_unnamed((write.sink, *write.sources)))
        for dataset in datasets(write.sink) or ():
            _add(outputs.setdefault(dataset, Output()), write)
    for output in outputs.values():
        unknown.update(output.reasons)
    job_facets = {"sql": facets.sql(planned.sql)} if planned.sql else {}
    if len(inputs) * len(outputs) > 1:
        job_facets["lineage"] = facets.job_lineage(outputs)
    return Description(
        [facets.input_dataset(dataset, fields) for dataset, fields in sorted(inputs.items())],
        [facets.output_dataset(dataset, output) for dataset, output in sorted(outputs.items())],
        job_facets,
        planned.sql,
        sorted(unknown),
    )


def _fields(table: Table) -> dict[str, str]:
    """Return name -> type of the stored fields."""
    return {field_name(table, f.name): f.type for f in table.fields if f.kind != "COMPUTED"}


def _unnamed(tables: Iterable[Table]) -> Iterator[str]:
    for table in tables:
        if datasets(table) is None:
            yield f"which dataset the table {table.name} of connector {table.connector or 'none'} is"


def _add(output: Output, write: Write) -> None:
    types = {field.name: field.type for field in write.sink.fields}
    output.inputs.update(dataset for table in write.sources for dataset in datasets(table) or ())
    for name, made in write.columns:
        reasons = {*made.unknown, *_unnamed(_sources(made, write))}
        output.reasons |= reasons
        for called in written_names(write.sink, name):
            output.fields[called] = types[name]
            if reasons:
                output.unknown.add(called)
            output.columns.setdefault(called, set()).update(_input_fields(made, write))
    output.rows.update(_input_fields(write.rows, write))
    output.reasons |= {*write.rows.unknown, *_unnamed(_sources(write.rows, write))}


def _sources(made: Origins, write: Write) -> Iterator[Table]:
    return (write.sources[edge.source] for edge in made.edges)


def _input_fields(made: Origins, write: Write) -> Iterator[ColumnEdge]:
    for edge in made.edges:
        table = write.sources[edge.source]
        for dataset in datasets(table) or ():
            yield ColumnEdge(dataset, field_name(table, edge.column, edge.path), edge.subtype, edge.masking)
