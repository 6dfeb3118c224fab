# SPDX-License-Identifier: Apache-2.0
"""Transitive closure and longest chains in Spark, which are the searches of `graph_search` over its rows."""

import pytest
from pyspark.sql import functions as F

from jobs.spark.transformations.graph_reach import closure, longest_chains
from jobs.spark.transformations.graph_search import longest_chains as chains_of
from jobs.spark.transformations.graph_search import reached
from tests.unit.spark.test_spark_graph_search import links_of, random_edges


@pytest.mark.parametrize("partitions", [1, 3])
def test_the_closure_is_that_of_a_search(spark, partitions):
    edges = random_edges(0)
    rows = closure(spark.createDataFrame(edges, "source long, target long"), partitions).collect()
    links = links_of(edges)
    expected = {(a, b, steps) for a in links for b, steps in reached(links, a).items()}
    assert len(rows) == len(expected)
    assert {tuple(row) for row in rows} == expected


def test_each_partition_of_the_closure_is_a_task(spark):
    """The session has one shuffle partition."""
    rows = closure(spark.createDataFrame(random_edges(0), "source long, target long"), 4)
    assert rows.select(F.spark_partition_id().alias("task")).distinct().count() == 4


def test_chains_are_those_of_a_search(spark):
    edges = random_edges(2)
    rows = longest_chains(spark.createDataFrame(edges, "source long, target long")).collect()
    assert {row["node"]: tuple(row["chain"]) for row in rows} == chains_of(links_of(edges))


def test_nodes_may_be_structs(spark):
    schema = "source struct<kind: string, name: string>, target struct<kind: string, name: string>"
    edges = spark.createDataFrame([(("job", "a"), ("dataset", "b")), (("dataset", "b"), ("job", "c"))], schema)
    chains = {row["node"]["name"]: [node["name"] for node in row["chain"]] for row in longest_chains(edges).collect()}
    assert chains == {"a": ["a"], "b": ["a", "b"], "c": ["a", "b", "c"]}
    assert closure(edges, 2).count() == 3
