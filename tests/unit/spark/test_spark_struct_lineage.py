# SPDX-License-Identifier: Apache-2.0
"""Lineage through structs, generators and common table expressions: exact, or reported as unknown."""

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from lineagelab_spark.plan import PlanLineage
from tests.unit.spark import lineage_dsl
from tests.unit.spark.lineage_dsl import columns, rows

AVRO = """{"type": "record", "name": "R", "fields": [
  {"name": "a", "type": "string"},
  {"name": "n", "type": ["null", {"type": "record", "name": "N", "fields": [{"name": "x", "type": "int"}]}]}]}"""


@pytest.fixture
def sales(spark: SparkSession) -> DataFrame:
    schema = "id string, price int, amount int, place struct<city: string, zip: string>, tags map<string, int>"
    frame = spark.createDataFrame([], schema)
    frame.createOrReplaceTempView("sales")
    return frame


def sql(spark: SparkSession, query: str) -> PlanLineage:
    return lineage_dsl.of(spark.sql(query))


@pytest.mark.usefixtures("sales")
@pytest.mark.parametrize(
    ("expression", "edges"),
    [
        ("place.CITY", {"place.city IDENTITY"}),
        ("struct(price, amount).PRICE", {"price IDENTITY"}),
        ("coalesce(place, null).city", {"place.city TRANSFORMATION"}),
        ("if(id = 'x', place, null).city", {"place.city TRANSFORMATION", "id CONDITIONAL"}),
        ("array(struct(price p, amount q)).P", {"price TRANSFORMATION"}),
        ("first(struct(price p, amount q)).p", {"price AGGREGATION"}),
        ("last(place).zip", {"place.zip AGGREGATION"}),
        ("first(place) FILTER (WHERE id = 'x').zip", {"place.zip AGGREGATION", "id FILTER"}),
        ("(lag(place) OVER (ORDER BY id)).city", {"place.city TRANSFORMATION", "id WINDOW"}),
        ("from_json(concat(id, place.city), 'a int, b int').a", {"id TRANSFORMATION", "place.city TRANSFORMATION"}),
        ("from_json(if(id = 'x', '{}', null), 'a int').a", {"id CONDITIONAL"}),
        ("from_json(max(id), 'a int').a", {"id AGGREGATION"}),
        ("transform(array(struct(price p, amount q)), s -> s.p)", {"price TRANSFORMATION"}),
        ("filter(array(struct(price p, amount q)), s -> s.q > 1).p", {"price TRANSFORMATION", "amount FILTER"}),
        ("array(struct(price p, amount q))[0].p", {"price TRANSFORMATION"}),
        ("collect_list(struct(price p, amount q)).p", {"price AGGREGATION"}),
        ("cast(struct(price p, amount q) as struct<r: bigint, s: bigint>).r", {"price TRANSFORMATION"}),
    ],
)
def test_struct_field_has_only_its_own_edges(spark: SparkSession, expression: str, edges: set[str]) -> None:
    lineage = sql(spark, f"SELECT {expression} AS v FROM sales")

    assert columns(lineage) == {"v": edges}
    assert lineage.unknown == frozenset()
    assert lineage.decodings == frozenset()


@pytest.mark.usefixtures("sales")
@pytest.mark.parametrize(
    ("expression", "unknown"),
    [
        ("max(struct(price p, amount q)).p", "field p of AggregateExpression"),
        ("array(struct(price p, amount q))[price].p", "field p of GetArrayItem"),
        ("map('k', struct(price p, amount q))['k'].p", "field p of GetMapValue"),
    ],
)
def test_field_of_an_unsupported_struct_is_unknown(spark: SparkSession, expression: str, unknown: str) -> None:
    assert sql(spark, f"SELECT {expression} AS v FROM sales").unknown == {unknown}


def test_fields_of_a_decoded_message_are_case_insensitive(spark: SparkSession) -> None:
    decoded = spark.createDataFrame([], "value binary").select(from_avro("value", AVRO).alias("m"))

    lineage = lineage_dsl.of(decoded.select("m.A", F.col("M.N.X").alias("x")))

    assert columns(lineage) == {"A": {"a IDENTITY"}, "x": {"n.x IDENTITY"}}
    assert lineage.unknown == frozenset()


def test_all_fields_of_a_struct(spark: SparkSession, sales: DataFrame) -> None:
    message = spark.createDataFrame([], "value binary").select(from_avro("value", AVRO).alias("m"))
    made = sales.select(F.struct("id", F.upper("id").alias("u")).alias("s"), "place")

    assert columns(lineage_dsl.of(message.select("m.*"))) == {"a": {"a IDENTITY"}, "n": {"n IDENTITY"}}
    assert columns(lineage_dsl.of(made.select("s.*", "place.*"))) == {
        "id": {"id IDENTITY"},
        "u": {"id TRANSFORMATION"},
        "city": {"place.city IDENTITY"},
        "zip": {"place.zip IDENTITY"},
    }


