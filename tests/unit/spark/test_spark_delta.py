# SPDX-License-Identifier: Apache-2.0
"""Tables of Delta Lake: an unchanged driver writes and reads them, by path and by name.

Delta Lake, driver, Spark and lineage service are real.
"""

import sys

import httpx
import pytest

from infra.toolchain import Artifacts
from infra.toolchain.pins import DELTA_LAKE
from infra.toolchain.progress import PlainProgress
from tests.bench.service_process import running_service
from tests.unit.spark.launchers import ended, launchers

pytestmark = pytest.mark.slow

SESSION = """
import os
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

home = os.environ["HOME_OF_TEST"]
spark = SparkSession.builder.appName("delta").master("local[1]").config(
    map={
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.driver.defaultJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        "spark.driver.host": "127.0.0.1",
        "spark.jars": os.environ["DELTA_JARS"],
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.warehouse.dir": f"{home}/warehouse",
        "spark.ui.enabled": "false",
    }
).getOrCreate()
"""

BATCH = """
orders = spark.range(5).selectExpr("CAST(id AS INT) AS id", "CAST(id * 2 AS INT) AS price")
orders.write.format("delta").save(f"{home}/orders")
frame = spark.read.format("delta").load(f"{home}/orders")
frame.selectExpr("id", "price + 1 AS more").write.format("delta").mode("overwrite").save(f"{home}/more")
spark.sql(f"CREATE TABLE copies USING delta AS SELECT id, price * 2 AS twice FROM delta.`{home}/orders` WHERE id > 0")
spark.sql(f"INSERT INTO copies SELECT id, more FROM delta.`{home}/more`")
copies = spark.table("copies")
copies.groupBy("id").agg(F.sum("twice").alias("total")).write.format("delta").saveAsTable("totals")
spark.sql(f'''
    MERGE INTO totals t USING (SELECT id, more, id + 1 AS other FROM delta.`{home}/more`) m ON t.id = m.id
    WHEN MATCHED AND m.other > 3 THEN UPDATE SET total = m.more
    WHEN MATCHED THEN DELETE
    WHEN NOT MATCHED THEN INSERT (id) VALUES (m.id)
    WHEN NOT MATCHED BY SOURCE AND t.total > 3 THEN DELETE
''')
spark.sql("UPDATE totals SET total = total + 1 WHERE id = 2")
spark.sql("DELETE FROM totals WHERE id = 3")
spark.table("totals").writeTo("replaced").using("delta").createOrReplace()
"""

STREAMS = """
from lineagelab_spark import QueryLineage

orders = spark.range(5).selectExpr("CAST(id AS INT) AS id", "CAST(id * 2 AS INT) AS price")
orders.write.format("delta").save(f"{home}/paths")
spark.sql(f"CREATE TABLE named USING delta AS SELECT * FROM delta.`{home}/paths`")
spark.sql("CREATE TABLE streamed (id INT, twice INT) USING delta")
lineage = QueryLineage(spark, "lineage-lab", os.environ["LINEAGE_URL"])

def writer(name, frame):
    made = frame.writeStream.queryName(name).format("delta").option("checkpointLocation", f"{home}/checkpoint_{name}")
    return made.trigger(availableNow=True)

paths = spark.readStream.format("delta").load(f"{home}/paths").selectExpr("id", "price + 1 AS more")
lineage.to_files(writer("to_path", paths), f"{home}/folder", "delta").awaitTermination()
tables = spark.readStream.table("named").where("id > 1").selectExpr("id", "price * 2 AS twice")
lineage.to_table(writer("to_table", tables), "streamed").awaitTermination()
lineage.close()
spark.stop()
"""


@pytest.fixture(scope="module")
def jars():
    artifacts = Artifacts.open()
    artifacts.setup({DELTA_LAKE.name}, PlainProgress(sys.stderr))
    return ",".join(map(str, artifacts.component(DELTA_LAKE.name).rglob("*.jar")))


@pytest.fixture
def service(tmp_path):
    with running_service(tmp_path / "lineage") as running:
        yield running.url


@pytest.fixture
def run(tmp_path, service, jars):
    """Return a function that runs a driver and returns what it wrote to stderr."""
    with launchers(tmp_path, service) as made:

        def run(source, *options):
            process = made.start(
                SESSION + source,
                *("--application", "delta", *options),
                PYSPARK_PYTHON=sys.executable,
                SPARK_LOCAL_IP="127.0.0.1",
                HOME_OF_TEST=str(tmp_path),
                DELTA_JARS=jars,
            )
            code, output, errors = ended(process)
            assert code == 0, output + errors
            return errors

        yield run


def test_streams_from_and_to_delta_lake(run, service):
    assert "lineage of" not in run(STREAMS)
    assert _edges(_graph(service), "columns") >= {
        "paths.id -> folder.id IDENTITY",
        "paths.price -> folder.more TRANSFORMATION",
        "named.id -> streamed.id IDENTITY",
        "named.price -> streamed.twice TRANSFORMATION",
    }
    assert "named.id -> streamed FILTER" in _edges(_graph(service), "datasetColumns")


def test_tables_of_delta_lake(run, service):
    assert "lineage of delta" not in run(BATCH, "--observe")
    graph = _graph(service)
    assert _edges(graph, "columns") == {
        "orders.id -> more.id IDENTITY",
        "orders.price -> more.more TRANSFORMATION",
        "orders.id -> copies.id IDENTITY",
        "orders.price -> copies.twice TRANSFORMATION",
        "more.id -> copies.id IDENTITY",
        "more.more -> copies.twice IDENTITY",
        "copies.id -> totals.id IDENTITY",
        "copies.twice -> totals.total AGGREGATION",
        "more.id -> totals.id IDENTITY",
        "more.more -> totals.total TRANSFORMATION",
        "totals.id -> replaced.id IDENTITY",
        "totals.total -> replaced.total IDENTITY",
    }
    assert _edges(graph, "datasetColumns") == {
        "orders.id -> copies FILTER",
        "copies.id -> totals GROUP_BY",
        "more.id -> totals JOIN",
        "more.id -> totals FILTER",
    }


def _graph(service):
    return httpx.get(f"{service}/api/v1/graph").json()


def _edges(graph, part):
    return {f"{_column(edge['input'])} -> {_column(edge['output'])} {edge['subtype']}" for edge in graph[part]}


def _column(end):
    name = end["name"].rpartition("/")[2]
    return f"{name}.{end['field']}" if "field" in end else name
