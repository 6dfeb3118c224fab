# SPDX-License-Identifier: Apache-2.0
"""Tests of a user's jobs with functions in Python: PyFlink, in both modes, and pandas functions in Spark.

In containers their interpreters and packages are layers of images that other labs do not have.
"""

import re
from collections import Counter
from contextlib import contextmanager

import pytest

from infra.namespaces import TABLE_ORDERS, TOPIC_ORDERS
from infra.project import PROJECT
from infra.services.shop import writer as shop
from tests.stack.polling import until

UP_SECONDS = 1500
DELIVERY_SECONDS = 240

SESSION_JOB, APPLICATION_JOB, PANDAS_JOB = "loud_orders", "application_loud_orders", "shouted_orders"
FLINK_JOBS = (SESSION_JOB, APPLICATION_JOB)

PANDAS_PROGRAM = f"""\
# lab: task

import pandas as pd
from pyspark.sql import SparkSession
from pyspark.sql.functions import pandas_udf


spark = SparkSession.builder.getOrCreate()


@pandas_udf("string")
def shout(items: pd.Series, suppliers: pd.Series) -> pd.Series:
    return items.str.upper() + " of " + suppliers


spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.mine")
orders = spark.table("lake.{TABLE_ORDERS}")
orders.select("order_id", shout("item", "supplier").alias("title")).writeTo("lake.mine.{PANDAS_JOB}").createOrReplace()
spark.stop()
"""


def documented_program():
    """Return the PyFlink program of the documentation."""
    text = (PROJECT / "jobs" / "flink" / "README.md").read_text()
    (program,) = (found for found in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "import udf" in found)
    assert SESSION_JOB in program
    return program


@contextmanager
def python_jobs():
    """Write the programs to the checkout, and remove them on exit."""
    flink, spark = PROJECT / "jobs" / "flink" / "python", PROJECT / "jobs" / "spark"
    program = documented_program()
    files = {
        flink / f"{SESSION_JOB}.py": program,
        flink / f"{APPLICATION_JOB}.py": "# cluster: application\n" + program.replace(SESSION_JOB, APPLICATION_JOB),
        spark / f"{PANDAS_JOB}.py": PANDAS_PROGRAM,
    }
    new_folder = not flink.exists()
    try:
        flink.mkdir(exist_ok=True)
        for path, text in files.items():
            with path.open("x") as file:
                file.write(text)
        yield
    finally:
        for path, text in files.items():
            if path.exists() and path.read_text() == text:
                path.unlink()
        if new_folder:
            flink.rmdir()


def titles(lab, job):
    """Return the number of rows per order id and title of a job's table."""
    if not lab.stores.has_table(f"mine.{job}"):
        return Counter()
    table = lab.table(f"mine.{job}")
    return Counter(zip(table["order_id"].to_pylist(), table["title"].to_pylist(), strict=True))


def column_edges(lab, job):
    """Return the columns of the job's table with the columns that they are computed from."""
    return {
        (edge["output"]["field"], edge["input"]["field"])
        for edge in lab.graph()["columns"]
        if edge["output"]["name"] == f"mine/{job}" and edge["type"] == "DIRECT"
    }


COLUMNS = {("order_id", "order_id"), ("title", "item"), ("title", "supplier")}


class PythonJobTests:
    """Tests of the fixture `lab`, which is up with `python_jobs`; it can `kill` the process of a service."""

    @pytest.mark.parametrize("job", FLINK_JOBS)
    def test_flink_runs_a_python_function(self, lab, job):
        until(lambda: titles(lab, job), DELIVERY_SECONDS)
        until(lambda: column_edges(lab, job) == COLUMNS)

    def test_up_starts_a_killed_job_again_and_not_the_other(self, lab):
        before = lab.start_times()
        lab.kill(APPLICATION_JOB)
        repeated = lab.lab("up", seconds=UP_SECONDS)
        assert repeated.status == 0, repeated.text
        after = lab.start_times()
        assert after.pop(APPLICATION_JOB) != before.pop(APPLICATION_JOB)
        assert after[SESSION_JOB] == before[SESSION_JOB]
        written = titles(lab, APPLICATION_JOB).total()
        until(lambda: titles(lab, APPLICATION_JOB).total() > written, DELIVERY_SECONDS)

    def test_spark_runs_a_pandas_function(self, lab):
        done = lab.lab("run", PANDAS_JOB)
        assert done.status == 0, done.text
        rows = titles(lab, PANDAS_JOB)
        orders = {row["order_id"]: row for row in lab.table(TABLE_ORDERS).to_pylist()}
        assert rows
        assert set(rows.values()) == {1}
        assert {title for _, title in rows} == {
            f"{orders[order_id]['item'].upper()} of {orders[order_id]['supplier']}" for order_id, _ in rows
        }
        until(lambda: column_edges(lab, PANDAS_JOB) == COLUMNS)

    @pytest.mark.parametrize("job", FLINK_JOBS)
    def test_each_record_is_written_once(self, lab, job):
        assert lab.lab("stop", shop.NAME).status == 0
        records = Counter(
            (record.value["order_id"], f"{record.value['item'].upper()} of {record.value['supplier']}!")
            for record in lab.stores.records(TOPIC_ORDERS)
        )
        until(lambda: titles(lab, job) == records, DELIVERY_SECONDS)

    def test_down_removes_everything(self, lab):
        ended = lab.lab("down")
        assert ended.status == 0, ended.text
        assert not lab.root.exists()
