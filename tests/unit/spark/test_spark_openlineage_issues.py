# SPDX-License-Identifier: Apache-2.0
"""Issues of OpenLineage about streaming queries: the reproduction of each, with this package.

Each test is named after an issue of github.com/OpenLineage/OpenLineage. Tables and files replace Kafka as the source:
the issues are about plans and runs, not about the connector.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from infra.toolchain import Artifacts
from lineagelab_spark import BatchOutputs
from tests.unit.integrations.lineage_endpoint import TAKEN, answering
from tests.unit.shop.postgres_server import PostgresServer
from tests.unit.spark.test_spark_query_runs import (  # noqa: F401 - fixtures
    TABLE,
    Event,
    Make,
    Service,
    Stream,
    lineage,
    names,
    service,
    sources,
    stream,
)

JDBC_DRIVER = """
import sys
from pyspark.sql import SparkSession
from lineagelab_spark import QueryLineage

lineage_url, url, password = sys.argv[1:]
spark = SparkSession.builder.appName("jdbc").master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
spark.createDataFrame([(1, "a")], "id long, name string").write.parquet("source")
lineage = QueryLineage(spark, "shop", lineage_url)

def write(batch, number, outputs):
    outputs.describe(batch, f"jdbc.`{url}`.public.test")
    batch.write.format("jdbc").option("url", url).option("driver", "org.postgresql.Driver").option(
        "dbtable", "public.test").option("user", "postgres").option("password", password).mode("append").save()

writer = spark.readStream.schema("id long, name string").parquet("source").writeStream.queryName("to_postgres")
query = lineage.foreach_batch(writer.trigger(availableNow=True).option("checkpointLocation", "checkpoint"), write)
query.awaitTermination()
lineage.close()
spark.stop()
"""


def columns(event: Event) -> dict[str, set[str]]:
    (output,) = event["outputs"]
    return {column: sources(event, 0, column) for column in output["facets"]["columnLineage"]["fields"]}


def test_1581_streaming_query_has_column_lineage(stream: Stream, service: Service, lineage: Make) -> None:  # noqa: F811
    made = lineage()
    frame = stream.frame().where("price > 1").select(F.upper("id").alias("id"), (F.col("price") * 2).alias("price"))
    made.to_table(stream.writer("i1581", frame, availableNow=True), TABLE).awaitTermination()
    made.close()
    assert columns(service.of("i1581")[-1]) == {"id": {"id TRANSFORMATION"}, "price": {"price TRANSFORMATION"}}


def test_3105_long_running_query_sends_running_events(stream: Stream, service: Service, lineage: Make) -> None:  # noqa: F811
    made = lineage(interval=1)
    made.to_table(stream.writer("i3105"), TABLE)
    service.wait_for_kind("i3105", "RUNNING", 3)  # also while no data comes
    made.close()
    assert service.kinds("i3105") == ["START", "RUNNING", "ABORT"]
    assert len({event["run"]["runId"] for event in service.of("i3105")}) == 1


def test_3398_foreach_batch_is_one_job_with_input_and_output(
    stream: Stream,  # noqa: F811
    service: Service,  # noqa: F811
    lineage: Make,  # noqa: F811
    tmp_path: Path,
) -> None:
    folder = tmp_path / "batch_sink"

    def write(batch: DataFrame, _: int, outputs: BatchOutputs) -> None:
        projected = batch.select(F.col("id").cast("string").alias("value"))
        outputs.describe(projected, f"parquet.`{folder}`")
        projected.write.mode("append").parquet(str(folder))

    made = lineage()
    made.foreach_batch(stream.writer("i3398", availableNow=True), write).awaitTermination()
    made.close()
    assert {event["job"]["name"] for event in service.events} == {"i3398"}
    last = service.of("i3398")[-1]
    assert (last["eventType"], names(last["inputs"])) == ("COMPLETE", ["source"])
    assert [(output["namespace"], output["name"]) for output in last["outputs"]] == [("file", str(folder))]
    assert columns(last) == {"value": {"id IDENTITY"}}


@pytest.mark.slow
def test_2867_foreach_batch_into_jdbc_names_the_stream(tmp_path: Path) -> None:
    artifacts = Artifacts.open()
    if not artifacts.has("postgres"):
        pytest.skip("component postgres is not installed; run bin/lab setup")
    driver_jars = artifacts.component("iceberg-rest-catalog") / "lib"
    (driver_jar,) = driver_jars.glob("postgresql-*.jar")
    server = PostgresServer(tmp_path / "postgres")
    server.start()
    try:
        with answering(TAKEN) as receiver:
            url = f"jdbc:postgresql://{server.address}/postgres"
            done = subprocess.run(
                [sys.executable, "-c", JDBC_DRIVER, receiver.url, url, server.password],
                cwd=tmp_path,
                env=_environment(driver_jar),
                capture_output=True,
                text=True,
                timeout=300,
            )
            assert done.returncode == 0, done.stderr
    finally:
        server.stop()
    assert {event["job"]["name"] for event in receiver.taken} == {"to_postgres"}
    last = receiver.taken[-1]
    assert (last["eventType"], names(last["inputs"])) == ("COMPLETE", ["source"])
    (output,) = last["outputs"]
    assert (output["namespace"], output["name"]) == (f"postgres://{server.address}", "postgres.public.test")
    assert columns(last) == {"id": {"id IDENTITY"}, "name": {"name IDENTITY"}}


def _environment(jar: Path) -> dict[str, str]:
    submit = {"PYSPARK_SUBMIT_ARGS": f"--driver-class-path {jar} pyspark-shell", "SPARK_LOCAL_IP": "127.0.0.1"}
    return {**os.environ, **submit, "PYTHONPATH": ":".join(sys.path)}


def test_4110_file_sink_has_its_output(
    spark: SparkSession,
    service: Service,  # noqa: F811
    lineage: Make,  # noqa: F811
    tmp_path: Path,
) -> None:
    frame = (
        spark.readStream.format("rate")
        .option("rowsPerSecond", 5)
        .load()
        .withColumn("id", F.col("value") % 1000)
        .withColumn("name", F.concat(F.lit("user_"), (F.col("value") % 100).cast("string")))
        .withColumn("year", F.year("timestamp"))
    )
    writer = frame.writeStream.queryName("filesink").outputMode("append")
    made = lineage()
    query = made.to_files(writer.option("checkpointLocation", str(tmp_path / "checkpoint")), str(tmp_path / "sink"))
    service.wait_for_kind("filesink", "START")
    query.stop()
    made.close()
    last = service.of("filesink")[-1]
    (output,) = last["outputs"]
    assert (last["eventType"], output["namespace"], output["name"]) == ("ABORT", "file", f"{tmp_path}/sink")
    fields = {field["name"]: field["type"] for field in output["facets"]["schema"]["fields"]}
    assert fields == {"timestamp": "timestamp", "value": "bigint", "id": "bigint", "name": "string", "year": "int"}
