# SPDX-License-Identifier: Apache-2.0
"""Lineage as OpenLineage speaks of it: datasets with their facets, and events about jobs. Pure."""

from collections.abc import Collection, Iterable, Sequence
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
from openlineage.client.facet_v2 import lineage as lineage_facet

from lineagelab_spark import description
from lineagelab_spark.datasets import Dataset, Source
from lineagelab_spark.description import ColumnEdge, Description, Output, Sink, Write
from lineagelab_spark.plan import PlanLineage

PRODUCER = "urn:lineage-lab:jobs:spark"
set_producer(PRODUCER)

INTEGRATION = "SPARK"
JOB_TYPE = "SQL_JOB"
"""As OpenLineage's Spark agent calls a job that is a plan of Spark SQL's."""


@dataclass(frozen=True)
class Datasets:
    """The complete inputs and outputs of a job, with schemas and column lineage."""

    inputs: list[InputDataset]
    outputs: list[OutputDataset]


def job_name(application: str, command: str, table: str) -> str:
    """The name that OpenLineage's Spark agent gives to a write, so that both speak of the same job.

    `orders_etl`, `append_data`, `lake.sales.orders` make `orders_etl.append_data.lake_sales_orders`.
    """
    return f"{application}.{command}.{table.replace('.', '_')}"


def describe(lineage: PlanLineage, sources: Sequence[Sequence[Dataset]], sink: Sink, *, complete: bool) -> Datasets:
    """What one plan reads and what the sink gets from it.

    Args:
        lineage: of the frame that is written.
        sources: the datasets of each leaf of its plan.
        sink: where the frame goes; columns meet by name, in whatever case, and are named as the sink names them.
        complete: False leaves the column lineage out: a part of it would read as all of it.
    """
    unnamed = "" if complete else "what is said to be incomplete"
    named = tuple(Source(tuple(read), unnamed) for read in sources)
    return datasets(description.describe([Write(lineage, named, sink)]))


def datasets(described: Description) -> Datasets:
    """A description in OpenLineage's form."""
    return Datasets(
        [
            InputDataset(dataset.namespace, dataset.name, facets={"schema": _schema(fields)} if fields else {})
            for dataset, fields in sorted(described.inputs.items())
        ],
        [_output(dataset, output) for dataset, output in described.outputs.items()],
    )


def pairs(described: Description) -> lineage_facet.LineageJobFacet:
    """Which input reaches which output, where lists of both alone would say that all reach all."""
    return lineage_facet.LineageJobFacet(
        entries=[_entry(dataset, output) for dataset, output in described.outputs.items()]
    )


def job_event(namespace: str, name: str, processing: str, datasets: Datasets) -> JobEvent:
    """An event about the job itself, whichever run: BATCH or STREAMING is `processing`."""
    kind = job_type_job.JobTypeJobFacet(processingType=processing, integration=INTEGRATION, jobType=JOB_TYPE)
    facets: dict[str, JobFacet] = {"jobType": kind}
    return JobEvent(
        eventTime=datetime.now(UTC).isoformat(timespec="milliseconds"),
        job=Job(namespace, name, facets=facets),
        inputs=datasets.inputs,
        outputs=datasets.outputs,
    )


def _output(dataset: Dataset, output: Output) -> OutputDataset:
    facets: dict[str, DatasetFacet] = {"schema": _schema(output.fields)}
    if output.columns is not None:
        facets["columnLineage"] = column_lineage_dataset.ColumnLineageDatasetFacet(
            fields={
                column: column_lineage_dataset.Fields(inputFields=_input_fields(edges))
                for column, edges in output.columns.items()
            },
            dataset=_input_fields(output.rows),
        )
    return OutputDataset(dataset.namespace, dataset.name, facets=facets)


def _schema(fields: dict[str, str]) -> schema_dataset.SchemaDatasetFacet:
    return schema_dataset.SchemaDatasetFacet(
        fields=[
            schema_dataset.SchemaDatasetFacetFields(name=name, type=kind, fields=None) for name, kind in fields.items()
        ]
    )


_ColumnName = tuple[Dataset, str]


def _by_column(edges: Iterable[ColumnEdge]) -> dict[_ColumnName, list[ColumnEdge]]:
    found: dict[_ColumnName, list[ColumnEdge]] = {}
    for edge in sorted(edges):
        found.setdefault((edge.dataset, edge.column), []).append(edge)
    return found


def _input_fields(edges: Iterable[ColumnEdge]) -> list[column_lineage_dataset.InputField]:
    return [
        column_lineage_dataset.InputField(
            dataset.namespace,
            dataset.name,
            column,
            [
                column_lineage_dataset.Transformation(
                    type=_type(edge), subtype=edge.subtype.value, masking=edge.masking
                )
                for edge in same
            ],
        )
        for (dataset, column), same in _by_column(edges).items()
    ]


def _entry(dataset: Dataset, output: Output) -> lineage_facet.LineageDatasetEntry:
    columns = output.columns or {}
    return lineage_facet.LineageDatasetEntry(
        dataset.namespace,
        dataset.name,
        "DATASET",
        inputs=[*_whole(output.inputs), *_fields(output.rows)],
        fields={column: lineage_facet.LineageFieldEntry(_fields(edges)) for column, edges in columns.items()},
    )


def _whole(inputs: Collection[Dataset]) -> list[lineage_facet.LineageInput]:
    return [lineage_facet.LineageDatasetInput(read.namespace, read.name, "DATASET") for read in sorted(inputs)]


def _fields(edges: Iterable[ColumnEdge]) -> list[lineage_facet.LineageInput]:
    return [
        lineage_facet.LineageDatasetInput(
            dataset.namespace,
            dataset.name,
            "DATASET",
            column,
            [
                lineage_facet.LineageTransformation(type=_type(edge), subtype=edge.subtype.value, masking=edge.masking)
                for edge in same
            ],
        )
        for (dataset, column), same in _by_column(edges).items()
    ]


def _type(edge: ColumnEdge) -> str:
    return "DIRECT" if edge.subtype.is_direct else "INDIRECT"
