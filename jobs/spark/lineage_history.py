# SPDX-License-Identifier: Apache-2.0
"""Batch job: lineage graph and reliability of jobs, by the events in the lake. `python -m jobs.spark.lineage_history`.

It is idempotent. The graph equals that of the lineage service as of the same time; what the service knows of events
that were compacted before the history began is missing.

Environment: `LINEAGE_HISTORY_AT` (time of the graph, such as `2026-11-27T08:00:00Z`; default: now), `LINEAGE_URL`
(optional), and that of `jobs.spark.runtime`.
"""

import os
import time

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from infra.namespaces import JOB_LINEAGE_HISTORY, TABLE_LINEAGE_EVENTS, qualified_table_name
from jobs.spark import runtime, tables
from jobs.spark.runtime import SettingError
from jobs.spark.tables import Table
from jobs.spark.transformations.job_reliability import job_reliability
from jobs.spark.transformations.lineage_graph import graph_rows
from jobs.spark.transformations.lineage_reach import column_reach, dataset_chains
from lineage.events.timestamps import parse_time
from lineagelab_spark import Lineage

EVENTS_PER_PARTITION = 20_000
"""Events whose records are in the memory of one Python worker at a time: some 100 MB."""

_NODE = "struct<namespace: string, name: string, field: string>"
_EDGE = f"struct<job: {_NODE}, direction: string, dataset: {_NODE}>"
_COLUMN_EDGE = f"struct<job: {_NODE}, output: {_NODE}, input: {_NODE}, type: string, subtype: string, masking: boolean>"


def load(spark: SparkSession, at: int) -> None:
    """Write the tables from the events of time `at` (ns) and before."""
    events = spark.table(qualified_table_name(TABLE_LINEAGE_EVENTS)).where(F.col("effective_ns") <= at)
    rows = graph_rows(events, graph_partitions(spark, events.count())).persist()
    edges = _parsed(rows, ["edges"], _EDGE).select(*_names("job"), "direction", *_names("dataset"))
    columns = _parsed(rows, ["columns", "datasetColumns"], _COLUMN_EDGE).select(
        *_names("job"),
        *(column for role in ("output", "input") for column in (*_names(role), _field(role))),
        *("type", "subtype", "masking"),
    )
    _write(spark, edges, tables.lineage_edges())
    _write(spark, columns, tables.lineage_column_edges())
    tasks = spark.sparkContext.defaultParallelism
    reach = column_reach(spark.table(tables.lineage_column_edges().name), tasks)
    _write(spark, reach, tables.lineage_column_reach())
    _write(spark, dataset_chains(spark.table(tables.lineage_edges().name)), tables.lineage_chains())
    _write(spark, events.transform(job_reliability), tables.lineage_job_reliability())


def graph_partitions(spark: SparkSession, events: int) -> int:
    """Return the number of partitions in which a number of events is folded: at least one per core."""
    return max(events // EVENTS_PER_PARTITION + 1, spark.sparkContext.defaultParallelism)


def _parsed(rows: DataFrame, kinds: list[str], schema: str) -> DataFrame:
    return rows.where(F.col("kind").isin(*kinds)).select(F.from_json("content", schema).alias("row")).select("row.*")


def _names(role: str) -> tuple[Column, Column]:
    return F.col(f"{role}.namespace").alias(f"{role}_namespace"), F.col(f"{role}.name").alias(f"{role}_name")


def _field(role: str) -> Column:
    return F.col(f"{role}.field").alias(f"{role}_field")


def _write(spark: SparkSession, frame: DataFrame, table: Table) -> None:
    table.create(spark)
    frame.writeTo(table.name).overwrite(F.lit(True))


def time_of_graph() -> int:
    """Return the time of the graph, ns.

    Raises:
        SettingError: the variable has none.
    """
    text = os.environ.get("LINEAGE_HISTORY_AT", "")
    if not text:
        return time.time_ns()
    try:
        return parse_time(text)
    except ValueError as error:
        raise SettingError(f"environment variable LINEAGE_HISTORY_AT is {text!r}: {error}") from error


def main() -> int:
    """Run the job; return the exit code of `jobs.spark.runtime.run`."""

    def prepare() -> runtime.Body:
        at = time_of_graph()

        def body(spark: SparkSession, _: Lineage) -> None:
            load(spark, at)

        return body

    return runtime.run(JOB_LINEAGE_HISTORY, prepare)


if __name__ == "__main__":
    raise SystemExit(main())
