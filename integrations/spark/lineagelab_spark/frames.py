# SPDX-License-Identifier: Apache-2.0
"""Access to frames in the JVM: JSON of their plans, and the dataset of each leaf."""

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from lineagelab_spark import datasets, delta_commands
from lineagelab_spark.datasets import Source
from lineagelab_spark.description import Sink
from lineagelab_spark.java import JavaObject, items, kind_of

_ROWS = "LogicalRDD"
_NO_PROJECTIONS = '"projections":null'
_DELTA_COMMAND = f'[{{"class":"{delta_commands.PACKAGE}'
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
    return read_plan(frame.sparkSession, analysed(frame), batch)[0]


def read_plan(
    spark: SparkSession, analysed_plan: JavaObject, batch: DataFrame | None = None
) -> tuple[FramePlan, list[JavaObject]]:
    """Read an analysed plan, as `read` does that of a frame; return its leaves too, in the order of the sources."""
    plan = _without_lists(spark, analysed_plan)
    leaves = _leaves_of_write(plan)
    known = _rows_of(_leaves(analysed(batch))) if batch is not None else set()
    own = frozenset(ordinal for ordinal, leaf in enumerate(leaves) if known & _rows_of([leaf]))
    sources = tuple(Source() if ordinal in own else datasets.of_leaf(leaf) for ordinal, leaf in enumerate(leaves))
    return FramePlan(json_of(plan), sources, own), leaves


def analysed(frame: DataFrame) -> JavaObject:
    """Return the analysed plan of a frame."""
    return frame._jdf.queryExecution().analyzed()


def json_of(plan: JavaObject) -> str:
    """Return the JSON of a plan, with the projections of `unpivot`, which Spark leaves out.

    That of a command of Delta Lake is the JSON of its query.
    """
    text = str(plan.toJSON())
    if text.startswith(_DELTA_COMMAND):
        return json.dumps(delta_commands.as_query(json.loads(text)))
    if _NO_PROJECTIONS not in text:
        return text
    found = json.loads(text)
    for node, described in zip(_nodes(plan), found, strict=True):
        if described["class"].endswith(".Expand") and described["projections"] is None:
            rows = map(items, items(node.projections()))
            described["projections"] = [[json.loads(str(value.toJSON())) for value in row] for row in rows]
    return json.dumps(found)


def _nodes(plan: JavaObject) -> Iterator[JavaObject]:
    """Return the nodes of a plan in pre-order, as its JSON has them."""
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(items(node.children())))


def _without_lists(spark: SparkSession, plan: JavaObject) -> JavaObject:
    """Replace long lists of literals by sets, which the plan's JSON omits.

    Spark serialises lists in quadratic time: 10,000 values of `isin` take 2.4 s as a list and 8 ms as a set.
    """
    jvm: JavaObject = spark._jvm
    return jvm.org.apache.spark.sql.catalyst.optimizer.OptimizeIn.apply(plan)


def _leaves_of_write(plan: JavaObject) -> list[JavaObject]:
    """Return the leaves of a plan, which may be a command of Delta Lake: it has no children."""
    kind = kind_of(plan)
    if kind not in delta_commands.COMMANDS:
        return _leaves(plan)
    source = _leaves(plan.source()) if kind == delta_commands.MERGE else []
    return source + _leaves(plan.target())


def _leaves(plan: JavaObject) -> list[JavaObject]:
    """Return the leaves of a plan, also those of subqueries, in the order of `PlanColumns.leaves`."""
    if not _has_subqueries(plan):
        return items(plan.collectLeaves())
    children, subqueries = items(plan.children()), items(plan.subqueries())
    own = [leaf for child in children for leaf in _leaves(child)] if children else [plan]
    return own + [leaf for subquery in subqueries for leaf in _leaves(subquery)]


def _has_subqueries(plan: JavaObject) -> bool:
    return bool(plan.subqueriesAll().nonEmpty())


def _rows_of(leaves: Collection[JavaObject]) -> set[int]:
    """Return the RDD ids of leaves: they are stable when a join gives the leaf's attributes new ids."""
    return {leaf.rdd().id() for leaf in leaves if kind_of(leaf) == _ROWS}


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
