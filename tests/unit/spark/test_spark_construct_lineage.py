# SPDX-License-Identifier: Apache-2.0
"""Edges of constructs whose DIRECT and INDIRECT inputs are easily confused, and of operators beyond select and join."""

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.unit.spark import lineage_dsl
from tests.unit.spark.lineage_dsl import columns, rows

SALES = "id string, price int, amount int, day timestamp, numbers array<int>, items array<struct<p: int, q: int>>"


@pytest.fixture
def sales(spark: SparkSession) -> DataFrame:
    frame = spark.createDataFrame([], SALES)
    frame.createOrReplaceTempView("sales")
    return frame


@pytest.mark.usefixtures("sales")
@pytest.mark.parametrize(
    ("expression", "edges"),
    [
        ("max_by(id, price)", {"id AGGREGATION", "price SORT"}),
        ("min_by(id, price)", {"id AGGREGATION", "price SORT"}),
        ("listagg(id, ',') WITHIN GROUP (ORDER BY price)", {"id AGGREGATION", "price SORT"}),
        ("rank() OVER (PARTITION BY id ORDER BY price)", {"id WINDOW", "price WINDOW"}),
        ("dense_rank() OVER (ORDER BY price)", {"price WINDOW"}),
        ("percent_rank() OVER (ORDER BY price)", {"price WINDOW"}),
        ("filter(numbers, x -> x > price)", {"numbers TRANSFORMATION", "numbers FILTER", "price FILTER"}),
        (
            "transform(numbers, x -> if(price > 1, x, amount))",
            {"numbers TRANSFORMATION", "amount TRANSFORMATION", "price CONDITIONAL"},
        ),
        ("transform(numbers, x -> price)", {"numbers FILTER", "price TRANSFORMATION"}),
        (
            "transform(transform(numbers, x -> struct(x AS p, price AS q)), s -> s.q)",
            {"numbers FILTER", "price TRANSFORMATION"},
        ),
        ("sort_array(collect_list(struct(price p, amount q))).p", {"price AGGREGATION", "price SORT", "amount SORT"}),
        ("exists(numbers, x -> x > price)", {"numbers TRANSFORMATION", "price TRANSFORMATION"}),
        ("aggregate(numbers, 0, (total, x) -> total + x * price)", {"numbers TRANSFORMATION", "price TRANSFORMATION"}),
        ("filter(items, x -> x.q > price).p", {"items.p TRANSFORMATION", "items.q FILTER", "price FILTER"}),
        ("window(if(price > 1, day, NULL), '1 minute').start", {"day TRANSFORMATION", "price CONDITIONAL"}),
        ("from_json(get_json_object(id, '$.a.b'), 'x int').x", {"a.b.x IDENTITY"}),
        ("get_json_object(id, '$.a')", {"a TRANSFORMATION"}),
    ],
)
def test_column_has_direct_and_indirect_edges(spark: SparkSession, expression: str, edges: set[str]) -> None:
    lineage = lineage_dsl.of(spark.sql(f"SELECT {expression} AS v FROM sales"))

    assert columns(lineage) == {"v": edges}
    assert lineage.unknown == frozenset()


def test_pivot_column_selects_values_and_not_rows(sales: DataFrame) -> None:
    lineage = lineage_dsl.of(sales.groupBy("id").pivot("amount", [1, 2]).agg(F.sum("price")))

    edges = {"price AGGREGATION", "amount CONDITIONAL"}
    assert columns(lineage) == {"id": {"id IDENTITY"}, "1": edges, "2": edges}
    assert rows(lineage) == {"id GROUP_BY"}


@pytest.mark.usefixtures("sales")
def test_scalar_subquery_is_a_value(spark: SparkSession) -> None:
    query = "SELECT (SELECT max(price) FROM sales i WHERE i.id = o.id) AS m FROM sales o"

    assert columns(lineage_dsl.of(spark.sql(query))) == {"m": {"1.price AGGREGATION", "1.id FILTER", "id FILTER"}}


