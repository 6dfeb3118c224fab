# SPDX-License-Identifier: Apache-2.0
"""Transitive closure and longest chains of a directed graph, which may have cycles.

The searches are those of `graph_search`, in table functions: each has all edges in its memory, some 200 bytes per edge.
"""

import gc
from collections.abc import Hashable, Iterable, Iterator
from functools import cached_property, reduce
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, IntegerType, StructType

from jobs.spark.transformations.graph_search import longest_chains as chains_of
from jobs.spark.transformations.graph_search import reached


class _Search:
    """Table function over the edges of a graph, then the nodes that are asked for.

    What a call returns is in memory as a whole, in Python and in the JVM: one call per node keeps that small.
    """

    def __init__(self) -> None:
        # The graph has no cycles of objects, and each collection would visit all of it.
        gc.disable()
        self._links: dict[Hashable, set[Hashable]] = {}

    def eval(self, row: Row) -> Iterator[tuple[object, ...]]:
        """Add an edge, or yield what is found for a node."""
        if row["is_asked"]:
            yield from self.found(row["source"])
        else:
            self._links.setdefault(row["source"], set()).add(row["target"])

    def terminate(self) -> Iterable[tuple[object, ...]]:
        """Return no more rows."""
        gc.enable()
        return ()

    def found(self, node: Hashable) -> Iterable[tuple[object, ...]]:
        """Return the rows for a node, once all edges are known."""
        raise NotImplementedError


class _Closure(_Search):
    """Search from each node."""

    def found(self, node: Hashable) -> Iterable[tuple[object, ...]]:
        """Return the pairs with the nodes that are reached."""
        return ((node, target, steps) for target, steps in reached(self._links, node).items())


class _Chains(_Search):
    """Search in the whole graph."""

    def found(self, node: Hashable) -> Iterable[tuple[object, ...]]:
        """Return the chain that ends at a node; none for those in a cycle that another one names."""
        chain = self._chains.get(node)
        return () if chain is None else ((node, chain),)

    @cached_property
    def _chains(self) -> dict[Hashable, tuple[Hashable, ...]]:
        return chains_of(self._links)


def closure(edges: DataFrame, partitions: int) -> DataFrame:
    """Return every pair of nodes with a path between them, a node of a cycle with itself included.

    Args:
        edges: `source` and `target`, nodes of any comparable type.
        partitions: number of partitions of the sources; each has a copy of the edges.

    Returns:
        `source`, `target`, `steps` (edges of the shortest path).
    """
    copies = edges.sparkSession.range(partitions).select(F.col("id").cast("int").alias("partition"))
    given = _edges(edges).crossJoin(F.broadcast(copies))
    own = F.pmod(F.xxhash64("source"), F.lit(partitions)).cast("int").alias("partition")
    starts = _asked(edges, "source").select("*", own)
    node = edges.schema["source"].dataType
    made = StructType().add("source", node).add("target", node).add("steps", IntegerType())
    search: Any = F.udtf(_Closure, returnType=made, useArrow=False)
    # `partitionBy` of the table function would put these partitions into tasks by their hash, several in one.
    rows = given.unionByName(starts).repartitionById(partitions, "partition").sortWithinPartitions("is_asked")
    pairs: DataFrame = search(rows.asTable())
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
    rows = _edges(edges).unionByName(_asked(edges, "source", "target")).asTable()
    chains: DataFrame = search(rows.withSinglePartition().orderBy("is_asked"))
    return chains


def _edges(edges: DataFrame) -> DataFrame:
    return edges.select("source", "target", F.lit(False).alias("is_asked"))


def _asked(edges: DataFrame, *roles: str) -> DataFrame:
    """Return the nodes that have one of the roles in an edge."""
    nodes = [edges.select(F.col(role).alias("source")) for role in roles]
    every = reduce(DataFrame.unionByName, nodes).distinct()
    return every.select(
        "source", F.lit(None).cast(edges.schema["target"].dataType).alias("target"), F.lit(True).alias("is_asked")
    )
