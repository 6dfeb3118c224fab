# SPDX-License-Identifier: Apache-2.0
"""OpenLineage form of a Spark job's inputs and outputs, and its job events. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lineagelab_common.events import Json, dataset_json, lineage_entry
from lineagelab_common.identifiers import now
from lineagelab_spark import description
from lineagelab_spark.datasets import Dataset, Source
from lineagelab_spark.description import Description, Output, Sink, Write
from lineagelab_spark.plan import PlanLineage
from lineagelab_spark.producer import WRITER

INTEGRATION = "SPARK"
JOB_TYPE = "SQL_JOB"
"""Job type that OpenLineage's Spark agent uses for Spark SQL plans."""

WRITTEN_NULLS = "lineageLab_writtenNulls"
"""Facet of an output: `rowCount`, the rows that the run has written, and `columns`, their nulls by column."""

_WRITTEN_NULLS_SCHEMA = "urn:lineage-lab:schemas:WrittenNullsOutputDatasetFacet:1"


@dataclass(frozen=True)
class Datasets:
    """Complete inputs and outputs of a job, with schemas and column lineage."""

    inputs: list[Json]
    outputs: list[Json]


def job_name(application: str, command: str, table: str) -> str:
    """Return the job name that OpenLineage's Spark agent uses for a write, so that both report the same job.

    `orders_etl`, `append_data`, `lake.sales.orders` make `orders_etl.append_data.lake_sales_orders`.
    """
    return f"{application}.{command}.{table.replace('.', '_')}"


def describe(lineage: PlanLineage, sources: Sequence[Sequence[Dataset]], sink: Sink, *, complete: bool) -> Datasets:
    """Return the inputs and the output of one plan.

    Args:
        lineage: lineage of the frame that is written.
        sources: datasets of each leaf of its plan.
        sink: table to write to; columns match by name, ignoring case, and get the sink's spelling.
        complete: False marks every column with edges as unknown.
    """
    unnamed = "" if complete else "a source without a dataset name"
    named = tuple(Source(tuple(read), unnamed) for read in sources)
    return datasets(description.describe([Write(lineage, named, sink)]))


def datasets(described: Description) -> Datasets:
    """Return a description in OpenLineage's form."""
    return Datasets(
        [
            dataset_json(dataset, _dataset_facets(dataset, fields))
            for dataset, fields in sorted(described.inputs.items())
        ],
        [dataset_json(dataset, _output_facets(dataset, output)) for dataset, output in described.outputs.items()],
    )


def job_lineage(described: Description) -> Json:
    """Return the job facet with the inputs of each output: plain lists imply all pairs."""
    return WRITER.job_lineage(
        lineage_entry(dataset, output.inputs, output.known, output.rows)
        for dataset, output in described.outputs.items()
    )


def job_event(namespace: str, name: str, processing: str, datasets: Datasets) -> Json:
    """Return an event about a job; `processing` is BATCH or STREAMING."""
    job = {"namespace": namespace, "name": name, "facets": {"jobType": job_type(processing)}}
    return WRITER.job_event(now(), job, datasets.inputs, datasets.outputs)


def job_type(processing: str, **more: object) -> Json:
    """Return the `jobType` facet of a job that is BATCH or STREAMING."""
    return WRITER.facet("jobType", processingType=processing, integration=INTEGRATION, jobType=JOB_TYPE, **more)


def with_output_statistics(
    output: Json, rows: int | None, size: int | None = None, nulls: Mapping[str, int] | None = None
) -> Json:
    """Return an output with what was written: rows, bytes, nulls by column; unchanged if the rows are not known."""
    if rows is None:
        return output
    facets = {"outputStatistics": WRITER.facet("outputStatistics", rowCount=rows, size=size)}
    if nulls:
        facets[WRITTEN_NULLS] = WRITER.facet(_WRITTEN_NULLS_SCHEMA, rowCount=rows, columns=dict(nulls))
    return {**output, "outputFacets": facets}


def _dataset_facets(dataset: Dataset, fields: Mapping[str, str]) -> Json:
    facets = {"schema": WRITER.schema(fields)} if fields else {}
    if dataset.alias:
        namespace = dataset.alias_namespace or dataset.namespace
        symlink = {"namespace": namespace, "name": dataset.alias, "type": "TABLE"}
        facets["symlinks"] = WRITER.facet("symlinks", identifiers=[symlink])
    return facets


def _output_facets(dataset: Dataset, output: Output) -> Json:
    facets = {"schema": WRITER.schema(output.fields)} | _dataset_facets(dataset, output.fields)
    if output.columns is not None:
        facets["columnLineage"] = _column_lineage(output)
    return facets


def _column_lineage(output: Output) -> Json:
    """Return the facet with unknown columns in custom fields, as the lab's other integrations write them."""
    lineage = WRITER.column_lineage(output.known, output.rows)
    if output.unknown or output.reasons:
        lineage["unknownFields"] = sorted(output.unknown)
        by_column = {f"{column}: {reason}" for column, reasons in output.unknown.items() for reason in reasons}
        named = {reason for reasons in output.unknown.values() for reason in reasons}
        lineage["unknownBecause"] = sorted(by_column | {f"rows: {reason}" for reason in output.reasons - named})
    return lineage