def test_updated_structs(sales: DataFrame) -> None:
    place = F.col("place")
    changed = sales.select(
        place.withField("city", F.lit("x")).alias("constant"),
        place.withField("price", F.col("price")).alias("more"),
        place.dropFields("zip").alias("less"),
    )

    assert columns(lineage_dsl.of(changed)) == {
        "constant": {"place.zip IDENTITY"},
        "more": {"place.city IDENTITY", "place.zip IDENTITY", "price IDENTITY"},
        "less": {"place.city IDENTITY"},
    }
    assert columns(lineage_dsl.of(changed.select("constant.city", "more.price", "less.*"))) == {
        "city": {"place.city IDENTITY"},
        "price": {"price IDENTITY"},
    }
    other_case = lineage_dsl.of(sales.select(place.withField("CITY", F.lit("x")).alias("p")))
    assert other_case.unknown == {"WithField CITY"}


def test_structs_in_a_union(sales: DataFrame) -> None:
    made = sales.select(F.struct(F.col("id").alias("city"), F.lit("-").alias("zip")).alias("place"))

    assert columns(lineage_dsl.of(sales.select("place").union(made).select("place.city"))) == {
        "city": {"place.city IDENTITY", "1.id IDENTITY"}
    }


@pytest.mark.usefixtures("sales")
@pytest.mark.parametrize(
    ("generator", "edges"),
    [
        ("inline(array(struct(price p, amount q)))", {"p": {"price TRANSFORMATION"}, "q": {"amount TRANSFORMATION"}}),
        ("explode(map(id, price))", {"key": {"id TRANSFORMATION"}, "value": {"price TRANSFORMATION"}}),
        ("posexplode(array(price, amount))", {"pos": set(), "col": {"price TRANSFORMATION", "amount TRANSFORMATION"}}),
        ("explode(tags)", {"key": {"tags TRANSFORMATION"}, "value": {"tags TRANSFORMATION"}}),
        ("stack(2, price, amount)", {"col0": {"price TRANSFORMATION", "amount TRANSFORMATION"}}),
    ],
)
def test_generators(spark: SparkSession, generator: str, edges: dict[str, set[str]]) -> None:
    lineage = sql(spark, f"SELECT {generator} FROM sales")

    assert columns(lineage) == edges
    assert lineage.unknown == frozenset()


@pytest.mark.usefixtures("sales")
@pytest.mark.parametrize(
    ("generator", "unknown"),
    [
        ("stack(2, 'p', price, 'a', amount)", "Stack"),
        ("posexplode(sequence(price, amount))", "PosExplode"),
        ("json_tuple(id, 'a', 'b')", "JsonTuple"),
        ("inline(if(price > 1, arrays_zip(array(price), array(amount)), null))", "Inline"),
    ],
)
def test_generator_outputs_are_not_mixed(spark: SparkSession, generator: str, unknown: str) -> None:
    assert sql(spark, f"SELECT {generator} FROM sales").unknown == {unknown}


def test_a_field_of_an_exploded_struct(sales: DataFrame) -> None:
    structs = F.array(F.struct("price", "id"), F.struct(F.lit(1).alias("price"), "id"))
    exploded = sales.select(F.explode(structs).alias("e"))

    assert columns(lineage_dsl.of(exploded.select("e.price"))) == {"price": {"price TRANSFORMATION"}}


def test_unpivoted_columns_have_their_values(sales: DataFrame) -> None:
    lineage = lineage_dsl.of(sales.unpivot("id", ["price", "amount"], "name", "value"))

    assert columns(lineage) == {"id": {"id IDENTITY"}, "name": set(), "value": {"price IDENTITY", "amount IDENTITY"}}
    assert lineage.unknown == frozenset()


@pytest.fixture
def other(spark: SparkSession) -> None:
    spark.createDataFrame([], "id string, country string").createOrReplaceTempView("other")


@pytest.mark.usefixtures("sales", "other")
def test_unused_cte_has_no_edges(spark: SparkSession) -> None:
    lineage = sql(
        spark,
        """WITH unused AS (SELECT * FROM other WHERE country = 'de'),
                unused_too AS (SELECT * FROM unused),
                used AS (SELECT id, price FROM sales WHERE amount > 1),
                outer AS (SELECT id FROM used)
           SELECT id FROM outer""",
    )

    read = [leaf.kind for leaf in lineage.leaves if leaf.is_read]
    assert read == ["LogicalRDD", "CTERelationRef", "CTERelationRef"]
    (ordinal,) = (i for i, leaf in enumerate(lineage.leaves) if leaf.is_read and leaf.kind == "LogicalRDD")
    assert columns(lineage) == {"id": {f"{ordinal}.id IDENTITY"}}
    assert rows(lineage) == {f"{ordinal}.amount FILTER"}
    assert lineage.unknown == frozenset()


