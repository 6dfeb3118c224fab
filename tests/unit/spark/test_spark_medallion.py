# SPDX-License-Identifier: Apache-2.0
"""Medallion jobs on real tables: joins, slowly changing dimension, late data, backfill, watermark, schema migration."""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType, StructType
from pyspark.testing import assertDataFrameEqual

from jobs.spark import enriched_orders, runtime, supplier_activity, tables
from jobs.spark.enriched_orders import BIDS, Arguments
from jobs.spark.streaming import Stopping
from jobs.spark.transformations.deviation import with_deviation
from jobs.spark.transformations.enrich import of_days, with_bids, with_tier
from jobs.spark.transformations.supplier_versions import BRONZE, GOLD, SILVER, supplier_versions
from lineagelab_spark import NoQueryLineage
from lineagelab_spark.plan import PlanLineage
from tests.unit.spark import lineage_dsl

Row = tuple[Any, ...]

MONDAY, TUESDAY, WEDNESDAY = (date(2026, 11, day) for day in (23, 24, 25))
BID_COLUMNS = "order_id string, price string, supplier string, bid_time timestamp"
EVERYTHING = Arguments(frozenset(), is_all=False)
TIMEOUT_SECONDS = 300


def at(day: date, hour: int = 12, minute: int = 0) -> datetime:
    return datetime(day.year, day.month, day.day, hour, minute, tzinfo=UTC)


def orders(spark: SparkSession, *rows: tuple[str, str, int, datetime]) -> DataFrame:
    """Return orders from (order id, supplier, price, time)."""
    values = [(number, "anvil", Decimal(price), supplier, time) for number, supplier, price, time in rows]
    return spark.createDataFrame(values, tables.orders().columns)


def bids(spark: SparkSession, *rows: tuple[str, str, str, datetime]) -> DataFrame:
    return spark.createDataFrame(list(rows), BID_COLUMNS)


@pytest.fixture
def lake(spark: SparkSession) -> Iterator[SparkSession]:
    made = (tables.orders(), tables.suppliers(), tables.enriched_orders(), tables.supplier_activity())
    for table in made:
        table.create(spark)
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {BIDS.rpartition('.')[0]}")
    spark.sql(f"CREATE TABLE {BIDS} ({BID_COLUMNS}) USING iceberg")
    yield spark
    for name in (*(table.name for table in made), BIDS):
        spark.sql(f"DROP TABLE {name} PURGE")


def test_periods_with_the_same_tier_are_one_version(spark: SparkSession) -> None:
    rows = orders(
        spark,
        ("a", "alder", 400, at(MONDAY)),
        ("b", "alder", 600, at(MONDAY, 13)),
        ("c", "alder", 1000, at(TUESDAY)),
        ("d", "alder", 20_000, at(WEDNESDAY)),
        ("e", "birch", 1, at(TUESDAY)),
    )
    expected = [
        ("alder", SILVER, MONDAY, WEDNESDAY),
        ("alder", GOLD, WEDNESDAY, None),
        ("birch", BRONZE, TUESDAY, None),
    ]

    assertDataFrameEqual(rows.transform(supplier_versions), spark.createDataFrame(expected, tables.suppliers().columns))


def test_orders_have_the_tier_of_their_day(spark: SparkSession) -> None:
    versions = spark.createDataFrame(
        [("alder", SILVER, MONDAY, WEDNESDAY), ("alder", GOLD, WEDNESDAY, None)], tables.suppliers().columns
    )
    rows = orders(
        spark,
        ("a", "alder", 1, at(TUESDAY, 23)),
        ("b", "alder", 1, at(WEDNESDAY, 0)),
        ("c", "cedar", 1, at(WEDNESDAY)),
    )

    found = rows.transform(of_days, {TUESDAY, WEDNESDAY}).transform(with_tier, versions).select("order_id", "tier")

    expected = spark.createDataFrame([("a", SILVER), ("b", GOLD), ("c", None)], "order_id string, tier string")
    assertDataFrameEqual(found, expected)


