# SPDX-License-Identifier: Apache-2.0
"""Reads frames from Spark: the JSON of their plans, and which dataset each leaf is."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from lineagelab_spark import datasets
from lineagelab_spark.datasets import Source
from lineagelab_spark.description import Sink
from lineagelab_spark.java import JavaObject

_ROWS = "LogicalRDD"
_IDENTITY = re.compile(r"#\d+")


@dataclass(frozen=True)
class ReadPlan:
    """A plan as it was read.

    Attributes:
        text: its JSON.
        sources: what each of its leaves reads, in the order of `collectLeaves()`.
        batch: the ordinals of the leaves that are the rows of a micro-batch.
    """

    text: str
    sources: tuple[Source, ...]
    batch: frozenset[int] = frozenset()


def read(frame: DataFrame, batch: DataFrame | None = None) -> ReadPlan:
    """The analysed plan of a frame. It never changes, so that it may be read while Spark runs the frame.

    Args:
        frame: batch or streaming.
        batch: the micro-batch that the frame was made in.
    """
    plan = _without_lists(frame.sparkSession, analysed(frame))
    leaves = _leaves(plan)
    known = _rows_of(_leaves(analysed(batch))) if batch is not None else set()
    own = frozenset(ordinal for ordinal, leaf in enumerate(leaves) if known & _rows_of([leaf]))
    sources = tuple(Source() if ordinal in own else datasets.of_leaf(leaf) for ordinal, leaf in enumerate(leaves))
    return ReadPlan(str(plan.toJSON()), sources, own)


def analysed(frame: DataFrame) -> JavaObject:
    """The analysed plan of a frame."""
    return frame._jdf.queryExecution().analyzed()


def _without_lists(spark: SparkSession, plan: JavaObject) -> JavaObject:
    """The plan with long lists of literals as sets, which its JSON leaves out.

    Spark writes a list in a time that grows with its square: 10,000 values of `isin` take 2.4 s, and 8 ms so.
    """
    jvm: JavaObject = spark._jvm
    return jvm.org.apache.spark.sql.catalyst.optimizer.OptimizeIn.apply(plan)


def _leaves(plan: JavaObject) -> list[JavaObject]:
    leaves = plan.collectLeaves()
    return [leaves.apply(ordinal) for ordinal in range(leaves.size())]


def _rows_of(leaves: Collection[JavaObject]) -> set[int]:
    """The ids of the RDDs behind leaves. They stay where a join gives the leaf's attributes other identities."""
    return {leaf.rdd().id() for leaf in leaves if leaf.getClass().getSimpleName() == _ROWS}


def likeness(frame: DataFrame) -> int:
    """Equal for frames whose plans differ only in identities, which Spark gives anew in each micro-batch.

    It takes 0.5 ms where reading the plan takes 25 ms. But Spark abridges lists of more than 25 columns, so that
    seldom two plans that differ are alike.
    """
    plan = analysed(frame)
    numbers: dict[str, str] = {}
    text = _IDENTITY.sub(lambda found: numbers.setdefault(found[0], f"#{len(numbers)}"), plan.treeString())
    return hash((text, plan.schema().json()))


def sink(spark: SparkSession, table: str) -> Sink:
    """The dataset and the columns that a table has now.

    Raises:
        ValueError: it is no table that has a dataset name.
    """
    frame = spark.table(table)
    (leaf,) = _leaves(analysed(frame))
    source = datasets.of_leaf(leaf)
    if not source.datasets:
        raise ValueError(f"cannot name the dataset that is written: it is {source.unnamed}")
    return Sink(source.datasets[0], [(f.name, f.dataType.simpleString()) for f in frame.schema.fields])


def iceberg_table(spark: SparkSession, name: str) -> JavaObject:
    """Iceberg's own view of a table, as the session last saw it: a session sees its own commits at once."""
    (leaf,) = _leaves(analysed(spark.table(name)))
    return leaf.table().table()
