# SPDX-License-Identifier: Apache-2.0
"""Lineage of live frames, analysed by the pinned Spark version."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from lineagelab_spark.plan import derive
from tests.unit.spark import lineage_dsl
from tests.unit.spark.lineage_dsl import columns, rows

AVRO = """{"type": "record", "name": "R", "fields": [
  {"name": "a", "type": "string"}, {"name": "b", "type": ["null", "long"]},
  {"name": "n", "type": {"type": "record", "name": "N", "fields": [{"name": "x", "type": "int"}]}}]}"""


@pytest.fixture
def sales(spark: SparkSession) -> DataFrame:
    schema = "id string, price decimal(10,2), amount int, supplier string, place struct<city: string, zip: string>"
    return spark.createDataFrame([], schema)


@pytest.fixture
def suppliers(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([], "name string, country string")


def test_select_rename_and_constant(sales: DataFrame) -> None:
    lineage = lineage_dsl.of(sales.select("id", F.col("price").alias("p"), F.lit(1).alias("one")))

    assert columns(lineage) == {"id": {"id IDENTITY"}, "p": {"price IDENTITY"}, "one": set()}
    assert rows(lineage) == set()


def test_cast_and_arithmetic_are_transformations(sales: DataFrame) -> None:
    total = (F.col("price") * F.col("amount")).alias("total")
    lineage = lineage_dsl.of(sales.select(F.col("amount").cast("string").alias("text"), total))

    assert columns(lineage) == {
        "text": {"amount TRANSFORMATION"},
        "total": {"price TRANSFORMATION", "amount TRANSFORMATION"},
    }


def test_cast_of_a_column_to_its_own_type_is_the_identity(spark: SparkSession) -> None:
    """Spark 3.5 and 4.0 make one for each column of an INSERT; later releases drop it."""
    ids = {"product-class": "org.apache.spark.sql.catalyst.expressions.ExprId", "jvmId": "0"}
    text = {"dataType": "string", "nullable": True, "metadata": {}, "qualifier": "[]"}
    source = [{"class": "x.AttributeReference", "num-children": 0, "name": "n", "exprId": {**ids, "id": 1}, **text}]
    for target, subtype in (("string", "IDENTITY"), ("binary", "TRANSFORMATION")):
        cast = {"class": "x.Cast", "num-children": 1, "child": 0, "dataType": target}
        alias = {"class": "x.Alias", "num-children": 1, "child": 0, "name": "code", "exprId": {**ids, "id": 2}}
        project = {"class": "x.Project", "num-children": 1, "projectList": [[alias, cast, *source]], "child": 0}
        leaf = {"class": "x.LogicalRelation", "num-children": 0, "output": [source]}
        lineage = derive(json.dumps([project, leaf]))
        assert columns(lineage) == {"code": {f"n {subtype}"}}


def test_filter_columns_are_row_edges(sales: DataFrame) -> None:
    lineage = lineage_dsl.of(sales.where("amount > 0").select("id"))

    assert columns(lineage) == {"id": {"id IDENTITY"}}
    assert rows(lineage) == {"amount FILTER"}


def test_filter_on_a_derived_column_traces_its_sources(sales: DataFrame) -> None:
    lineage = lineage_dsl.of(sales.withColumn("dear", F.col("price") > 5).where("dear").select("id"))

    assert rows(lineage) == {"price FILTER"}


def test_join_keys_are_row_edges(sales: DataFrame, suppliers: DataFrame) -> None:
    joined = sales.join(suppliers, F.col("supplier") == F.col("name"), "left").select("id", "country")

    lineage = lineage_dsl.of(joined)

    assert columns(lineage) == {"id": {"id IDENTITY"}, "country": {"1.country IDENTITY"}}
    assert rows(lineage) == {"supplier JOIN", "1.name JOIN"}


def test_join_using_a_common_name(sales: DataFrame, suppliers: DataFrame) -> None:
    lineage = lineage_dsl.of(sales.join(suppliers.withColumnRenamed("name", "supplier"), "supplier"))

    assert columns(lineage)["supplier"] == {"supplier IDENTITY"}
    assert rows(lineage) == {"supplier JOIN", "1.name JOIN"}


def test_semi_join_has_only_the_left_columns(sales: DataFrame, suppliers: DataFrame) -> None:
    lineage = lineage_dsl.of(sales.join(suppliers, F.col("supplier") == F.col("name"), "left_semi").select("id"))

    assert columns(lineage) == {"id": {"id IDENTITY"}}
    assert rows(lineage) == {"supplier JOIN", "1.name JOIN"}


def test_self_join_keeps_both_sides_distinct(sales: DataFrame) -> None:
    left, right = sales.alias("l"), sales.alias("r")
    joined = left.join(right, F.col("l.id") == F.col("r.supplier")).select("l.price", F.col("r.amount").alias("a"))

    lineage = lineage_dsl.of(joined)

    assert columns(lineage) == {"price": {"price IDENTITY"}, "a": {"1.amount IDENTITY"}}


def test_aggregates_and_their_keys(sales: DataFrame) -> None:
    totals = sales.groupBy("supplier").agg(
        F.sum("price").try_cast("decimal(12,2)").alias("total"),
        F.count("*").alias("orders"),
        F.count("id").alias("ids"),
    )

    lineage = lineage_dsl.of(totals)

    assert columns(lineage) == {
        "supplier": {"supplier IDENTITY"},
        "total": {"price AGGREGATION"},
        "orders": set(),
        "ids": {"id AGGREGATION masking"},
    }
    assert rows(lineage) == {"supplier GROUP_BY"}


def test_aggregate_filter_affects_only_its_column(spark: SparkSession, sales: DataFrame) -> None:
    sales.createOrReplaceTempView("sales")
    lineage = lineage_dsl.of(spark.sql("SELECT sum(price) FILTER (WHERE amount > 1) AS t FROM sales"))

    assert columns(lineage) == {"t": {"price AGGREGATION", "amount FILTER"}}
    assert rows(lineage) == set()


def test_having_columns_are_row_edges(spark: SparkSession, sales: DataFrame) -> None:
    sales.createOrReplaceTempView("sales")
    query = "SELECT supplier FROM sales GROUP BY supplier HAVING sum(amount) > 10"

    assert rows(lineage_dsl.of(spark.sql(query))) == {"supplier GROUP_BY", "amount FILTER"}


def test_rollup_expands_its_keys(sales: DataFrame) -> None:
    lineage = lineage_dsl.of(sales.rollup("supplier", "id").agg(F.sum("amount").alias("n")).select("supplier", "n"))

    assert columns(lineage) == {"supplier": {"supplier IDENTITY"}, "n": {"amount AGGREGATION"}}
    assert {"supplier GROUP_BY", "id GROUP_BY"} <= rows(lineage)


def test_union_is_by_position(sales: DataFrame, suppliers: DataFrame) -> None:
    lineage = lineage_dsl.of(sales.select("id", "supplier").union(suppliers.select("country", F.upper("name"))))

    assert columns(lineage) == {
        "id": {"id IDENTITY", "1.country IDENTITY"},
        "supplier": {"supplier IDENTITY", "1.name TRANSFORMATION"},
    }


def test_window_keys_affect_only_their_column(sales: DataFrame) -> None:
    window = Window.partitionBy("supplier").orderBy("amount")
    ranked = sales.select("id", F.row_number().over(window).alias("r"), F.sum("price").over(window).alias("s"))

    lineage = lineage_dsl.of(ranked)

    assert columns(lineage) == {
        "id": {"id IDENTITY"},
        "r": {"supplier WINDOW", "amount WINDOW"},
        "s": {"price AGGREGATION", "supplier WINDOW", "amount WINDOW"},
    }
    assert rows(lineage) == set()


def test_first_row_per_key_filters_by_the_window_keys(sales: DataFrame) -> None:
    window = Window.partitionBy("id").orderBy("amount")
    first = sales.withColumn("n", F.row_number().over(window)).where("n = 1").select("id", "price")

    assert rows(lineage_dsl.of(first)) == {"id FILTER", "amount FILTER"}


def test_dropped_duplicates_group_by_their_keys(sales: DataFrame) -> None:
    assert rows(lineage_dsl.of(sales.dropDuplicates(["id"]).select("price"))) == {"id GROUP_BY"}
    assert rows(lineage_dsl.of(sales.select("id", "amount").distinct())) == {"id GROUP_BY", "amount GROUP_BY"}


def test_sort_and_limit(sales: DataFrame) -> None:
    assert rows(lineage_dsl.of(sales.orderBy("price").limit(3).select("id"))) == {"price SORT"}


def test_condition_is_indirect_for_its_column(sales: DataFrame) -> None:
    banded = F.when(F.col("price") > 5, F.upper("supplier")).when(F.col("amount") > 1, F.col("id")).otherwise("none")

    assert columns(lineage_dsl.of(sales.select(banded.alias("band")))) == {
        "band": {"supplier TRANSFORMATION", "id TRANSFORMATION", "price CONDITIONAL", "amount CONDITIONAL"}
    }


def test_hash_functions_are_masking(sales: DataFrame) -> None:
    lineage = lineage_dsl.of(sales.select(F.sha2("id", 256).alias("h"), F.concat("id", F.md5("id")).alias("c")))

    assert columns(lineage) == {"h": {"id TRANSFORMATION masking"}, "c": {"id TRANSFORMATION"}}


def test_struct_field_of_a_source_is_a_source_column(sales: DataFrame) -> None:
    assert columns(lineage_dsl.of(sales.select("place.city"))) == {"city": {"place.city IDENTITY"}}


def test_field_of_a_constructed_struct_traces_its_expression(sales: DataFrame) -> None:
    made = sales.select(F.struct("id", F.upper("supplier").alias("s")).alias("both"))

    assert columns(lineage_dsl.of(made.select("both.id", "both.s"))) == {
        "id": {"id IDENTITY"},
        "s": {"supplier TRANSFORMATION"},
    }
    assert columns(lineage_dsl.of(made)) == {"both": {"id IDENTITY", "supplier TRANSFORMATION"}}


def test_fields_of_a_decoded_message_are_source_columns(spark: SparkSession) -> None:
    records = spark.createDataFrame([], "key binary, value binary")
    decoded = records.select(
        from_avro("value", AVRO).alias("m"), F.from_json(F.col("key").cast("string"), "k int").alias("j")
    )

    lineage = lineage_dsl.of(
        decoded.select("m.a", (F.col("m.b") + 1).alias("b1"), "m.n.x", "j.k", F.to_json("m").alias("all"))
    )

    assert columns(lineage) == {
        "a": {"a IDENTITY"},
        "b1": {"b TRANSFORMATION"},
        "x": {"n.x IDENTITY"},
        "k": {"k IDENTITY"},
        "all": {"a TRANSFORMATION", "b TRANSFORMATION", "n TRANSFORMATION"},
    }
    assert {d.fields for d in lineage.decodings} == {
        (("a", "string"), ("b", "long"), ("n", "record")),
        (("k", "integer"),),
    }


def test_framed_message_has_the_lineage_of_a_plain_one(spark: SparkSession) -> None:
    records = spark.createDataFrame([], "value binary")
    decoded = records.select(from_avro(F.expr("substring(value, 6)"), AVRO).alias("m")).select("m.a")

    assert columns(lineage_dsl.of(decoded)) == {"a": {"a IDENTITY"}}


def test_common_table_expressions_and_views(spark: SparkSession, sales: DataFrame) -> None:
    sales.createOrReplaceTempView("sales")
    query = """WITH t AS (SELECT *, price * amount AS total FROM sales)
               SELECT l.id, r.total AS other FROM t l JOIN t r ON l.id = r.supplier"""

    lineage = lineage_dsl.of(spark.sql(query))

    assert {name: {t.split(".")[-1] for t in made} for name, made in columns(lineage).items()} == {
        "id": {"id IDENTITY"},
        "other": {"price TRANSFORMATION", "amount TRANSFORMATION"},
    }
    assert lineage.unknown == frozenset()


def test_generators_higher_order_and_python_functions(sales: DataFrame) -> None:
    shout = F.udf(lambda text: f"{text}!", "string")
    made = sales.select(
        F.explode(F.array("id", "supplier")).alias("e"),
        F.transform(F.array("amount"), lambda n: n + F.col("price")).alias("t"),
        shout("id").alias("u"),
    )

    assert columns(lineage_dsl.of(made)) == {
        "e": {"id TRANSFORMATION", "supplier TRANSFORMATION"},
        "t": {"amount TRANSFORMATION", "price TRANSFORMATION"},
        "u": {"id TRANSFORMATION"},
    }


def test_fields_of_a_python_functions_result_depend_on_all_arguments(sales: DataFrame) -> None:
    """Spark does not see which field comes from which argument, as it does not see how a plain result is made."""
    parts = F.udf(lambda text, number: [(text, (number,))], "array<struct<a: string, b: struct<c: int>>>")
    made = parts("id", "price")
    both = {"id TRANSFORMATION", "price TRANSFORMATION"}
    for frame, names in (
        (sales.select(made[0].a.alias("a"), made[0].b.c.alias("c")), "ac"),
        (sales.select(F.inline(made)), "ab"),
        (sales.select(F.explode(made).alias("e")).select("e.b.c"), "c"),
    ):
        lineage = lineage_dsl.of(frame)
        assert columns(lineage) == dict.fromkeys(names, both)
        assert lineage.unknown == frozenset()


class _Pairs:
    def eval(self, *values: object) -> Iterator[tuple[object, tuple[object]]]:
        yield values[0], (values[0],)


def test_columns_of_a_table_function_depend_on_everything_that_goes_in(sales: DataFrame) -> None:
    pairs: Any = F.udtf(_Pairs, returnType="a string, b struct<c: string>", useArrow=False)
    every = sales.select("id", "price").asTable().withSinglePartition().orderBy("price")
    whole = lineage_dsl.of(pairs(every).select("a", "b.c"))
    assert whole.unknown == frozenset()
    for found in columns(whole).values():
        assert {text.split(" ")[0] for text in found if not text.endswith("SORT")} == {"id", "price"}
    sales.createOrReplaceTempView("sales")
    sales.sparkSession.udtf.register("pairs", pairs)
    each = lineage_dsl.of(sales.sparkSession.sql("SELECT id, p.b.c AS c FROM sales, LATERAL pairs(supplier) p"))
    assert columns(each) == {"id": {"id IDENTITY"}, "c": {"supplier TRANSFORMATION"}}
    assert each.unknown == frozenset()


def test_time_windows(spark: SparkSession) -> None:
    bids = spark.createDataFrame([], "bid_time timestamp, price int")
    totals = bids.groupBy(F.window("bid_time", "1 minute")).agg(F.sum("price").alias("t")).select("window.start", "t")

    lineage = lineage_dsl.of(totals)

    assert columns(lineage) == {"start": {"bid_time TRANSFORMATION"}, "t": {"price AGGREGATION"}}
    assert rows(lineage) == {"bid_time GROUP_BY", "bid_time FILTER"}


def test_streaming_frames_have_the_same_lineage(spark: SparkSession) -> None:
    ticks = spark.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
    counted = ticks.dropDuplicatesWithinWatermark(["value"]).where("value > 3").select(F.col("value").alias("v"))

    lineage = lineage_dsl.of(counted)

    assert columns(lineage) == {"v": {"value IDENTITY"}}
    assert rows(lineage) == {"value GROUP_BY", "value FILTER", "timestamp FILTER"}
    assert lineage.unknown == frozenset()


def test_rows_that_pass_an_external_function_depend_on_all_columns(sales: DataFrame) -> None:
    sales.createOrReplaceTempView("sales")
    lineage = lineage_dsl.of(sales.sparkSession.sql("SELECT TRANSFORM(id, price) USING 'cat' AS (x, y) FROM sales"))

    every = {"id TRANSFORMATION", "price TRANSFORMATION"}
    assert columns(lineage) == {"x": every, "y": every}
    assert rows(lineage) == {"id FILTER", "price FILTER"}
