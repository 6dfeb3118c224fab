# SPDX-License-Identifier: Apache-2.0
"""Hive's tables: an unchanged driver with Hive support writes and reads them; the metastore is Spark's embedded one.

Driver, Spark, metastore and lineage service are real.
"""

import sys

import httpx
import pytest

from tests.bench.service_process import running_service
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
).getOrCreate()
for statement in (
    "CREATE TABLE orders (id INT, price INT) STORED AS TEXTFILE",
    "INSERT INTO orders VALUES (1, 2), (2, 3)",
    "CREATE TABLE copies STORED AS TEXTFILE AS SELECT id, price * 2 AS twice FROM orders WHERE id > 0",
    "CREATE TABLE days (id INT) PARTITIONED BY (day STRING) STORED AS ORC",
    "INSERT OVERWRITE TABLE days PARTITION (day) SELECT id, CAST(price AS STRING) FROM orders",
    "INSERT INTO days PARTITION (day = 'x') SELECT twice FROM copies",
    f"INSERT OVERWRITE DIRECTORY '{home}/folder' STORED AS TEXTFILE SELECT twice FROM copies",
):
    spark.sql(statement)
spark.table("days").groupBy("day").count().write.format("hive").saveAsTable("counts")
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with running_service(tmp_path_factory.mktemp("lineage")) as running:
        yield running.url


def test_tables_of_hive(tmp_path, service):
    with launchers(tmp_path, service) as made:
        process = made.start(
            DRIVER,
            *("--application", "hive", "--observe"),
            PYSPARK_PYTHON=sys.executable,
            SPARK_LOCAL_IP="127.0.0.1",
            HOME_OF_TEST=str(tmp_path),
        )
        code, output, errors = ended(process)
    assert code == 0, output + errors
    assert "lineage of hive" not in errors
    columns = httpx.get(f"{service}/api/v1/graph").json()["columns"]
    assert {(_column(edge["input"]), _column(edge["output"]), edge["subtype"], _command(edge)) for edge in columns} == {
        ("orders.id", "copies.id", "IDENTITY", "hive_table"),
        ("orders.price", "copies.twice", "TRANSFORMATION", "hive_table"),
        ("orders.id", "days.id", "IDENTITY", "hadoop_fs_relation_command"),
        ("orders.price", "days.day", "TRANSFORMATION", "hadoop_fs_relation_command"),
        ("copies.twice", "days.id", "IDENTITY", "hadoop_fs_relation_command"),
        ("copies.twice", "folder.twice", "IDENTITY", "hive_dir_command"),
        ("days.day", "counts.day", "IDENTITY", "hive_table"),
    }


def _column(end):
    return f"{end['name'].rpartition('/')[2]}.{end['field']}"


def _command(edge):
    return edge["job"]["name"].split(".")[1].removeprefix("execute_insert_into_")
