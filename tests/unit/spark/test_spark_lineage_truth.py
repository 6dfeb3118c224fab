# SPDX-License-Identifier: Apache-2.0
"""Derived edges compared with observed effects: one input column is changed at a time.

Column edges must equal the observed effects. An INDIRECT column edge may show as added or removed rows instead, since
the same column may also select rows. Row edges are compared together: a change that adds, removes or exchanges rows
requires a row edge, and each row edge must be able to cause such a change.
"""

import functools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from jobs.spark.transformations.exclude_positions import exclude_positions
from jobs.spark.transformations.split import accepted, rejected
from jobs.spark.transformations.supplier_totals import supplier_totals
from tests.unit.spark import lineage_dsl
from tests.unit.spark.records import NOON, Order, Record, checked, frame
from tests.unit.spark.schemas import SECOND

pytestmark = pytest.mark.slow

Rows = Sequence[Any]
Outcome = list[dict[str, Any]]
Case = tuple[Rows, str, Rows]
"""Rows before, changed column, rows after."""


@dataclass
class Effects:
    """Input columns that changed an output column of a kept row, and those that changed the set of rows."""

    columns: dict[str, set[str]]
    rows: set[str]


def observe(run: Callable[[Rows], Outcome], which: Callable[[Outcome], object], cases: Iterable[Case]) -> Effects:
    """Run each case and compare the outcomes.

    Args:
        run: rows to output rows.
        which: returns the identity of an outcome's rows, independent of their values.
        cases: a single row before and after shows column effects, several rows show row effects.
    """
    cached = functools.cache(run)
    observed = Effects(defaultdict(set), set())
    for before, column, after in cases:
        old, new = cached(tuple(before)), cached(tuple(after))
        if len(before) > 1 or len(old) != len(new):
            if which(old) != which(new):
                observed.rows.add(column)
        elif old:
            for name in old[0]:
                if any(a[name] != b[name] for a, b in zip(old, new, strict=True)):
                    observed.columns[name].add(column)
    return observed


def assert_edges_match(output: DataFrame, observed: Effects) -> None:
    """Assert that the derived edges equal the observed effects."""
    lineage = lineage_dsl.of(output)
    rows = {text.split()[0] for text in lineage_dsl.rows(lineage)}
    for name, made in lineage_dsl.columns(lineage).items():
        origins = {text.split()[0] for text in made}
        hidden = {t.split()[0] for t in made if t.endswith("CONDITIONAL")} & rows & observed.rows
        assert observed.columns[name] <= origins, f"{name}: observed, not derived"
        assert origins - hidden <= observed.columns[name], f"{name}: derived, not observed"
    assert observed.rows == rows


RECORD_CHANGES: dict[str, list[Callable[[Record], Record]]] = {
    **{
        name: [lambda r, n=name, v=value: replace(r, order=replace(r.order, **{n: v})) for value in values]
        for name, values in {
            "order_id": ["o-2", ""],
            "item": ["bellows"],
            "price": ["13.00", "free", "gratis"],
            "supplier": ["birch", ""],
            "bid_time": [NOON + 1000, 0, 1],
        }.items()
    },
    "key": [lambda r: replace(r, key=b"k-2")],
    "partition": [lambda r: replace(r, partition=9)],
    "offset": [lambda r: replace(r, offset=99)],
    "timestamp": [lambda r: replace(r, timestamp=r.timestamp + timedelta(hours=1))],
}

SINGLE_RECORDS = [
    Record(),
    Record(Order(price="free")),
    Record(Order(order_id="", price="free")),
    Record(Order(supplier="", bid_time=0)),
    Record(Order(bid_time=0)),
    Record(schema_id=SECOND),
]

FIRST, SECOND = Record(Order(item="first")), Record(Order(item="second"), offset=1)
SEVERAL_RECORDS = [
    (FIRST, SECOND),
    tuple(replace(copy, order=replace(copy.order, price="free")) for copy in (FIRST, SECOND)),
    (replace(FIRST, order=replace(FIRST.order, order_id="")), SECOND),
    tuple(replace(copy, order=replace(copy.order, order_id="")) for copy in (FIRST, SECOND)),
]


def record_cases() -> Iterator[Case]:
    """With several records, the item identifies the record and is not changed."""
    for rows in (*((record,) for record in SINGLE_RECORDS), *SEVERAL_RECORDS):
        for column, changes in RECORD_CHANGES.items():
            if len(rows) > 1 and column == "item":
                continue
            for change in changes:
                yield rows, column, (change(rows[0]), *rows[1:])


@pytest.mark.parametrize("output", [accepted, rejected])
def test_edges_of_the_orders_etl(spark: SparkSession, output: Callable[[DataFrame], DataFrame]) -> None:
    def written(*places: tuple[int, int]) -> DataFrame:
        return output(exclude_positions(checked(frame(spark, Record())), places))

    def run(records: Rows) -> Outcome:
        made = output(checked(frame(spark, *records)))
        return [row.asDict() for row in made.collect()]

    def items(outcome: Outcome) -> list[str]:
        return sorted(row["item"] for row in outcome)

    # Orders already in the tables are excluded by position, without edges from other columns.
    assert_edges_match(written(), observe(run, items, record_cases()))
    for of in (lineage_dsl.columns, lineage_dsl.rows):
        assert of(lineage_dsl.of(written((0, 7), (1, 8)))) == of(lineage_dsl.of(written()))


