# SPDX-License-Identifier: Apache-2.0
"""The lab's own jar on a real cluster: its launcher stops it with a savepoint, goes on, brings it back, and speaks."""

import httpx
import pytest

from infra.namespaces import JOB_SUPPLIER_WINDOWS, KAFKA, TOPIC_ORDERS, TOPIC_SUPPLIER_WINDOWS
from infra.services.flink.jobs import WINDOWS_COLUMNS, WINDOWS_COMPONENT
from infra.toolchain import Artifacts
from tests.flink.flink_cluster import JOBMANAGER
from tests.flink.launched import ReportedLineage, until

UNREACHABLE = "http://127.0.0.1:1"
"""Address of the schema registry: without orders the job never uses it."""


@pytest.fixture
def windows(launcher, broker):
    """A launcher of the job, which finds its topics empty."""
    broker.topic(TOPIC_ORDERS, TOPIC_SUPPLIER_WINDOWS)
    (jar,) = (Artifacts.open().component(WINDOWS_COMPONENT) / "lib").glob("*.jar")
    command = (
        *("lineagelab_flink.launch_jar", "--columns", str(WINDOWS_COLUMNS)),
        *("--dataset-namespace", f"kafka={KAFKA}", JOB_SUPPLIER_WINDOWS, "--name", JOB_SUPPLIER_WINDOWS),
        *("--bootstrap", broker.bootstrap, "--registry", UNREACHABLE),
        *("--orders", TOPIC_ORDERS, "--windows", TOPIC_SUPPLIER_WINDOWS),
    )
    return launcher(*command, FLINK_JOB_JAR=str(jar))


def running(flink):
    def found():
        jobs = [job for job in flink.jobs(JOB_SUPPLIER_WINDOWS) if job.state == "RUNNING" and job.running == job.tasks]
        return jobs[-1] if jobs else None

    return until(found, "the job to run")


def test_a_jar_is_uploaded_once_goes_on_from_where_it_was_and_says_its_columns(windows, flink, service):
    told = ReportedLineage(service.url, JOB_SUPPLIER_WINDOWS)
    windows.start()
    running(flink)
    until(lambda: told.states() == ["RUNNING"], "the run to be told")
    assert windows.stop() == 0
    told.await_states("ABORTED")
    assert "savepoint" in windows.remembers()["restore"]
    windows.start()
    before = running(flink)
    until(lambda: windows.remembers()["started"] == before.started, "the launcher to see its job")
    assert len(httpx.get(f"{flink.url}/jars", trust_env=False).json()["files"]) == 1
    flink.kill(JOBMANAGER)
    flink.start(JOBMANAGER)
    after = until(lambda: [job for job in flink.jobs(JOB_SUPPLIER_WINDOWS) if job.job_id != before.job_id], "a new job")
    assert len(after) == 1
    running(flink)
    runs = told.await_states("ABORTED", "ABORTED", "RUNNING")
    assert windows.stop() == 0
    runs = told.await_states("ABORTED", "ABORTED", "ABORTED")
    for run in runs:
        said = told.from_launcher(run["id"])
        assert [event["eventType"] for event in said].count("ABORT") == 1
        columns = said[-1]["outputs"][0]["facets"]["columnLineage"]["fields"]
        assert columns["total_price"]["inputFields"][0]["transformations"][0]["subtype"] == "AGGREGATION"
    assert told.edges() == {
        "inputs": [f"kafka://kafka:9092 {TOPIC_ORDERS}"],
        "outputs": [f"kafka://kafka:9092 {TOPIC_SUPPLIER_WINDOWS}"],
    }