@pytest.mark.usefixtures("sales")
@pytest.mark.parametrize(
    ("condition", "edges"),
    [
        ("amount > (SELECT avg(price) FROM sales)", {"amount FILTER", "1.price FILTER"}),
        ("amount IN (SELECT price FROM sales WHERE id = 'x')", {"amount FILTER", "1.price FILTER", "1.id FILTER"}),
        ("EXISTS (SELECT 1 FROM sales i WHERE i.price = o.amount)", {"amount FILTER", "1.price FILTER"}),
        ("NOT EXISTS (SELECT 1 FROM sales i WHERE i.price = o.amount)", {"amount FILTER", "1.price FILTER"}),
    ],
)
def test_subquery_in_a_condition_selects_rows(spark: SparkSession, condition: str, edges: set[str]) -> None:
    lineage = lineage_dsl.of(spark.sql(f"SELECT id FROM sales o WHERE {condition}"))

    assert columns(lineage) == {"id": {"id IDENTITY"}}
    assert rows(lineage) == edges
    assert lineage.unknown == frozenset()


@pytest.mark.usefixtures("sales")
def test_lateral_join_has_the_columns_of_both_sides(spark: SparkSession) -> None:
    query = "SELECT o.id, l.m FROM sales o, LATERAL (SELECT price + o.amount AS m FROM sales WHERE id = o.id) l"
    lineage = lineage_dsl.of(spark.sql(query))

    assert columns(lineage) == {"id": {"id IDENTITY"}, "m": {"amount TRANSFORMATION", "1.price TRANSFORMATION"}}
    assert rows(lineage) == {"id FILTER", "1.id FILTER"}


def test_set_operations_compare_whole_rows(sales: DataFrame) -> None:
    left, right = sales.select("id", "price"), sales.select("id", "amount")
    edges = {"id JOIN", "price JOIN", "1.id JOIN", "1.amount JOIN"}

    for made in (left.intersect(right), left.intersectAll(right), left.subtract(right), left.exceptAll(right)):
        lineage = lineage_dsl.of(made)
        assert columns(lineage) == {"id": {"id IDENTITY"}, "price": {"price IDENTITY"}}
        assert rows(lineage) == edges


def test_sample_and_observe_change_no_edges(sales: DataFrame) -> None:
    lineage = lineage_dsl.of(sales.observe("metrics", F.max("price").alias("m")).sample(0.5).select("id"))

    assert columns(lineage) == {"id": {"id IDENTITY"}}
    assert rows(lineage) == set()
    assert lineage.unknown == frozenset()


def test_exploded_array_of_structs_keeps_its_fields_and_multiplies_rows(sales: DataFrame) -> None:
    lineage = lineage_dsl.of(sales.select("id", F.explode("items").alias("item")).select("id", "item.p"))

    assert columns(lineage) == {"id": {"id IDENTITY"}, "p": {"items.p TRANSFORMATION"}}
    assert rows(lineage) == {"items JOIN"}
    assert lineage.unknown == frozenset()


@pytest.mark.usefixtures("sales")
def test_only_the_position_in_a_computed_array_is_unknown(spark: SparkSession) -> None:
    lineage = lineage_dsl.of(spark.sql("SELECT posexplode(filter(numbers, x -> x > price)) FROM sales"))

    assert lineage.unknown_columns == {"pos": {"PosExplode"}}
    assert columns(lineage)["col"] == {"numbers TRANSFORMATION", "numbers FILTER", "price FILTER"}


@pytest.mark.usefixtures("sales")
def test_unknown_column_does_not_affect_the_others(spark: SparkSession) -> None:
    lineage = lineage_dsl.of(spark.sql("SELECT id, max(struct(price p, amount q)).p AS v FROM sales GROUP BY id"))

    assert lineage.unknown_columns == {"v": {"field p of AggregateExpression"}}
    assert columns(lineage)["id"] == {"id IDENTITY"}
    assert lineage.unknown_rows == frozenset()