ORDER_COLUMNS = ("order_id", "item", "price", "supplier", "bid_time")
ORDER = ("o-1", "anvil", Decimal("12.50"), "alder", datetime(2026, 11, 20, 12, 30, tzinfo=UTC))
OTHER = ("o-2", "drill", Decimal("1.00"), "birch", datetime(2026, 11, 21, 13, 30, tzinfo=UTC))


def order_frame(spark: SparkSession, rows: Rows) -> DataFrame:
    schema = "order_id string, item string, price decimal(10,2), supplier string, bid_time timestamp"
    return spark.createDataFrame(list(rows), schema)


def order_cases() -> Iterator[tuple[Rows, str, Rows]]:
    for rows in ((ORDER,), (ORDER, ORDER)):
        for place, column in enumerate(ORDER_COLUMNS):
            changed = (*ORDER[:place], OTHER[place], *ORDER[place + 1 :])
            yield rows, column, (changed, *rows[1:])


def test_edges_of_supplier_totals(spark: SparkSession) -> None:
    def run(rows: Rows) -> Outcome:
        return [row.asDict() for row in supplier_totals(order_frame(spark, rows)).collect()]

    assert_edges_match(supplier_totals(order_frame(spark, [ORDER])), observe(run, len, order_cases()))


def test_edges_follow_a_changed_transformation(spark: SparkSession) -> None:
    orders = order_frame(spark, [ORDER])
    before = lineage_dsl.columns(lineage_dsl.of(supplier_totals(orders)))
    after = lineage_dsl.columns(lineage_dsl.of(supplier_totals(orders.withColumn("supplier", orders.item))))

    assert before["supplier"] == {"supplier IDENTITY"}
    assert after["supplier"] == {"item IDENTITY"}


QUERIES = {
    "a field": "SELECT s.ITEM AS i, s.supplier FROM (SELECT struct(item, supplier) AS s FROM orders)",
    "all fields": "SELECT s.* FROM (SELECT struct(item, upper(supplier) AS u, 1 AS one) AS s FROM orders)",
    "a chosen struct": "SELECT coalesce(struct(item, supplier), null).item FROM orders",
    "a struct in an array": "SELECT array(struct(item, supplier)).item FROM orders",
    "an array of structs": "SELECT inline(array(struct(item AS i, supplier AS s))) FROM orders",
    "an exploded struct": "SELECT e.item FROM (SELECT explode(array(struct(item, supplier))) AS e FROM orders)",
    "an aggregate": "SELECT first(struct(item, supplier)).item FROM orders",
    "an unused definition": """WITH unused AS (SELECT * FROM orders WHERE item = 'anvil')
                               SELECT order_id FROM orders""",
    "unpivot": "SELECT * FROM orders UNPIVOT INCLUDE NULLS (value FOR name IN (item, supplier))",
    "an exploded map": "SELECT explode(map(item, supplier)) FROM orders",
    "a recursive definition": """WITH RECURSIVE t(v, n) AS (SELECT item, 0 FROM orders
        UNION ALL SELECT concat(v, 'x'), n + 1 FROM t WHERE n < 2) SELECT v FROM t""",
    "columns that swap in each step": """WITH RECURSIVE t(a, b, n) AS (SELECT item, supplier, 0 FROM orders
        UNION ALL SELECT b, a, n + 1 FROM t WHERE n < 1) SELECT a FROM t""",
    "a used definition": "WITH used AS (SELECT order_id, upper(item) AS i FROM orders) SELECT i FROM used",
}
UNKNOWN_QUERIES = {
    "stack": "SELECT stack(2, 'item', item, 'supplier', supplier) AS (name, value) FROM orders",
    "the greatest struct": "SELECT max(struct(item, supplier)).supplier FROM orders",
}


def run_query(spark: SparkSession, query: str, rows: Rows) -> DataFrame:
    order_frame(spark, rows).createOrReplaceTempView("orders")
    return spark.sql(query)


@pytest.mark.parametrize("query", QUERIES.values(), ids=list(QUERIES))
def test_edges_of_queries(spark: SparkSession, query: str) -> None:
    def run(rows: Rows) -> Outcome:
        return [row.asDict(recursive=True) for row in run_query(spark, query, rows).collect()]

    output = run_query(spark, query, [ORDER])
    lineage = lineage_dsl.of(output)
    assert lineage.unknown == frozenset()
    single = [case for case in order_cases() if len(case[0]) == 1]
    observed = observe(run, len, single)
    assert {
        name: {t.split()[0].split(".")[-1] for t in made} for name, made in lineage_dsl.columns(lineage).items()
    } == {name: observed.columns[name] for name in lineage.columns}
    assert lineage_dsl.rows(lineage) == observed.rows == set()


@pytest.mark.parametrize("query", UNKNOWN_QUERIES.values(), ids=list(UNKNOWN_QUERIES))
def test_edges_that_cannot_be_separated_are_unknown(spark: SparkSession, query: str) -> None:
    assert lineage_dsl.of(run_query(spark, query, [ORDER])).unknown
