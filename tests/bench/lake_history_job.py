# SPDX-License-Identifier: Apache-2.0
"""Driver of `tests.bench.lake_history`.

`python -m tests.bench.lake_history_job MASTER CORES graph|reach|chains FOLDER SIZE`

Prints `{"seconds": s}`: the time of the work alone, without that of starting Spark.
"""

import json
import os
import sys
import time

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.spark.lineage_history import graph_partitions
from jobs.spark.transformations.lineage_graph import graph_rows
from jobs.spark.transformations.lineage_reach import column_reach, dataset_chains

LAYERS = 10
DOMAIN = 10
"""Columns of a domain in each layer. A column has two inputs in the layer before it, of its own domain."""

INPUTS_PER_JOB = 2


def column_edges(spark: SparkSession, size: int) -> DataFrame:
    """Return `size` edges between columns, in layers, with the columns of `lake.lineage.column_edges`."""
    width = size // (2 * (LAYERS - 1)) // DOMAIN * DOMAIN
    number = F.col("id") % width
    layer = (F.col("id") / width).cast("long") % (LAYERS - 1)
    which = (F.col("id") / (width * (LAYERS - 1))).cast("long")
    source = number - number % DOMAIN + F.pmod(F.xxhash64(number, layer, which), F.lit(DOMAIN))
    return spark.range(2 * width * (LAYERS - 1)).select(
        F.lit("s3://warehouse").alias("output_namespace"),
        F.concat(F.lit("layer_"), layer + 1, F.lit("/domain_"), (number / DOMAIN).cast("long")).alias("output_name"),
        F.concat(F.lit("column_"), number % DOMAIN).alias("output_field"),
        F.lit("s3://warehouse").alias("input_namespace"),
        F.concat(F.lit("layer_"), layer, F.lit("/domain_"), (source / DOMAIN).cast("long")).alias("input_name"),
        F.concat(F.lit("column_"), source % DOMAIN).alias("input_field"),
    )


def dataset_edges(spark: SparkSession, size: int) -> DataFrame:
    """Return `size` edges between jobs and datasets, in layers, as `lake.lineage.edges` has them."""
    jobs = spark.range(size // (INPUTS_PER_JOB + 1))
    width = max(1, size // (INPUTS_PER_JOB + 1) // (LAYERS - 1))
    layer, number = (F.col("id") / width).cast("long"), F.col("id") % width

    def edge(direction: str, at: Column, place: Column) -> DataFrame:
        return jobs.select(
            F.lit("bench").alias("job_namespace"),
            F.concat(F.lit("job_"), "id").alias("job_name"),
            F.lit(direction).alias("direction"),
            F.lit("s3://warehouse").alias("dataset_namespace"),
            F.concat(F.lit("layer_"), at, F.lit("/table_"), place).alias("dataset_name"),
        )

    inputs = [edge("input", layer, F.pmod(F.xxhash64(number, F.lit(which)), F.lit(width))) for which in (0, 1)]
    return edge("output", layer + 1, number).unionByName(inputs[0]).unionByName(inputs[1])


def work(spark: SparkSession, kind: str, folder: str, size: int) -> DataFrame:
    """Return the frame to compute."""
    if kind == "graph":
        return graph_rows(spark.read.parquet(folder), graph_partitions(spark, size))
    if kind == "reach":
        return column_reach(column_edges(spark, size), spark.sparkContext.defaultParallelism)
    return dataset_chains(dataset_edges(spark, size))


def main() -> None:
    """Compute it and print its figures."""
    master, cores, kind, folder, size = sys.argv[1:]
    if hasattr(os, "sched_setaffinity"):  # not on macOS; inherited by Spark's processes
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(cores)])
    spark = SparkSession.builder.master(master).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.range(1000).selectExpr("sum(id)").collect()  # starts executors and compiles the first classes
    began = time.monotonic()
    frame = work(spark, kind, folder, int(size))
    frame.write.format("noop").mode("overwrite").save()
    seconds = time.monotonic() - began
    print(json.dumps({"seconds": seconds}))
    spark.stop()


if __name__ == "__main__":
    main()
