# SPDX-License-Identifier: Apache-2.0
"""Columns from a streaming source to a table, through the frames of `foreachBatch`, whose plans have no sources."""

from collections.abc import Callable, Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from lineagelab_spark import frames
from lineagelab_spark.deduplicated_warnings import DeduplicatedWarnings
from lineagelab_spark.description import Description
from lineagelab_spark.known_rows import KnownRows
from lineagelab_spark.operators import derive_columns
from lineagelab_spark.plan import PlanLineage, derive
from lineagelab_spark.plan_json import parse
from lineagelab_spark.write_tracker import WriteId, WriteTracker, WrittenFrame
from tests.unit.spark.lineage_dsl import batch_of, columns, of_stream, rows

ORDER = """{"type": "record", "name": "Order", "fields": [
    {"name": "order_id", "type": "string"}, {"name": "price", "type": "string"}]}"""


@pytest.fixture
def kafka(spark: SparkSession) -> DataFrame:
    return spark.readStream.format("kafka").option("kafka.bootstrap.servers", "k:1").option("subscribe", "o").load()


@pytest.fixture
def tables(spark: SparkSession) -> Iterator[SparkSession]:
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.plans")
    for table in ("first", "second", "side"):
        spark.sql(f"CREATE TABLE lake.plans.{table} (order_id string, price string) USING iceberg")
    yield spark
    for table in ("first", "second", "side"):
        spark.sql(f"DROP TABLE IF EXISTS lake.plans.{table} PURGE")


def decoded(records: DataFrame) -> DataFrame:
    return records.select(from_avro(F.expr("substring(value, 6)"), ORDER).alias("order"), "timestamp")


def test_topic_decoded_in_the_batch(kafka: DataFrame) -> None:
    made = of_stream(kafka, lambda b: decoded(b).selectExpr("order.order_id", "double(order.price) AS price"))

    assert columns(made) == {"order_id": {"order_id IDENTITY"}, "price": {"price TRANSFORMATION"}}
    assert made.unknown == frozenset()
    assert [leaf.is_read for leaf in made.leaves] == [True, False]


def test_topic_decoded_before_the_batch(kafka: DataFrame) -> None:
    stream = decoded(kafka.where("partition = 0")).select("order", F.hour("timestamp").alias("hour"))

    made = of_stream(stream, lambda b: b.select("order.order_id", "hour").where("order.price > 1"))

    assert columns(made) == {"order_id": {"order_id IDENTITY"}, "hour": {"timestamp TRANSFORMATION"}}
    assert rows(made) == {"partition FILTER", "price FILTER"}


def test_self_joined_batch_is_one_source(kafka: DataFrame) -> None:
    def latest(batch: DataFrame) -> DataFrame:
        orders = decoded(batch).select("order.*")
        return orders.join(orders.groupBy("order_id").agg(F.max("price").alias("highest")), "order_id")

    made = of_stream(kafka, latest)

    assert columns(made)["highest"] == {"price AGGREGATION"}
    assert columns(made)["order_id"] == {"order_id IDENTITY"}
    assert rows(made) == {"order_id GROUP_BY", "order_id JOIN"}


@pytest.mark.parametrize("kept", [DataFrame.persist, DataFrame.cache], ids=["persist", "cache"])
def test_cached_batch_keeps_its_sources(kafka: DataFrame, kept: Callable[[DataFrame], DataFrame]) -> None:
    assert columns(of_stream(kafka, lambda b: kept(b).select("topic"))) == {"topic": {"topic IDENTITY"}}


def test_view_of_a_batch_keeps_its_sources(kafka: DataFrame) -> None:
    def through_sql(batch: DataFrame) -> DataFrame:
        batch.createOrReplaceTempView("batch")
        return batch.sparkSession.sql(
            "WITH b AS (SELECT topic, offset FROM batch) SELECT topic FROM b WHERE offset > 0"
        )

    made = of_stream(kafka, through_sql)

    assert columns(made) == {"topic": {"topic IDENTITY"}}
    assert rows(made) == {"offset FILTER"}


def test_unused_stream_is_not_an_input(kafka: DataFrame) -> None:
    made = of_stream(kafka.where("partition = 0"), lambda b: b.sparkSession.range(3))

    assert rows(made) == set()
    assert not made.leaves[0].is_read


def written(
    stream: DataFrame, *outputs: Callable[[DataFrame], tuple[DataFrame, str]]
) -> tuple[WriteTracker, Description]:
    """Return tracker and description after one batch."""
    batch = batch_of(stream)
    known = WriteTracker(stream, DeduplicatedWarnings("a test"))
    given = {WriteId(table): WrittenFrame(frame, batch) for frame, table in (output(batch) for output in outputs)}
    assert known.read(given, is_final=True) == {}
    return known, known.description


def names(described: Description) -> list[str]:
    return [dataset.name.rpartition("/")[2] for dataset in described.inputs]


