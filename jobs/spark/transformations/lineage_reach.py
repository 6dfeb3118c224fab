# SPDX-License-Identifier: Apache-2.0
"""Columns that depend on each other over any number of jobs, and the longest chain of jobs to each dataset."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from jobs.spark.transformations.graph_reach import closure, longest_chains


class AmbiguousNodesError(Exception):
    """Two columns have the same hash, by which the search knows them."""


def column_reach(column_edges: DataFrame, partitions: int) -> DataFrame:
    """Return every pair of columns of which one depends on the other.

    Args:
        column_edges: as in `lake.lineage.column_edges`; edges without a column on one side are ignored.
        partitions: see `closure`.

    Returns:
        `output_namespace`, `output_name`, `output_field`, `input_namespace`, `input_name`, `input_field`, `jobs`
        (number of jobs on the shortest way from input to output).

    Raises:
        AmbiguousNodesError: improbable: for a million columns 1 in 37 million.
    """
    edges = column_edges.where("input_field IS NOT NULL AND output_field IS NOT NULL").select(
        _column("input").alias("input"), _column("output").alias("output")
    )
    sources, targets = (edges.select(F.col(role).alias("column")) for role in ("input", "output"))
    nodes = sources.unionByName(targets).distinct().withColumn("id", F.xxhash64("column"))
    counted = nodes.agg(F.count("*"), F.count_distinct("id")).first()
    if counted is not None and counted[0] != counted[1]:
        raise AmbiguousNodesError(f"{counted[0]} columns have {counted[1]} different hashes")
    # Numbers instead of names: the closure is many times as large as the graph.
    pairs = closure(edges.select(F.xxhash64("input").alias("source"), F.xxhash64("output").alias("target")), partitions)
    outputs, inputs = (nodes.select(F.col("column").alias(role), F.col("id").alias(f"{role}_id")) for role in _ROLES)
    return (
        pairs.join(outputs, F.col("target") == F.col("output_id"))
        .join(inputs, F.col("source") == F.col("input_id"))
        .select(
            *(F.col(f"{role}.{part}").alias(f"{role}_{part}") for role in _ROLES for part in _PARTS),
            F.col("steps").alias("jobs"),
        )
    )


def dataset_chains(edges: DataFrame) -> DataFrame:
    """Return the longest chain of jobs that leads to each dataset that a job writes or reads.

    A job that reads the dataset that it writes is one step like any other; a cycle of several jobs is one step.

    Args:
        edges: as in `lake.lineage.edges`.

    Returns:
        `dataset_namespace`, `dataset_name`, `jobs` (number of jobs in the chain), `chain` (`kind`, `namespace` and
        `name` of datasets and jobs in turn, up to the dataset).
    """
    names = ("job_namespace", "job_name", "dataset_namespace", "dataset_name")
    written, read = (edges.where(F.col("direction") == each).select(*names).distinct() for each in ("output", "input"))
    job, dataset = _node("job"), _node("dataset")
    links = (
        read.join(written, list(names), "left_anti")
        .select(dataset.alias("source"), job.alias("target"))
        .unionByName(written.select(job.alias("source"), dataset.alias("target")))
    )
    return (
        longest_chains(links)
        .where("node.kind = 'dataset'")
        .select(
            F.col("node.namespace").alias("dataset_namespace"),
            F.col("node.name").alias("dataset_name"),
            F.size(F.filter("chain", lambda node: node["kind"] == "job")).alias("jobs"),
            "chain",
        )
    )


_ROLES = ("output", "input")
_PARTS = ("namespace", "name", "field")


def _column(role: str) -> Column:
    return F.struct(*(F.col(f"{role}_{part}").alias(part) for part in _PARTS))


def _node(kind: str) -> Column:
    parts = (F.col(f"{kind}_{part}").alias(part) for part in ("namespace", "name"))
    return F.struct(F.lit(kind).alias("kind"), *parts)
