# SPDX-License-Identifier: Apache-2.0
"""Watermarks: a step that keeps state drops rows that are late, so that event time decides about the rows."""

from collections.abc import Callable, Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

from tests.unit.spark import lineage_dsl
from tests.unit.spark.lineage_dsl import columns, rows

Step = Callable[[DataFrame], DataFrame]


@pytest.fixture
def orders(spark: SparkSession) -> DataFrame:
    stream = spark.readStream.format("kafka").option("kafka.bootstrap.servers", "k:1").option("subscribe", "o").load()
    return stream.select("key", "partition", F.col("timestamp").alias("time")).withWatermark("time", "1 minute")


def of_time(kind: str) -> Step:
    return lambda orders: orders.groupBy("key", getattr(F, kind)("time", "5 minutes").alias("w")).count()


def of_definition(orders: DataFrame) -> DataFrame:
    orders.createOrReplaceTempView("orders")
    query = "WITH named AS (SELECT key, time FROM orders) SELECT time, count(*) FROM named GROUP BY time"
    return orders.sparkSession.sql(query)


STATEFUL: dict[str, Step] = {
    "windows": of_time("window"),
    "sessions": of_time("session_window"),
    "groups by time": lambda orders: orders.groupBy("time").count(),
    "duplicates": lambda orders: orders.dropDuplicates(["key"]),
    "duplicates of a renamed time": lambda orders: orders.selectExpr("key", "time AS t").dropDuplicates(["key"]),
    "duplicates within the watermark": lambda orders: orders.dropDuplicatesWithinWatermark(["key"]),
    "groups of distinct rows": lambda orders: orders.selectExpr("key", "time").distinct(),
    "groups of a definition": of_definition,
    "windows of windows": lambda orders: (
        orders.groupBy(F.window("time", "1 minute").alias("w"))
        .agg(F.first("key").alias("key"))
        .groupBy(F.window(F.window_time("w"), "5 minutes"))
        .agg(F.first("key"))
    ),
}

STATELESS: dict[str, Step] = {
    "projection": lambda orders: orders.select("key"),
    "filter": lambda orders: orders.where("partition > 0"),
    "groups without time": lambda orders: orders.groupBy("key").count(),
    "duplicates of rows without time": lambda orders: orders.select("key").distinct(),
    "join with a table": lambda orders: orders.join(orders.sparkSession.range(3), F.col("partition") == F.col("id")),
}


@pytest.mark.parametrize("name", STATEFUL)
def test_event_time_selects_rows(orders: DataFrame, name: str) -> None:
    assert "timestamp FILTER" in rows(lineage_dsl.of(STATEFUL[name](orders)))


@pytest.mark.parametrize("name", STATELESS)
def test_watermark_without_state_selects_no_rows(orders: DataFrame, name: str) -> None:
    assert "timestamp FILTER" not in rows(lineage_dsl.of(STATELESS[name](orders)))


class Counted(StatefulProcessor):
    """Counts rows. It is never run: only its plan is read."""

    def init(self, handle: StatefulProcessorHandle) -> None: ...

    def handleInputRows(self, key: object, rows: object, timerValues: object) -> Iterator[object]:
        yield from ()

    def close(self) -> None: ...


@pytest.mark.parametrize("event_time", ["", "at"])
def test_state_of_a_processor(orders: DataFrame, event_time: str) -> None:
    made = orders.groupBy("key").transformWithStateInPandas(
        Counted(), "k string, n int, at timestamp", "append", "eventTime", eventTimeColumnName=event_time
    )

    lineage = lineage_dsl.of(made.select("n", "at"))

    every = {f"{name} TRANSFORMATION" for name in ("key", "partition", "timestamp")}
    assert columns(lineage) == {"n": every, "at": every}
    assert "timestamp FILTER" in rows(lineage)
    assert lineage.unknown == frozenset()


def test_watermarks_of_both_sides_of_a_join(orders: DataFrame, spark: SparkSession) -> None:
    stream = spark.readStream.format("kafka").option("kafka.bootstrap.servers", "k:1").option("subscribe", "p").load()
    right = stream.selectExpr("key AS k", "timestamp AS t").withWatermark("t", "1 minute")

    made = orders.join(right, F.expr("key = k AND t BETWEEN time AND time + INTERVAL 1 HOUR"))

    assert {"timestamp FILTER", "1.timestamp FILTER"} <= rows(lineage_dsl.of(made))


def test_batch_has_no_watermark(spark: SparkSession) -> None:
    table = spark.sql("SELECT * FROM VALUES (TIMESTAMP '2026-01-01', 1) AS t(time, number)")

    made = table.withWatermark("time", "1 minute").groupBy("time").count()

    assert rows(lineage_dsl.of(made)) == {"time GROUP_BY"}