def new_in(batch: DataFrame, *seen: str) -> DataFrame:
    fresh = decoded(batch).select("order.*")
    for table in seen:
        fresh = fresh.join(batch.sparkSession.table(table).select("order_id"), "order_id", "left_anti")
    return fresh


def test_tables_written_by_the_query_are_not_inputs(tables: SparkSession, kafka: DataFrame) -> None:
    both = ("lake.plans.first", "lake.plans.second")
    _, described = written(
        kafka, lambda b: (new_in(b, *both), both[0]), lambda b: (new_in(b, *both).where("price = 0"), both[1])
    )

    assert names(described) == ["o"]
    assert described.is_cross_product
    first, second = described.outputs.values()
    assert first.columns is not None
    assert {column: {edge.column for edge in edges} for column, edges in first.columns.items()} == {
        "order_id": {"order_id"},
        "price": {"price"},
    }
    assert {(edge.column, edge.subtype) for edge in first.rows} == {("order_id", "JOIN")}
    assert {(edge.column, edge.subtype) for edge in second.rows} == {("order_id", "JOIN"), ("price", "FILTER")}


def test_other_table_is_an_input_of_its_output_only(tables: SparkSession, kafka: DataFrame) -> None:
    _, described = written(
        kafka,
        lambda b: (new_in(b, "lake.plans.side"), "lake.plans.first"),
        lambda b: (new_in(b), "lake.plans.second"),
    )

    assert sorted(names(described)) == ["o", "side"]
    assert not described.is_cross_product
    assert [len(output.inputs) for output in described.outputs.values()] == [2, 1]


def test_rows_of_unknown_origin_are_unknown_columns_and_keep_the_stream(tables: SparkSession, kafka: DataFrame) -> None:
    _, described = written(
        kafka, lambda b: (b.selectExpr("topic AS order_id", "topic AS price").localCheckpoint(), "lake.plans.first")
    )

    assert names(described) == ["o"]
    (output,) = described.outputs.values()
    assert output.known == {}
    assert output.unknown.keys() == {"order_id", "price"}


def test_table_whose_values_flow_into_another_table_is_its_input(tables: SparkSession, kafka: DataFrame) -> None:
    _, described = written(
        kafka,
        lambda b: (new_in(b), "lake.plans.first"),
        lambda b: (
            b.sparkSession.table("lake.plans.first").selectExpr("upper(order_id) AS order_id"),
            "lake.plans.second",
        ),
        lambda b: (b.sparkSession.table("lake.plans.first").selectExpr("count(*) AS price"), "lake.plans.side"),
    )

    assert sorted(names(described)) == ["first", "o"]
    first, second, side = described.outputs.values()
    assert [dataset.name for dataset in first.inputs] == ["o"]
    assert [dataset.name.rpartition("/")[2] for dataset in second.inputs] == ["first"]
    assert {edge.column for edge in second.known["order_id"]} == {"order_id"}
    assert [dataset.name.rpartition("/")[2] for dataset in side.inputs] == ["first"]


