# SPDX-License-Identifier: Apache-2.0
"""Launched drivers without a call for lineage: runs of the application and of its writes.

Driver, Spark and lineage service are real.
"""

import json
import signal
import sys

import httpx
import psutil
import pytest

from infra.namespaces import JOB_NAMESPACE
from tests.bench.service_process import running_service
from tests.stack.polling import until
from tests.unit.spark.launchers import ended, launchers

WRITE = "execute_insert_into_hadoop_fs_relation_command"
SESSION = """
import os, time
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

home = os.environ["HOME_OF_TEST"]
spark = SparkSession.builder.appName(os.environ["APPLICATION"]).master("local[1]").config(
    map={
        "spark.driver.defaultJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.ui.enabled": "false",
    }
).getOrCreate()
frame = spark.range(3).select(F.col("id").alias("k"), (F.col("id") * 2).alias("v"))
"""
WRITES = """
frame.write.parquet(f"{home}/first")
spark.newSession().read.parquet(f"{home}/first").groupBy("k").agg(F.sum("v").alias("s")).write.parquet(f"{home}/second")
"""
WAITS = """
def wait(value):
    open(f"{home}/ready", "w").close()
    time.sleep(600)
    return value

frame.select(F.udf(wait, "long")("k").alias("k")).write.parquet(f"{home}/never")
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with running_service(tmp_path_factory.mktemp("lineage")) as running:
        yield running.url


@pytest.fixture
def launch(tmp_path, service):
    """Return a function that starts an observed driver; remaining processes are killed."""
    with launchers(tmp_path, service) as made:

        def start(name, source, **environment):
            return made.start(
                SESSION + source,
                *("--application", name, "--observe"),
                PYSPARK_PYTHON=sys.executable,
                SPARK_LOCAL_IP="127.0.0.1",
                APPLICATION=name,
                HOME_OF_TEST=str(tmp_path),
                **environment,
            )

        yield start


def states(service, application):
    """Return job -> states of its runs, for an application and its writes; writes by the name of their folder."""
    jobs = httpx.get(f"{service}/api/v1/namespaces/{JOB_NAMESPACE}/jobs", params={"limit": 1000}).json()["jobs"]
    found = {}
    for name in (job["name"] for job in jobs):
        if name == application or name.startswith(f"{application}.{WRITE}."):
            answer = httpx.get(f"{service}/api/v1/namespaces/{JOB_NAMESPACE}/jobs/{name}/runs").json()["runs"]
            found[name.rpartition("_")[2] if name != application else name] = [run["state"] for run in answer]
    return found


@pytest.mark.parametrize(
    "end", ["", *(pytest.param(end, marks=pytest.mark.slow) for end in ("spark.stop()", "raise SystemExit(0)"))]
)
def test_unchanged_driver_has_runs_of_application_and_writes(launch, service, end):
    name = f"plain{len(end)}"
    process = launch(name, WRITES + end)
    code, output, errors = ended(process)
    assert code == 0, output + errors
    assert states(service, name) == {name: ["COMPLETED"], "first": ["COMPLETED"], "second": ["COMPLETED"]}
    columns = httpx.get(f"{service}/api/v1/graph").json()["columns"]
    edges = [edge for edge in columns if edge["job"]["name"].startswith(f"{name}.")]
    assert {(e["input"]["field"], e["output"]["field"]) for e in edges} == {("v", "s"), ("k", "k")}


@pytest.mark.slow
def test_write_of_a_thread_that_outlives_the_module_is_reported(launch, service):
    source = """
import threading
waits = threading.Event()
def write():
    waits.wait(3)
    frame.write.parquet(f"{home}/late")
threading.Thread(target=write).start()
"""
    process = launch("thread", source)
    code, output, errors = ended(process)
    assert code == 0, output + errors
    assert states(service, "thread") == {"thread": ["COMPLETED"], "late": ["COMPLETED"]}


@pytest.mark.slow
def test_writes_have_the_application_as_parent(launch, service):
    process = launch("parent", WRITES)
    code, output, errors = ended(process)
    assert code == 0, output + errors
    found = httpx.get(f"{service}/api/v1/events/lineage", params={"limit": 1000}).json()["events"]
    (application,) = {e["run"]["runId"] for e in found if e["job"]["name"] == "parent"}
    parents = {
        (e["run"]["facets"]["parent"]["job"]["name"], e["run"]["facets"]["parent"]["run"]["runId"])
        for e in found
        if e["job"]["name"].startswith("parent.")
    }
    assert parents == {("parent", application)}


@pytest.mark.slow
def test_exit_code_fails_the_application_and_not_its_writes(launch, service):
    process = launch("fails", WRITES + "raise SystemExit(3)")
    code, output, errors = ended(process)
    assert code == 3, output + errors
    assert states(service, "fails") == {"fails": ["FAILED"], "first": ["COMPLETED"], "second": ["COMPLETED"]}


@pytest.mark.slow
def test_killed_driver_leaves_no_open_run(launch, service, tmp_path):
    process = launch("killed", WAITS)
    until((tmp_path / "ready").exists)
    until(lambda: states(service, "killed").get("never") == ["RUNNING"])
    assert states(service, "killed")["killed"] == ["RUNNING"]
    (driver,) = psutil.Process(process.pid).children()
    driver.kill()
    ended(process)
    assert states(service, "killed") == {"killed": ["FAILED"], "never": ["FAILED"]}


@pytest.mark.slow
def test_stopped_driver_aborts_its_runs(launch, service, tmp_path):
    process = launch("stopped", WAITS)
    until((tmp_path / "ready").exists)
    until(lambda: states(service, "stopped").get("never") == ["RUNNING"])
    process.send_signal(signal.SIGTERM)
    ended(process)
    assert states(service, "stopped") == {"stopped": ["ABORTED"], "never": ["ABORTED"]}


@pytest.mark.slow
def test_runs_of_a_driver_without_service_are_reported_by_the_next_launch(launch, service, tmp_path):
    process = launch("away", WRITES, LINEAGE_URL="http://127.0.0.1:1")
    code, output, errors = ended(process)
    assert code == 0, output + errors
    kept = json.loads((tmp_path / "open_runs.json.undelivered").read_text())
    assert sorted(event["eventType"] for event in kept) == ["COMPLETE", "COMPLETE", "COMPLETE", "START"]
    ended(launch("away", ""))
    assert states(service, "away") == {
        "away": ["COMPLETED", "COMPLETED"],
        "first": ["COMPLETED"],
        "second": ["COMPLETED"],
    }