def test_duplicate_and_invalid_bids_do_not_change_the_best_one(spark: SparkSession) -> None:
    rows = orders(spark, ("a", "alder", 10, at(MONDAY)), ("b", "alder", 10, at(MONDAY)))
    offered = bids(
        spark,
        ("a", "12.50", "birch", at(MONDAY)),
        ("a", "12.50", "birch", at(MONDAY)),
        ("a", "free", "cedar", at(MONDAY)),
    )

    found = rows.transform(with_bids, offered).select("order_id", "bid_count", "best_bid", "margin")

    expected = spark.createDataFrame(
        [("a", 2, Decimal("12.50"), Decimal("2.50")), ("b", 0, None, None)],
        "order_id string, bid_count long, best_bid decimal(10,2), margin decimal(11,2)",
    )
    assertDataFrameEqual(found, expected)


def test_deviation_is_in_median_absolute_deviations_of_item_and_day(spark: SparkSession) -> None:
    rows = spark.createDataFrame(
        [
            *[(f"m{price}", "anvil", MONDAY, Decimal(price)) for price in (10, 12, 13, 15, 100)],
            *[(f"t{price}", "anvil", TUESDAY, Decimal(price)) for price in (10, 11)],
            *[(f"s{number}", "rope", MONDAY, Decimal(7)) for number in range(3)],
            ("alone", "rope", TUESDAY, Decimal(7)),
        ],
        "order_id string, item string, bid_date date, price decimal(10,2)",
    )

    found = {row["order_id"]: row["price_deviation"] for row in rows.transform(with_deviation).collect()}

    # Median 13, distances 3, 1, 0, 2 and 87, whose median is 2.
    assert {key: value for key, value in found.items() if key.startswith("m")} == {
        "m10": -1.5,
        "m12": -0.5,
        "m13": 0.0,
        "m15": 1.0,
        "m100": 43.5,
    }
    assert (found["t10"], found["t11"]) == (-1.0, 1.0)
    assert {found[key] for key in ("s0", "s1", "s2", "alone")} == {None}


def tiers(spark: SparkSession) -> dict[str, str]:
    return {row["order_id"]: row["tier"] for row in spark.table(tables.enriched_orders().name).collect()}


def days_of(spark: SparkSession) -> list[str]:
    """Return the partitions that the last commit replaced."""
    name = tables.enriched_orders().name
    rows = spark.sql(f"SELECT summary FROM {name}.snapshots ORDER BY committed_at DESC").collect()
    return [summary["changed-partition-count"] for summary in (rows[0]["summary"],)]


@pytest.mark.slow
def test_late_data_changes_only_its_day(lake: SparkSession) -> None:
    """A late order makes the supplier gold on Monday, so the orders of that day are computed again."""
    first = orders(lake, ("a", "alder", 10, at(MONDAY)), ("b", "alder", 10, at(TUESDAY)))
    first.writeTo(tables.orders().name).append()
    bids(lake, ("a", "12.50", "birch", at(MONDAY))).writeTo(BIDS).append()
    enriched_orders.load(lake, EVERYTHING)
    assert tiers(lake) == {"a": BRONZE, "b": BRONZE}

    orders(lake, ("late", "alder", 50_000, at(MONDAY, 1))).writeTo(tables.orders().name).append()
    enriched_orders.load(lake, EVERYTHING)

    assert tiers(lake) == {"a": GOLD, "late": GOLD, "b": BRONZE}
    assert days_of(lake) == ["1"]
    assertDataFrameEqual(
        lake.table(tables.suppliers().name),
        lake.createDataFrame(
            [("alder", GOLD, MONDAY, TUESDAY), ("alder", BRONZE, TUESDAY, None)], tables.suppliers().columns
        ),
    )


@pytest.mark.slow
def test_run_without_new_rows_commits_nothing_and_a_backfill_repeats_a_day(lake: SparkSession) -> None:
    orders(lake, ("a", "alder", 10, at(MONDAY)), ("b", "alder", 10, at(TUESDAY))).writeTo(tables.orders().name).append()
    enriched_orders.load(lake, EVERYTHING)
    target = tables.enriched_orders().name
    before = lake.table(f"{target}.snapshots").count()
    enriched_orders.load(lake, EVERYTHING)
    assert lake.table(f"{target}.snapshots").count() == before

    lake.sql(f"UPDATE {target} SET tier = 'broken'")
    enriched_orders.load(lake, Arguments(frozenset({MONDAY}), is_all=False))
    assert tiers(lake) == {"a": BRONZE, "b": "broken"}

    enriched_orders.load(lake, Arguments(frozenset(), is_all=True))
    assert tiers(lake) == {"a": BRONZE, "b": BRONZE}


