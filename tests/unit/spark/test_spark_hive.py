# SPDX-License-Identifier: Apache-2.0
"""Hive's tables: an unchanged driver with Hive support writes and reads them.

Driver, Spark, metastore and lineage service are real. The metastore is Spark's embedded one, or a process of its own,
where tables have a name.
"""

import sys
from urllib.parse import urlsplit

import httpx
import pytest

from tests.bench.service_process import running_service
from tests.unit.catalog.metastore_process import running_metastore
from tests.unit.spark.launchers import ended, launchers

pytestmark = pytest.mark.slow

DRIVER = """
import os
from pyspark.sql import SparkSession

home = os.environ["HOME_OF_TEST"]
spark = SparkSession.builder.appName("hive").master("local[1]").enableHiveSupport().config(
    map={
        "spark.driver.defaultJavaOptions": f"-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dderby.system.home={home}",
        "spark.driver.host": "127.0.0.1",
        "spark.hadoop.hive.exec.dynamic.partition.mode": "nonstrict",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={home}/metastore;create=true",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.warehouse.dir": f"{home}/warehouse",
        "spark.ui.enabled": "false",
    }
    | ({"spark.hadoop.hive.metastore.uris": os.environ["METASTORE"]} if "METASTORE" in os.environ else {})
).getOrCreate()
for statement in (
    f"CREATE DATABASE shop LOCATION '{home}/warehouse'",
    "USE shop",
    "CREATE TABLE orders (id INT, price INT) STORED AS TEXTFILE",
    "INSERT INTO orders VALUES (1, 2), (2, 3)",
    "CREATE TABLE copies STORED AS TEXTFILE AS SELECT id, price * 2 AS twice FROM orders WHERE id > 0",
    "CREATE TABLE days (id INT) PARTITIONED BY (day STRING) STORED AS ORC",
    "INSERT OVERWRITE TABLE days PARTITION (day) SELECT id, CAST(price AS STRING) FROM orders",
    "INSERT INTO days PARTITION (day = 'x') SELECT twice FROM copies",
    f"INSERT OVERWRITE DIRECTORY '{home}/folder' STORED AS TEXTFILE SELECT twice FROM copies",
    "CREATE TABLE parquets (id INT) USING parquet",
    "INSERT INTO parquets SELECT id FROM orders",
    "CREATE TABLE sums USING parquet AS SELECT sum(id) AS total FROM parquets",
    f"INSERT OVERWRITE DIRECTORY '{home}/exported' STORED AS TEXTFILE SELECT total FROM sums",
):
    spark.sql(statement)
spark.table("days").groupBy("day").count().write.format("hive").saveAsTable("counts")
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with running_service(tmp_path_factory.mktemp("lineage")) as running:
        yield running.url


@pytest.fixture(scope="module")
def metastore(tmp_path_factory):
    with running_metastore(tmp_path_factory.mktemp("metastore")) as uri:
        yield uri


def run_driver(folder, service, **environment):
    """Run the driver in a folder; return the columns and datasets of the graph that are there."""
    with launchers(folder, service) as made:
        process = made.start(
            DRIVER,
            *("--application", "hive", "--observe"),
            PYSPARK_PYTHON=sys.executable,
            SPARK_LOCAL_IP="127.0.0.1",
            HOME_OF_TEST=str(folder),
            **environment,
        )
        code, output, errors = ended(process)
    assert code == 0, output + errors
    assert "lineage of hive" not in errors
    graph = httpx.get(f"{service}/api/v1/graph").json()
    return {
        "columns": [edge for edge in graph["columns"] if edge["output"]["name"].startswith(f"{folder}/")],
        "datasets": [dataset for dataset in graph["datasets"] if dataset["name"].startswith(f"{folder}/")],
    }


def test_tables_of_the_embedded_metastore(tmp_path, service):
    graph = run_driver(tmp_path, service)
    assert_columns(graph)
    assert {_name(dataset) for dataset in graph["datasets"]} == TABLES | FOLDERS
    assert [dataset["symlinks"] for dataset in graph["datasets"]] == [[]] * len(graph["datasets"])


def test_tables_of_a_metastore_with_an_address_have_a_name_there(tmp_path, service, metastore):
    graph = run_driver(tmp_path, service, METASTORE=metastore)
    assert_columns(graph)
    namespace = f"hive://{urlsplit(metastore).netloc}"
    assert {_name(dataset): dataset["symlinks"] for dataset in graph["datasets"]} == {
        **{name: [] for name in FOLDERS},
        **{name: [{"namespace": namespace, "name": f"shop.{name}", "type": "TABLE"}] for name in TABLES},
    }


TABLES = {"orders", "copies", "days", "counts", "parquets", "sums"}
FOLDERS = {"folder", "exported"}


def assert_columns(graph):
    columns = graph["columns"]
    assert {(_column(edge["input"]), _column(edge["output"]), edge["subtype"], _command(edge)) for edge in columns} == {
        ("orders.id", "copies.id", "IDENTITY", "hive_table"),
        ("orders.price", "copies.twice", "TRANSFORMATION", "hive_table"),
        ("orders.id", "days.id", "IDENTITY", "hadoop_fs_relation_command"),
        ("orders.price", "days.day", "TRANSFORMATION", "hadoop_fs_relation_command"),
        ("copies.twice", "days.id", "IDENTITY", "hadoop_fs_relation_command"),
        ("copies.twice", "folder.twice", "IDENTITY", "hive_dir_command"),
        ("days.day", "counts.day", "IDENTITY", "hive_table"),
        ("orders.id", "parquets.id", "IDENTITY", "hadoop_fs_relation_command"),
        ("parquets.id", "sums.total", "AGGREGATION", "hadoop_fs_relation_command"),
        ("sums.total", "exported.total", "IDENTITY", "hive_dir_command"),
    }


def _name(dataset):
    return dataset["name"].rpartition("/")[2]


def _column(end):
    return f"{_name(end)}.{end['field']}"


def _command(edge):
    return edge["job"]["name"].split(".")[1].removeprefix("execute_insert_into_")