@pytest.mark.usefixtures("sales", "other")
def test_cte_used_by_a_subquery_has_edges(spark: SparkSession) -> None:
    lineage = sql(spark, "WITH c AS (SELECT id FROM other) SELECT id FROM sales WHERE id IN (SELECT id FROM c)")

    assert all(leaf.is_read for leaf in lineage.leaves)
    assert lineage.unknown == frozenset()
    assert {text.split(".")[-1] for text in rows(lineage)} == {"id FILTER"}
    assert len({text.split(".")[0] for text in rows(lineage)}) == 2


FRAMED = "from_avro(if(substring(value, 1, 5) = X'0000000001', substring(value, 6), NULL), '{schema}')"


def framed(spark: SparkSession, *selected: str, where: str = "true") -> PlanLineage:
    """Return the lineage of a frame that decodes `m` after a header of five bytes and keeps `value`."""
    records = spark.createDataFrame([], "value binary, key binary").where(where)
    return lineage_dsl.of(records.selectExpr("*", FRAMED.format(schema=AVRO) + " AS m").selectExpr(*selected))


def test_message_header_is_not_a_column(spark: SparkSession) -> None:
    known = "if(substring(value, 1, 5) = X'0000000001', 'yes', 'no') AS known"
    lineage = framed(spark, "m.a", known, where="value IS NOT NULL AND substring(value, 1, 1) = X'00'")

    assert columns(lineage) == {"a": {"a IDENTITY"}, "known": set()}
    assert rows(lineage) == set()
    assert {(d.column, d.start) for d in lineage.decodings} == {("value", 6)}


@pytest.mark.parametrize(
    ("condition", "edges"),
    [
        ("substring(value, 1, 6) = X'00'", {"value FILTER"}),
        ("substring(value, 5, 2) = X'00'", {"value FILTER"}),
        ("substring(value, -1, 1) = X'00'", {"value FILTER"}),
        ("substring(value, 1, length(key)) = X'00'", {"value FILTER", "key FILTER"}),
        ("length(value) > 5", {"value FILTER"}),
        ("value > X'00'", {"value FILTER"}),
        ("key IS NOT NULL", {"key FILTER"}),
        ("substring(key, 1, 5) = X'00'", {"key FILTER"}),
    ],
)
def test_expression_beyond_the_header_depends_on_the_message(
    spark: SparkSession, condition: str, edges: set[str]
) -> None:
    assert rows(framed(spark, "m.a", where=condition)) == edges


def test_header_copied_into_a_column_has_an_edge(spark: SparkSession) -> None:
    assert columns(framed(spark, "m.a", "hex(substring(value, 2, 4)) AS id")) == {
        "a": {"a IDENTITY"},
        "id": {"value TRANSFORMATION"},
    }


def test_header_without_a_decoder_is_part_of_the_column(spark: SparkSession) -> None:
    records = spark.createDataFrame([], "value binary").where("substring(value, 1, 5) = X'00' AND value IS NOT NULL")

    assert rows(lineage_dsl.of(records.selectExpr("substring(value, 6) AS v"))) == {"value FILTER"}


def test_message_without_offset_has_no_header(spark: SparkSession) -> None:
    records = spark.createDataFrame([], "value binary").where("substring(value, 1, 1) = X'00' AND value IS NOT NULL")
    decoded = records.select(from_avro("value", AVRO).alias("m")).select("m.a")

    assert rows(lineage_dsl.of(decoded)) == {"value FILTER"}


@pytest.mark.parametrize(
    ("choice", "edges"),
    [
        ("coalesce(id, id)", {"id IDENTITY"}),
        ("coalesce(id)", {"id IDENTITY"}),
        ("coalesce(id, NULL)", {"id TRANSFORMATION"}),
        ("coalesce(upper(id), id)", {"id TRANSFORMATION"}),
        ("coalesce(place, place).city", {"place.city IDENTITY"}),
    ],
)
@pytest.mark.usefixtures("sales")
def test_conditional_between_one_column_is_that_column(spark: SparkSession, choice: str, edges: set[str]) -> None:
    assert columns(sql(spark, f"SELECT {choice} AS v FROM sales")) == {"v": edges}


def test_message_with_several_schemas_has_the_columns_of_all(spark: SparkSession) -> None:
    other = AVRO.replace('"a"', '"b"')
    records = spark.createDataFrame([], "value binary").selectExpr(
        f"{FRAMED.format(schema=AVRO)} AS first",
        f"{FRAMED.format(schema=other).replace('0000000001', '0000000002')} AS second",
    )

    lineage = lineage_dsl.of(records.selectExpr("coalesce(first.n.x, second.n.x) AS x", "first.a", "second.b"))

    assert columns(lineage) == {"x": {"n.x IDENTITY"}, "a": {"a IDENTITY"}, "b": {"b IDENTITY"}}
    assert {tuple(name for name, _ in d.fields) for d in lineage.decodings} == {("a", "n"), ("b", "n")}