def test_unsupported_plan_still_has_datasets(
    tables: SparkSession, kafka: DataFrame, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> PlanLineage:
        raise ValueError("no such plan")

    monkeypatch.setattr("lineagelab_spark.write_tracker.derive", broken)
    _, described = written(kafka, lambda b: (new_in(b, "lake.plans.side"), "lake.plans.first"))

    assert sorted(names(described)) == ["o", "side"]
    assert [output.columns for output in described.outputs.values()] == [None]
    assert "no such plan" in caplog.text


def test_missing_table_does_not_hide_the_others(
    tables: SparkSession, kafka: DataFrame, caplog: pytest.LogCaptureFixture
) -> None:
    batch = batch_of(kafka)
    known = WriteTracker(kafka, DeduplicatedWarnings("a test"))
    lost, there = WriteId("lake.plans.missing"), WriteId("lake.plans.first")

    later = known.read(
        {lost: WrittenFrame(new_in(batch), batch), there: WrittenFrame(new_in(batch), batch)}, is_final=True
    )

    assert list(later) == [lost]
    assert [dataset.name.rpartition("/")[2] for dataset in known.description.outputs] == ["first"]
    assert "cannot derive what is written to lake.plans.missing" in caplog.text


def test_edges_of_different_plans_accumulate(tables: SparkSession, kafka: DataFrame) -> None:
    """Plans vary with the schema ids of a batch; their edges accumulate."""
    known = WriteTracker(kafka, DeduplicatedWarnings("a test"))
    seen = []
    for column in ("topic", "key", "topic", "key"):
        batch = batch_of(kafka)
        frame = batch.selectExpr(f"CAST({column} AS string) AS order_id", "CAST(NULL AS string) AS price")
        known.read({WriteId("lake.plans.first"): WrittenFrame(frame, batch)}, is_final=True)
        (output,) = known.description.outputs.values()
        assert output.columns is not None
        seen.append({edge.column for edge in output.columns["order_id"]})

    assert seen == [{"_topic"}, *[{"_topic", "_key"}] * 3]


def test_added_and_dropped_table_columns_are_tracked(tables: SparkSession, kafka: DataFrame) -> None:
    known = WriteTracker(kafka, DeduplicatedWarnings("a test"))
    place = WriteId("lake.plans.first")

    def describe(*expressions: str) -> set[str]:
        batch = batch_of(kafka)
        known.read({place: WrittenFrame(batch.selectExpr(*expressions), batch)}, is_final=True)
        (output,) = known.description.outputs.values()
        assert output.columns is not None
        assert output.columns.keys() <= output.fields.keys()
        return set(output.columns)

    assert describe("topic AS order_id", "topic AS price") == {"order_id", "price"}
    tables.sql("ALTER TABLE lake.plans.first ADD COLUMN partition int")
    assert describe("topic AS order_id", "topic AS price", "partition") == {"order_id", "price", "partition"}
    tables.sql("ALTER TABLE lake.plans.first DROP COLUMN price")
    assert describe("topic AS order_id", "partition", "1 AS one") == {"order_id", "partition"}


def test_plan_fingerprints_are_equal_across_batches(kafka: DataFrame, tables: SparkSession) -> None:
    def fingerprint(write: Callable[[DataFrame], DataFrame]) -> int:
        batch = batch_of(kafka)
        return frames.fingerprint(write(batch))

    def joined(batch: DataFrame) -> DataFrame:
        return new_in(batch, "lake.plans.first", "lake.plans.second")

    assert fingerprint(joined) == fingerprint(joined)
    assert fingerprint(joined) != fingerprint(lambda b: joined(b).where("price = 0"))
    assert fingerprint(joined) != fingerprint(lambda b: new_in(b, "lake.plans.first", "lake.plans.side"))


def test_plan_is_parsed_only_once(tables: SparkSession, kafka: DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    followed = []

    def counting(text: str, known: KnownRows) -> PlanLineage:
        followed.append(text)
        return derive(text, known)

    monkeypatch.setattr("lineagelab_spark.write_tracker.derive", counting)
    known = WriteTracker(kafka, DeduplicatedWarnings("a test"))
    for _ in range(3):
        batch = batch_of(kafka)
        known.read({WriteId("lake.plans.first"): WrittenFrame(new_in(batch, "lake.plans.first"), batch)}, is_final=True)

    assert len(followed) == 1


def test_plan_parsing_takes_a_small_share_of_the_time(tables: SparkSession, kafka: DataFrame) -> None:
    known = WriteTracker(kafka, DeduplicatedWarnings("a test"))
    batch = batch_of(kafka)
    given = {WriteId("lake.plans.first"): WrittenFrame(new_in(batch), batch)}

    assert known.read(given, is_final=False) == {}
    assert known.read(given, is_final=False) == given
    assert known.read(given, is_final=True) == {}


@pytest.mark.slow
def test_long_literal_lists_are_not_parsed(kafka: DataFrame) -> None:
    ids = [f"{number:036}" for number in range(10_000)]
    batch = batch_of(kafka)
    plan = frames.read(batch.where(~F.col("topic").isin(ids)), batch)

    assert ids[5000] not in plan.text
    assert rows(derive(plan.text, KnownRows.of_stream(derive_columns(parse(frames.read(kafka).text)), plan.batch))) == {
        "topic FILTER"
    }


def test_deeply_nested_condition_does_not_fail(tables: SparkSession, kafka: DataFrame) -> None:
    def nested(batch: DataFrame) -> tuple[DataFrame, str]:
        condition = " + ".join(["length(topic)"] * 600)
        return batch.selectExpr("topic AS order_id", "topic AS price").where(f"{condition} > 0"), "lake.plans.first"

    _, described = written(kafka, nested)

    assert names(described) == ["o"]


def test_streaming_sources_have_dataset_names(spark: SparkSession, tables: SparkSession, tmp_path) -> None:
    (tmp_path / "in").mkdir()
    streams = {
        "files": spark.readStream.schema("a string").json(str(tmp_path / "in")),
        "table": spark.readStream.table("lake.plans.side"),
        "rate": spark.readStream.format("rate").load(),
    }

    named = {kind: frames.read(stream).sources for kind, stream in streams.items()}

    assert [d.name for s in named["files"] for d in s.datasets] == [str(tmp_path / "in")]
    assert [d.name.rpartition("/")[2] for s in named["table"] for d in s.datasets] == ["side"]
    assert [(s.datasets, s.unnamed) for s in named["rate"]] == [((), "")]


def test_columns_of_a_topic_are_unknown_until_its_messages_are_decoded(kafka: DataFrame) -> None:
    """A query that fails before its first batch is read must not report that the topic has raw records only."""
    for stream, expected in ((kafka, {}), (decoded(kafka), {"order_id": "string", "price": "string"})):
        known = WriteTracker(stream, DeduplicatedWarnings("a test"))
        known.read_stream_inputs()
        ((topic, fields),) = known.description.inputs.items()
        assert topic.name == "o"
        assert {name: kind for name, kind in fields.items() if not name.startswith("_")} == expected
        assert bool(fields) == bool(expected)
