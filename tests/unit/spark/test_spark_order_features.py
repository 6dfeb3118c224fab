# SPDX-License-Identifier: Apache-2.0
"""Features of suppliers: values, late orders, repeated runs on a real table, and column lineage by truth."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from statistics import fmean, pstdev
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from jobs.spark import supplier_features, tables
from jobs.spark.transformations.order_features import ORDERS_PER_ROW, order_features
from tests.unit.spark import lineage_dsl

BEGIN = datetime(2026, 11, 24, 23, 59, tzinfo=UTC)
Order = tuple[str, str, Decimal | None, str, datetime]


def order(number: int, price: str, supplier: str = "alder", second: int | None = None) -> Order:
    at = BEGIN + timedelta(seconds=number if second is None else second)
    return f"{number:04}", "anvil", Decimal(price), supplier, at


def frame(spark: SparkSession, orders: list[Order]) -> DataFrame:
    return spark.createDataFrame(orders, tables.orders().columns)


def prices(number: int, seed: int = 1) -> list[str]:
    chance = random.Random(seed)
    return [f"{chance.randint(100, 99_999) / 100:.2f}" for _ in range(number)]


def test_a_row_is_of_consecutive_orders_of_a_supplier_and_knows_the_next_mean(spark: SparkSession) -> None:
    values = prices(2 * ORDERS_PER_ROW + 3)
    rows = frame(spark, [*(order(n, value) for n, value in enumerate(values)), order(100, "1.00", "birch")])

    first, second = rows.transform(order_features).orderBy("first_order_at").collect()

    blocks = [[float(value) for value in values[n : n + ORDERS_PER_ROW]] for n in (0, ORDERS_PER_ROW)]
    for row, block in zip((first, second), blocks, strict=True):
        assert row["supplier"] == "alder"
        assert row["mean_price"] == pytest.approx(fmean(block))
        assert row["price_deviation"] == pytest.approx(pstdev(block))
        assert (row["min_price"], row["max_price"]) == (min(block), max(block))
    assert first["next_mean_price"] == second["mean_price"]
    assert second["next_mean_price"] is None
    times = spark.createDataFrame([(BEGIN,)], "at timestamp").collect()[0]["at"]
    assert first["first_order_at"] == times
    assert second["last_order_at"] == times + timedelta(seconds=2 * ORDERS_PER_ROW - 1)


@pytest.fixture
def lake(spark: SparkSession) -> Iterator[SparkSession]:
    tables.orders().create(spark)
    yield spark
    for table in (tables.orders(), tables.supplier_features()):
        spark.sql(f"DROP TABLE IF EXISTS {table.name} PURGE")


@pytest.mark.slow
def test_repeated_runs_and_late_orders_leave_the_rows_of_all_orders(lake: SparkSession) -> None:
    """A late order moves the only row of the first day into the next one: it is not left in both."""
    orders = [order(n, value, second=50 + n) for n, value in enumerate(prices(2 * ORDERS_PER_ROW))]

    def rows() -> list[Any]:
        return lake.table(tables.supplier_features().name).orderBy("first_order_at").collect()

    frame(lake, orders).writeTo(tables.orders().name).append()
    supplier_features.load(lake)
    once = rows()
    supplier_features.load(lake)
    assert rows() == once
    late = [order(900 + n, "5.00", second=-n) for n in range(ORDERS_PER_ROW - 3)]
    frame(lake, late).writeTo(tables.orders().name).append()
    supplier_features.load(lake)
    assert rows() == frame(lake, [*orders, *late]).transform(order_features).orderBy("first_order_at").collect()
    assert len(rows()) == 2


COLUMNS = ("order_id", "item", "price", "supplier", "bid_time")


def changed(orders: list[Order], column: str) -> list[Order]:
    """Change a column of the last order of the first row, so that it leaves the row if the column decides about it."""
    place, others = ORDERS_PER_ROW - 1, {"order_id": "zzzz", "item": "drill", "price": Decimal("777777.77")}
    value = {**others, "supplier": "birch", "bid_time": BEGIN + timedelta(hours=1)}[column]
    row = list(orders[place])
    row[COLUMNS.index(column)] = value
    return [*orders[:place], tuple(row), *orders[place + 1 :]]  # type: ignore[list-item]


@pytest.mark.slow
def test_edges_of_the_features_are_exactly_the_effects(spark: SparkSession) -> None:
    # All at one time, so that the id decides about the order of the orders of a supplier.
    orders = [order(n, value, ("alder", "birch")[n % 2], 0) for n, value in enumerate(prices(6 * ORDERS_PER_ROW))]
    orders.sort(key=lambda row: row[3])
    result = frame(spark, orders).transform(order_features)
    lineage = lineage_dsl.of(result)
    edges = {name: {text.split()[0] for text in texts} for name, texts in lineage_dsl.columns(lineage).items()}
    rows = {text.split()[0] for text in lineage_dsl.rows(lineage)}

    def content(frame: DataFrame) -> dict[str, list[Any]]:
        found = [row.asDict() for row in frame.collect()]
        return {name: sorted(map(repr, (row[name] for row in found))) for name in edges}

    before = content(result)
    for column in COLUMNS:
        after = content(frame(spark, changed(orders, column)).transform(order_features))
        effects = {name for name in edges if after[name] != before[name]}
        claimed = {name for name, origins in edges.items() if column in origins | rows}
        assert effects <= claimed, f"{column} changes {sorted(effects - claimed)} without an edge"
        assert bool(effects) == bool(claimed), f"{column} has edges to {sorted(claimed)}, and no effect"
