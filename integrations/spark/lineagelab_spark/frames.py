# SPDX-License-Identifier: Apache-2.0
"""Access to frames in the JVM: JSON of their plans, and the dataset of each leaf."""

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
class FramePlan:
    """Analysed plan of a frame, as JSON.

    Attributes:
        text: the plan's JSON.
        sources: source of each leaf, in the order of `PlanColumns.leaves`.
        batch: ordinals of the leaves that are the rows of a micro-batch.
    """

    text: str
    sources: tuple[Source, ...]
    batch: frozenset[int] = frozenset()


def read(frame: DataFrame, batch: DataFrame | None = None) -> FramePlan:
    """Read the analysed plan of a frame; it is immutable, so it can be read while Spark runs the frame.

    Args:
        frame: batch or streaming.
        batch: micro-batch in which the frame was created.
    """
    plan = _without_lists(frame.sparkSession, analysed(frame))
    leaves = _leaves(plan)
    known = _rows_of(_leaves(analysed(batch))) if batch is not None else set()
    own = frozenset(ordinal for ordinal, leaf in enumerate(leaves) if known & _rows_of([leaf]))
    sources = tuple(Source() if ordinal in own else datasets.of_leaf(leaf) for ordinal, leaf in enumerate(leaves))
    return FramePlan(str(plan.toJSON()), sources, own)


def analysed(frame: DataFrame) -> JavaObject:
    """Return the analysed plan of a frame."""
    return frame._jdf.queryExecution().analyzed()


def _without_lists(spark: SparkSession, plan: JavaObject) -> JavaObject:
    """Replace long lists of literals by sets, which the plan's JSON omits.

    Spark serialises lists in quadratic time: 10,000 values of `isin` take 2.4 s as a list and 8 ms as a set.
    """
    jvm: JavaObject = spark._jvm
    return jvm.org.apache.spark.sql.catalyst.optimizer.OptimizeIn.apply(plan)


def _leaves(plan: JavaObject) -> list[JavaObject]:
    """Return the leaves of a plan, also those of subqueries, in the order of `PlanColumns.leaves`."""
    if not _has_subqueries(plan):
        leaves = plan.collectLeaves()
        return [leaves.apply(ordinal) for ordinal in range(leaves.size())]
    children, subqueries = _items(plan.children()), _items(plan.subqueries())
    own = [leaf for child in children for leaf in _leaves(child)] if children else [plan]
    return own + [leaf for subquery in subqueries for leaf in _leaves(subquery)]


def _has_subqueries(plan: JavaObject) -> bool:
    return bool(plan.subqueriesAll().nonEmpty())


def _items(sequence: JavaObject) -> list[JavaObject]:
    return [sequence.apply(place) for place in range(sequence.size())]


def _rows_of(leaves: Collection[JavaObject]) -> set[int]:
    """Return the RDD ids of leaves: they are stable when a join gives the leaf's attributes new ids."""
    return {leaf.rdd().id() for leaf in leaves if leaf.getClass().getSimpleName() == _ROWS}


def fingerprint(frame: DataFrame) -> int:
    """Return a hash of the plan without expression ids, which differ in each micro-batch.

    It takes 0.5 ms; reading the plan takes 25 ms. Spark truncates lists of more than 25 columns, so different plans
    can, rarely, have the same fingerprint.
    """
    plan = analysed(frame)
    numbers: dict[str, str] = {}
    text = _IDENTITY.sub(lambda found: numbers.setdefault(found[0], f"#{len(numbers)}"), plan.treeString())
    return hash((text, plan.schema().json()))


def sink(spark: SparkSession, table: str) -> Sink:
    """Return the dataset and current columns of a table.

    Raises:
        ValueError: the table has no dataset name.
    """
    frame = spark.table(table)
    (leaf,) = _leaves(analysed(frame))
    source = datasets.of_leaf(leaf)
    if not source.datasets:
        raise ValueError(f"cannot name the dataset that is written: {source.unnamed}")
    return Sink(source.datasets[0], [(f.name, f.dataType.simpleString()) for f in frame.schema.fields])


def iceberg_table(spark: SparkSession, name: str) -> JavaObject:
    """Return the Iceberg `Table` as cached by the session, which sees its own commits immediately."""
    (leaf,) = _leaves(analysed(spark.table(name)))
    return leaf.table().table()
