# SPDX-License-Identifier: Apache-2.0
"""Fencing of `orders_etl`: two real drivers on the same tables and the same checkpoint."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from pyspark.sql import SparkSession

from infra.namespaces import CATALOG_NAME
from infra.project import PROJECT, python_path
from jobs.spark import tables
from tests.stack.polling import until
from tests.unit.spark.conftest import settings, spark_jars
from tests.unit.spark.fake_registry import FakeRegistry
from tests.unit.spark.launchers import ended
from tests.unit.spark.records import frame, of
from tests.unit.spark.schemas import SCHEMAS

Start = Callable[[str], "subprocess.Popen[str]"]


@pytest.fixture
def drivers(spark: SparkSession, tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts a driver, which pauses before it appends to a table."""
    frame(spark, of("a"), of("b", offset=1, price="free"), of("c", offset=2)).write.parquet(f"{tmp_path}/records")
    (tmp_path / "conf").mkdir()
    lake = spark.conf.get(f"spark.sql.catalog.{CATALOG_NAME}.warehouse")
    properties = {
        **settings(tmp_path),
        f"spark.sql.catalog.{CATALOG_NAME}.warehouse": lake,
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    }
    arguments = [word for name, value in properties.items() for word in ("--conf", f"'{name}={value}'")]
    class_path = ":".join(str(jar) for jar in spark_jars())
    started: list[subprocess.Popen[str]] = []
    with FakeRegistry(SCHEMAS) as registry:

        def start(pause_at: str = "") -> "subprocess.Popen[str]":
            environment = {
                "PYTHONPATH": python_path(PROJECT),
                "PYSPARK_PYTHON": sys.executable,
                "SPARK_LOCAL_IP": "127.0.0.1",
                "SPARK_CONF_DIR": str(tmp_path / "conf"),
                "PYSPARK_SUBMIT_ARGS": f"--master local[1] --driver-class-path {class_path} {' '.join(arguments)} "
                "pyspark-shell",
                "KAFKA_BOOTSTRAP": "unused:1",
                "SCHEMA_REGISTRY_URL": registry.url,
                "CHECKPOINTS": f"file://{tmp_path}/checkpoints",
                "ORDERS_ETL_TRIGGER": "now",
                "RECORDS": f"file://{tmp_path}/records",
                "PAUSE_AT": pause_at,
            }
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.unit.spark.paused_driver"],
                env={**{name: value for name, value in os.environ.items() if name != "LINEAGE_URL"}, **environment},
                cwd=PROJECT,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            started.append(process)
            return process

        yield start
        for process in started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
    for table in (tables.orders(), tables.orders_rejected()):
        spark.sql(f"DROP TABLE IF EXISTS {table.name} PURGE")


def contents(spark: SparkSession) -> list[list[str]]:
    names = (tables.orders().name, tables.orders_rejected().name)
    for name in names:
        spark.sql(f"REFRESH TABLE {name}")
    return [sorted(row["order_id"] for row in spark.table(name).collect()) for name in names]


@pytest.mark.slow
def test_paused_driver_cannot_append_after_another_took_over(spark: SparkSession, drivers: Start) -> None:
    table = tables.orders().name
    paused = drivers(table)
    until(lambda: psutil.Process(paused.pid).status() == psutil.STATUS_STOPPED)
    code, _, errors = ended(drivers(""))
    assert code == 0, errors
    assert contents(spark) == [["a", "c"], ["b"]]

    os.kill(paused.pid, signal.SIGCONT)
    code, _, errors = ended(paused)

    assert contents(spark) == [["a", "c"], ["b"]]
    assert code == 1, errors
    assert f"orders_etl failed: cannot append to {table}: another driver took it over (process " in errors