def test_days_and_all_are_arguments() -> None:
    assert enriched_orders.parse([]) == EVERYTHING
    assert enriched_orders.parse(["--day", "2026-11-23", "--day", "2026-11-24"]).days == {MONDAY, TUESDAY}
    assert enriched_orders.parse(["--all"]).is_all


def run_activity(spark: SparkSession, folder: Path) -> None:
    """Process the available orders and stop."""
    start = partial(supplier_activity._start, f"file://{folder}", None, 600)
    query = start(spark, NoQueryLineage(), Stopping())
    assert query.awaitTermination(TIMEOUT_SECONDS)


@pytest.mark.slow
def test_minutes_are_counted_once_across_restarts_and_a_schema_migration(lake: SparkSession, tmp_path: Path) -> None:
    """The table gets a column while the query is stopped, and an order behind the watermark is not counted."""
    name = tables.orders().name
    orders(
        lake,
        ("a", "alder", 1, at(MONDAY, 12, 0)),
        ("b", "alder", 2, at(MONDAY, 12, 0)),
        ("c", "alder", 4, at(MONDAY, 12, 30)),
    ).writeTo(name).append()
    run_activity(lake, tmp_path)
    lake.sql(f"ALTER TABLE {name} ADD COLUMN currency string FIRST")
    orders(lake, ("too late", "alder", 8, at(MONDAY, 12, 0)), ("d", "alder", 16, at(MONDAY, 13, 0))).selectExpr(
        "*", "'EUR' AS currency"
    ).writeTo(name).append()
    run_activity(lake, tmp_path)

    rows = lake.table(tables.supplier_activity().name).orderBy("window_start").collect()
    assert [(row["window_start"].minute, row["order_count"], row["total_price"]) for row in rows] == [
        (0, 2, Decimal(3)),
        (30, 1, Decimal(4)),
    ]


@pytest.mark.slow
def test_table_is_migrated_while_it_is_read(lake: SparkSession, tmp_path: Path) -> None:
    """A running reader continues with its columns; a new reader has the new one."""
    current = tables.orders()
    grown = tables.Table(
        current.name, StructType(list(current.columns.fields)).add("currency", StringType()), current.partitioning
    )
    seen: list[tuple[str, list[str]]] = []
    rows = lake.readStream.table(current.name)
    query = (
        rows.writeStream.option("checkpointLocation", f"file://{tmp_path}")
        .foreachBatch(lambda batch, _: seen.extend((row["order_id"], batch.columns) for row in batch.collect()))
        .start()
    )
    try:
        orders(lake, ("a", "alder", 1, at(MONDAY))).writeTo(current.name).append()
        query.processAllAvailable()
        grown.create(lake)
        orders(lake, ("b", "alder", 1, at(MONDAY))).selectExpr("*", "'EUR' AS currency").writeTo(current.name).append()
        query.processAllAvailable()
    finally:
        query.stop()

    old = current.columns.fieldNames()
    assert seen == [("a", old), ("b", old)]
    assert [row["currency"] for row in lake.table(current.name).orderBy("order_id").collect()] == [None, "EUR"]


def test_column_of_another_type_is_refused() -> None:
    existing = StructType().add("supplier", StringType()).add("tier", tables.orders().columns["price"].dataType)

    with pytest.raises(runtime.JobError, match=r"lake\.sales\.suppliers: column tier is decimal\(10,2\), not string"):
        tables.missing_columns(tables.suppliers(), existing)

    assert [field.name for field in tables.missing_columns(tables.suppliers(), StructType())][-1] == "valid_to"


