# SPDX-License-Identifier: Apache-2.0
"""Transitive closure and longest chains of a directed graph, which may have cycles.

The searches are those of `graph_search`, in table functions: each has all edges in its memory, some 200 bytes per edge.
"""

from collections.abc import Iterator
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, IntegerType, StructType

from jobs.spark.transformations.graph_search import longest_chains as chains_of
from jobs.spark.transformations.graph_search import reached


class _Search:
    """Table function over edges: takes all of them before it starts."""

    def __init__(self) -> None:
        self._links: dict[Any, set[Any]] = {}

    def add(self, row: Row) -> None:
        """Add an edge."""
        self._links.setdefault(row["source"], set()).add(row["target"])


class _Closure(_Search):
    """Searches from each of the partition's own nodes."""

    def __init__(self) -> None:
        super().__init__()
        self._starts: set[Any] = set()

    def eval(self, row: Row) -> None:
        """Add an edge."""
        self.add(row)
        if row["is_own"]:
            self._starts.add(row["source"])

    def terminate(self) -> Iterator[tuple[Any, Any, int]]:
        """Yield the pairs."""
        for start in self._starts:
            for target, steps in reached(self._links, start).items():
                yield start, target, steps


class _Chains(_Search):
    """Searches the whole graph."""

    def eval(self, row: Row) -> None:
        """Add an edge."""
        self.add(row)

    def terminate(self) -> Iterator[tuple[Any, tuple[Any, ...]]]:
        """Yield the chains."""
        yield from chains_of(self._links).items()


def closure(edges: DataFrame, partitions: int) -> DataFrame:
    """Return every pair of nodes with a path between them, a node of a cycle with itself included.

    Args:
        edges: `source` and `target`, nodes of any comparable type.
        partitions: number of partitions of the sources; each has a copy of the edges.

    Returns:
        `source`, `target`, `steps` (edges of the shortest path).
    """
    copies = edges.sparkSession.range(partitions).select(F.col("id").alias("partition"))
    is_own = F.pmod(F.xxhash64("source"), F.lit(partitions)) == F.col("partition")
    given = edges.select("source", "target").crossJoin(F.broadcast(copies)).withColumn("is_own", is_own)
    node = edges.schema["source"].dataType
    made = StructType().add("source", node).add("target", node).add("steps", IntegerType())
    search: Any = F.udtf(_Closure, returnType=made, useArrow=False)
    pairs: DataFrame = search(given.asTable().partitionBy("partition"))
    return pairs


def longest_chains(edges: DataFrame) -> DataFrame:
    """Return the longest chain of nodes that ends at each node; a cycle is one step, named by its smallest node.

    The search runs in one task: each step needs the ones before it.

    Args:
        edges: `source` and `target`, nodes of one comparable type.

    Returns:
        `node` and `chain` (nodes from the first one to `node`), for each node with an edge to or from another one. Of
        equally long chains it is the greatest one.
    """
    node = edges.schema["source"].dataType
    made = StructType().add("node", node).add("chain", ArrayType(node))
    search: Any = F.udtf(_Chains, returnType=made, useArrow=False)
    chains: DataFrame = search(edges.select("source", "target").asTable().withSinglePartition())
    return chains
