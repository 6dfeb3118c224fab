# SPDX-License-Identifier: Apache-2.0
"""Lineage as OpenLineage speaks of it. Pure: no Spark, no network."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from openlineage.client.event_v2 import InputDataset, Job, JobEvent, OutputDataset, set_producer
from openlineage.client.facet_v2 import (
    DatasetFacet,
    JobFacet,
    column_lineage_dataset,
    job_type_job,
    schema_dataset,
)

from jobs.spark.lineage.datasets import Dataset, Source
from jobs.spark.lineage.model import Edge, Origin
from jobs.spark.lineage.plan import PlanLineage

PRODUCER = "urn:lineage-lab:jobs:spark"
set_producer(PRODUCER)

Fields = Sequence[tuple[str, str]]
"""(name, type) of each column."""


@dataclass(frozen=True)
class Sink:
    """The table that is written."""

    dataset: Dataset
    fields: Fields


@dataclass(frozen=True)
class Datasets:
    """The complete inputs and outputs of a write, with schemas and column lineage."""

    inputs: list[InputDataset]
    outputs: list[OutputDataset]


def job_name(application: str, command: str, table: str) -> str:
    """The name that OpenLineage's Spark agent gives to a write, so that both speak of the same job.

    `orders_etl`, `append_data`, `lake.sales.orders` make `orders_etl.append_data.lake_sales_orders`.
    """
    return f"{application}.{command}.{table.replace('.', '_')}"


def describe(lineage: PlanLineage, sources: Sequence[Sequence[Dataset]], sink: Sink, *, complete: bool) -> Datasets:
    """What the plan reads and what the sink gets from it.

    Args:
        lineage: of the frame that is written.
        sources: the datasets of each leaf of its plan.
        sink: where the frame goes; columns meet by name, in whatever case, and are named as the sink names them.
        complete: False leaves the column lineage out: a part of it would read as all of it.
    """
    inputs = [
        InputDataset(dataset.namespace, dataset.name, facets={"schema": _schema(fields)})
        for dataset, fields in _input_fields(lineage, sources).items()
    ]
    facets: dict[str, DatasetFacet] = {"schema": _schema(sink.fields)}
    if complete:
        facets["columnLineage"] = _column_lineage(lineage, sources, sink)
    return Datasets(inputs, [OutputDataset(sink.dataset.namespace, sink.dataset.name, facets=facets)])


def job_event(namespace: str, name: str, processing: str, datasets: Datasets) -> JobEvent:
    """An event about the job itself, whichever run: BATCH or STREAMING is `processing`."""
    kind = job_type_job.JobTypeJobFacet(processingType=processing, integration="SPARK", jobType="SQL_JOB")
    facets: dict[str, JobFacet] = {"jobType": kind}
    return JobEvent(
        eventTime=datetime.now(UTC).isoformat(timespec="milliseconds"),
        job=Job(namespace, name, facets=facets),
        inputs=datasets.inputs,
        outputs=datasets.outputs,
    )


def field_name(origin: Origin, dataset: Dataset) -> str:
    """The name of an origin among the fields of its dataset.

    A topic's fields are those of its decoded messages; the columns in which Spark hands out the rest of a record
    (key, offset ...) get an underscore, so that they cannot be taken for them.
    """
    if not dataset.is_topic:
        return ".".join((origin.column, *origin.path))
    if origin.decoded:
        return ".".join(origin.path)
    return "_" + ".".join((origin.column, *origin.path))


def _input_fields(lineage: PlanLineage, sources: Sequence[Sequence[Dataset]]) -> dict[Dataset, dict[str, str]]:
    """Name and type of every field of every input; a dataset that is read twice is one input."""
    inputs: dict[Dataset, dict[str, str]] = {}
    for ordinal, (leaf, datasets) in enumerate(zip(lineage.leaves, sources, strict=True)):
        if not leaf.is_read:
            continue
        for dataset in datasets:
            fields = inputs.setdefault(dataset, {})
            for decoding in sorted(lineage.decodings, key=lambda d: d.fields):
                if decoding.leaf == ordinal and dataset.is_topic:
                    fields.update(decoding.fields)
            fields.update({field_name(Origin(ordinal, name), dataset): kind for name, kind in leaf.fields})
    return inputs


def _schema(fields: dict[str, str] | Fields) -> schema_dataset.SchemaDatasetFacet:
    pairs = fields.items() if isinstance(fields, dict) else fields
    return schema_dataset.SchemaDatasetFacet(
        fields=[schema_dataset.SchemaDatasetFacetFields(name=name, type=kind, fields=None) for name, kind in pairs]
    )


def gaps(lineage: PlanLineage, sources: Sequence[Source]) -> list[str]:
    """What keeps the column lineage from being complete: nodes without a rule, and sources without a name."""
    read = (source for leaf, source in zip(lineage.leaves, sources, strict=True) if leaf.is_read)
    return sorted(lineage.unknown | {source.unnamed for source in read if source.unnamed})


def _column_lineage(
    lineage: PlanLineage, sources: Sequence[Sequence[Dataset]], sink: Sink
) -> column_lineage_dataset.ColumnLineageDatasetFacet:
    return column_lineage_dataset.ColumnLineageDatasetFacet(
        fields={
            _spelled(column, sink): column_lineage_dataset.Fields(inputFields=_input_columns(edges, sources))
            for column, edges in lineage.columns.items()
        },
        dataset=_input_columns(lineage.rows, sources),
    )


def _spelled(column: str, sink: Sink) -> str:
    """The sink's spelling of a column: where case counts there may be several, and the exact one is meant."""
    names = [name for name, _ in sink.fields]
    same = [name for name in names if name.casefold() == column.casefold()]
    return same[0] if len(same) == 1 else column


def _input_columns(
    edges: Iterable[Edge], sources: Sequence[Sequence[Dataset]]
) -> list[column_lineage_dataset.InputField]:
    transformations: dict[tuple[str, str, str], list[column_lineage_dataset.Transformation]] = {}
    for edge in sorted(edges):
        for dataset in sources[edge.origin.leaf]:
            key = (dataset.namespace, dataset.name, field_name(edge.origin, dataset))
            transformations.setdefault(key, []).append(_transformation(edge))
    return [
        column_lineage_dataset.InputField(namespace, name, field, how)
        for (namespace, name, field), how in transformations.items()
    ]


def _transformation(edge: Edge) -> column_lineage_dataset.Transformation:
    return column_lineage_dataset.Transformation(
        type="DIRECT" if edge.subtype.is_direct else "INDIRECT",
        subtype=edge.subtype.value,
        masking=edge.masking,
    )