ORDER_ROWS = [
    ("a", "alder", 900, at(MONDAY)),
    ("b", "alder", 2000, at(TUESDAY)),
    ("c", "birch", 900, at(TUESDAY)),
    ("d", "birch", 700, at(MONDAY)),
    ("e", "birch", 1000, at(MONDAY)),
]
BID_ROWS = [
    *[("a", "1200", "birch", at(MONDAY))] * 2,  # captured twice
    ("b", "2500", "cedar", at(TUESDAY)),
    ("b", "3000", "elm", at(TUESDAY)),
]
VERSION_ROWS: list[tuple[str, str, date, date | None]] = [
    ("alder", BRONZE, MONDAY, TUESDAY),
    ("alder", SILVER, TUESDAY, None),
    ("birch", BRONZE, MONDAY, None),
]
CHANGES: dict[str, list[Row]] = {
    "order_id": [("z", "alder", 900, at(MONDAY))],
    "supplier": [("a", "birch", 900, at(MONDAY)), ("a", "cedar", 900, at(MONDAY))],
    "price": [("a", "alder", 901, at(MONDAY)), ("a", "alder", 20_000, at(MONDAY)), ("a", "alder", 1500, at(MONDAY))],
    "bid_time": [("a", "alder", 900, at(TUESDAY)), ("a", "alder", 900, at(MONDAY, 12, 1))],
    "1.order_id": [("z", "1200", "birch", at(MONDAY)), ("b", "1200", "birch", at(MONDAY))],
    "1.price": [("a", "1300", "birch", at(MONDAY)), ("a", "free", "birch", at(MONDAY))],
    "1.supplier": [("a", "1200", "cedar", at(MONDAY))],
    "1.bid_time": [("a", "1200", "birch", at(TUESDAY))],
    "2.supplier": [("cedar", BRONZE, MONDAY, TUESDAY)],
    "2.tier": [("alder", GOLD, MONDAY, TUESDAY)],
    "2.valid_from": [("alder", BRONZE, TUESDAY, TUESDAY)],
    "2.valid_to": [("alder", BRONZE, MONDAY, MONDAY), ("alder", BRONZE, MONDAY, WEDNESDAY)],
}
"""Rows that replace the first one of their input, by the column that they change."""


def assert_effects_have_edges(
    lineage: PlanLineage, run: Callable[[list[list[Row]]], DataFrame], inputs: list[list[Row]], key: list[str]
) -> None:
    """Change each column of each input; an output column that changes must have an edge from it."""

    def rows_of(rows: list[list[Row]]) -> dict[Row, dict[str, object]]:
        return {tuple(row[name] for name in key): row.asDict() for row in run(rows).collect()}

    before = rows_of(inputs)
    edges = lineage_dsl.columns(lineage)
    rows = {text.split()[0] for text in lineage_dsl.rows(lineage)}
    seen: set[str] = set()
    for column, variants in CHANGES.items():
        place = int(column.partition(".")[0]) if "." in column else 0
        for variant in variants if place < len(inputs) else ():
            after = rows_of([[variant, *each[1:]] if number == place else each for number, each in enumerate(inputs)])
            if before.keys() != after.keys():
                name = column if column in rows else {text.split()[0] for k in key for text in edges[k]}
                assert column in name, f"{column} changes the rows"
            for number in before.keys() & after.keys():
                for name, value in before[number].items():
                    if value != after[number][name]:
                        origins = rows | {text.split()[0] for text in edges[name]}
                        assert column in origins, f"{column} changes {name}"
                        seen.add(column)
    expected = rows | {text.split()[0] for texts in edges.values() for text in texts}
    assert seen | {text.split()[0] for k in key for text in edges[k]} >= expected - {"item"}


@pytest.mark.slow
def test_edges_of_enriched_orders_cover_every_effect(spark: SparkSession) -> None:
    def run(rows: list[list[Row]]) -> DataFrame:
        versions = spark.createDataFrame(rows[2], tables.suppliers().columns)
        days = {MONDAY, TUESDAY}
        return enriched_orders.enriched(orders(spark, *rows[0]), bids(spark, *rows[1]), versions, days)

    inputs: list[list[Row]] = [list(ORDER_ROWS), list(BID_ROWS), list(VERSION_ROWS)]
    assert_effects_have_edges(lineage_dsl.of(run(inputs)), run, inputs, ["order_id"])


@pytest.mark.slow
def test_edges_of_supplier_versions_cover_every_effect(spark: SparkSession) -> None:
    def run(rows: list[list[Row]]) -> DataFrame:
        return orders(spark, *rows[0]).transform(supplier_versions)

    inputs: list[list[Row]] = [list(ORDER_ROWS)]
    assert_effects_have_edges(lineage_dsl.of(run(inputs)), run, inputs, ["supplier", "valid_from"])
