# SPDX-License-Identifier: Apache-2.0
"""Sources without a dataset name: the columns that derive from them are unknown, and the others are kept."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from infra.namespaces import JOB_NAMESPACE
from lineagelab_spark import SparkLineage

SOURCE, TARGET, OTHER = "lake.sources.src", "lake.sources.target", "lake.sources.other"


@pytest.fixture
def lineage(spark: SparkSession) -> Iterator[SparkLineage]:
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.sources")
    for table in (SOURCE, TARGET, OTHER):
        spark.sql(f"CREATE TABLE {table} (id string, country string) USING iceberg")
    yield SparkLineage(spark, JOB_NAMESPACE, "http://127.0.0.1:9")
    for table in (SOURCE, TARGET, OTHER):
        spark.sql(f"DROP TABLE {table} PURGE")


def event(lineage: SparkLineage, frame: DataFrame) -> tuple[list[str], dict[str, Any]]:
    """Return the names of the inputs, and the column lineage of the output."""
    made = lineage.event(frame, TARGET, "append_data")
    (output,) = made["outputs"]
    return [dataset["name"].rpartition("/")[2] for dataset in made["inputs"]], output["facets"]["columnLineage"]


def checkpoint(spark: SparkSession, _: Path) -> DataFrame:
    return spark.table(SOURCE).localCheckpoint()


def snapshots(spark: SparkSession, _: Path) -> DataFrame:
    return spark.sql(f"SELECT CAST(snapshot_id AS string) AS id, operation AS country FROM {SOURCE}.snapshots")


def pattern(spark: SparkSession, _: Path) -> DataFrame:
    kafka = spark.readStream.format("kafka").option("kafka.bootstrap.servers", "k:1").option("subscribePattern", "o.*")
    return kafka.load().selectExpr("CAST(key AS string) AS id", "topic AS country")


@pytest.mark.parametrize(
    ("source", "named"),
    [
        (checkpoint, "a source of kind LogicalRDD"),
        (snapshots, "table lake.sources.src.snapshots, which is not an Iceberg data table"),
        (pattern, "a topic pattern at k:1"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_columns_of_a_source_without_a_name_are_unknown(
    spark: SparkSession,
    lineage: SparkLineage,
    source: Callable[[SparkSession, Path], DataFrame],
    named: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    joined = spark.table(SOURCE).select("id").join(source(spark, tmp_path), "id", "left")

    inputs, columns = event(lineage, joined)

    assert inputs == ["src"]
    assert columns["unknownFields"] == ["country"]
    assert f"country: {named}" in columns["unknownBecause"]
    assert [origin["field"] for origin in columns["fields"]["id"]["inputFields"]] == ["id"]
    assert named in caplog.text


def test_constants_and_unused_sources_keep_the_columns(spark: SparkSession, lineage: SparkLineage) -> None:
    spark.range(1).localCheckpoint().createOrReplaceTempView("checkpoint")
    frame = spark.sql(
        f"WITH unused AS (SELECT * FROM checkpoint) SELECT s.id, 'de' AS country FROM {SOURCE} s CROSS JOIN range(1)"
    )

    inputs, columns = event(lineage, frame)

    assert set(columns["fields"]) == {"id", "country"}
    assert "unknownFields" not in columns
    assert inputs == ["src"]


def test_rows_given_by_the_driver_are_constants(spark: SparkSession, lineage: SparkLineage) -> None:
    given = spark.createDataFrame([("a", "de")], "id string, country string")

    inputs, columns = event(lineage, spark.table(SOURCE).select("id").join(given, "id"))

    assert inputs == ["src"]
    assert columns["fields"]["country"]["inputFields"] == []
    assert "unknownFields" not in columns


def test_tables_of_subqueries_are_inputs(spark: SparkSession, lineage: SparkLineage) -> None:
    frame = spark.sql(
        f"SELECT id, (SELECT max(country) FROM {OTHER}) AS country FROM {SOURCE} WHERE id IN (SELECT id FROM {OTHER})"
    )

    inputs, columns = event(lineage, frame)

    assert inputs == ["other", "src"]
    assert [origin["name"].rpartition("/")[2] for origin in columns["fields"]["country"]["inputFields"]] == ["other"]
    assert "unknownFields" not in columns


def test_columns_written_by_position_have_the_names_of_the_table(spark: SparkSession, lineage: SparkLineage) -> None:
    made = lineage.event(spark.table(SOURCE).select("country", "id"), TARGET, "insert", by_position=True)

    (output,) = made["outputs"]
    fields = output["facets"]["columnLineage"]["fields"]
    assert {name: [o["field"] for o in field["inputFields"]] for name, field in fields.items()} == {
        "id": ["country"],
        "country": ["id"],
    }


def test_json_in_a_table_is_its_column(spark: SparkSession, lineage: SparkLineage) -> None:
    parsed = spark.table(SOURCE).selectExpr("from_json(country, 'code string').code AS country")

    _, columns = event(lineage, parsed)

    (origin,) = columns["fields"]["country"]["inputFields"]
    assert origin["field"] == "country"
    assert [each["subtype"] for each in origin["transformations"]] == ["TRANSFORMATION"]


def test_column_names_have_the_case_of_the_table(spark: SparkSession, lineage: SparkLineage) -> None:
    made = lineage.event(spark.table(SOURCE).select("ID", "Country"), TARGET, "append_data")

    (output,) = made["outputs"]
    assert set(output["facets"]["columnLineage"]["fields"]) == {"id", "country"}


def test_write_without_a_dataset_name_is_not_reported(spark: SparkSession, lineage: SparkLineage) -> None:
    with pytest.raises(ValueError, match="cannot name the dataset that is written"):
        lineage.event(spark.table(SOURCE), f"{SOURCE}.snapshots", "append_data")
