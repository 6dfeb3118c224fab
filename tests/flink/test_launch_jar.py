# SPDX-License-Identifier: Apache-2.0
"""Life cycle and lineage of a jar job on a real cluster: savepoint, restart, and loss of the JobManager."""

import json

import httpx
import pytest

from infra.namespaces import JOB_SUPPLIER_WINDOWS, KAFKA_NAMESPACE, TOPIC_ORDERS, TOPIC_SUPPLIER_WINDOWS
from infra.services.flink.jobs import JAR_PLANNER_MAIN, PLANNER_MAIN, WINDOWS_COLUMNS, WINDOWS_COMPONENT
from infra.toolchain import Artifacts
from tests.flink.flink_cluster import JOBMANAGER
from tests.flink.launched import ReportedLineage, until
from tests.flink.table_program import jar_of

UNREACHABLE = "http://127.0.0.1:1"
"""Address of the schema registry: without orders the job never uses it."""


WINDOWS_MAIN = "dev.lineagelab.flink.windows.SupplierWindowsJob"
UNDECLARED = "undeclared_windows"
UNDECLARED_TOPICS = ("undeclared_orders", "undeclared_windows")


@pytest.fixture
def windows(launcher, broker):
    """Launcher of the job, on empty topics."""
    declared = ("--columns", str(WINDOWS_COLUMNS), "--dataset-namespace", f"kafka={KAFKA_NAMESPACE}")
    return launch_windows(launcher, broker, JOB_SUPPLIER_WINDOWS, (TOPIC_ORDERS, TOPIC_SUPPLIER_WINDOWS), declared)


@pytest.fixture
def undeclared(launcher, broker, tmp_path):
    """Launcher of the job without declared columns, with an argument file, as a jar of a user has it."""
    return launch_by_file(launcher, broker, tmp_path, UNDECLARED, UNDECLARED_TOPICS)


def launch_by_file(launcher, broker, folder, own_name, topics):
    """Launch the job by an argument file; it gives itself a name."""
    orders, windows = topics
    broker.topic(*topics)
    arguments = folder / "windows.args"
    arguments.write_text(
        f"# lab: service\n\n--name {own_name}\n--bootstrap ${{KAFKA_BOOTSTRAP}}\n--registry {UNREACHABLE}\n"
        f"--orders {orders} --windows '{windows}'  # topics\n"
    )
    options = ("--arguments", str(arguments), "--main", WINDOWS_MAIN)
    return launcher("lineagelab_flink.launch_jar", *options, UNDECLARED, FLINK_JOB_JAR=str(windows_jar()))


def windows_jar():
    (jar,) = (Artifacts.open().component(WINDOWS_COMPONENT) / "lib").glob("*.jar")
    return jar


def launch_windows(launcher, broker, name, topics, options=()):
    broker.topic(*topics)
    command = (
        *("lineagelab_flink.launch_jar", *options, name, "--name", name),
        *("--bootstrap", broker.bootstrap, "--registry", UNREACHABLE),
        *("--orders", topics[0], "--windows", topics[1]),
    )
    return launcher(*command, FLINK_JOB_JAR=str(windows_jar()))


def running(flink, name=JOB_SUPPLIER_WINDOWS):
    def found():
        jobs = [job for job in flink.jobs(name) if job.state == "RUNNING" and job.running == job.tasks]
        return jobs[-1] if jobs else None

    return until(found, "the job to run")


def test_a_jar_is_uploaded_once_restored_and_reports_its_columns(windows, flink, service):
    reported = ReportedLineage(service.url, JOB_SUPPLIER_WINDOWS)
    windows.start()
    running(flink)
    until(lambda: reported.states() == ["RUNNING"], "the run to be reported")
    assert windows.stop() == 0
    reported.await_states("ABORTED")
    assert "savepoint" in windows.saved_state()["restore"]
    windows.start()
    before = running(flink)
    until(lambda: windows.saved_state()["started"] == before.started, "the launcher to adopt its job")
    assert len(httpx.get(f"{flink.url}/jars", trust_env=False).json()["files"]) == 1
    flink.kill(JOBMANAGER)
    flink.start(JOBMANAGER)
    after = until(lambda: [job for job in flink.jobs(JOB_SUPPLIER_WINDOWS) if job.job_id != before.job_id], "a new job")
    assert len(after) == 1
    running(flink)
    runs = reported.await_states("ABORTED", "ABORTED", "RUNNING")
    assert windows.stop() == 0
    runs = reported.await_states("ABORTED", "ABORTED", "ABORTED")
    for run in runs:
        events = reported.launcher_events(run["id"])
        assert [event["eventType"] for event in events].count("ABORT") == 1
        columns = events[-1]["outputs"][0]["facets"]["columnLineage"]["fields"]
        assert columns["total_price"]["inputFields"][0]["transformations"][0]["subtype"] == "AGGREGATION"
    assert reported.edges() == {
        "inputs": [f"kafka://kafka:9092 {TOPIC_ORDERS}"],
        "outputs": [f"kafka://kafka:9092 {TOPIC_SUPPLIER_WINDOWS}"],
    }


def test_the_datasets_of_a_jar_without_declared_columns_come_from_the_listener(undeclared, flink, service):
    reported = ReportedLineage(service.url, UNDECLARED)
    undeclared.start()
    running(flink, UNDECLARED)
    (run,) = until(lambda: reported.states() == ["RUNNING"] and reported.runs(), "the run to be reported")
    until(lambda: reported.launcher_event_types(run["id"])["RUNNING"], "the launcher to report the run")
    edges = {
        side: [f"kafka://kafka:9092 {topic}"]
        for side, topic in zip(("inputs", "outputs"), UNDECLARED_TOPICS, strict=True)
    }
    reported.await_edges(edges)
    assert undeclared.stop() == 0

    (run,) = reported.await_states("ABORTED")
    assert reported.edges() == edges
    assert reported.reports(run["id"]) == (1, 1)
    (start,) = (event for event in reported.events(run["id"]) if event["eventType"] == "START")
    assert start not in reported.launcher_events(run["id"])
    assert [one["name"] for one in (*start["inputs"], *start["outputs"])] == list(UNDECLARED_TOPICS)


TABLE_PROGRAM = """
import org.apache.flink.table.api.*;
import org.apache.flink.table.functions.ScalarFunction;
import static org.apache.flink.table.api.Expressions.*;

public class Program {
  public static class Shout extends ScalarFunction {
    public String eval(String text) { return text + "!"; }
  }

  public static void main(String[] arguments) {
    TableEnvironment session = TableEnvironment.create(EnvironmentSettings.inStreamingMode());
    String kafka = "'connector' = 'kafka', 'properties.bootstrap.servers' = '" + arguments[0] + "', 'format' = 'json'";
    session.executeSql("CREATE TEMPORARY TABLE words (id BIGINT, word STRING) WITH (" + kafka
        + ", 'topic' = '" + arguments[1] + "', 'scan.startup.mode' = 'earliest-offset')");
    session.executeSql("CREATE TEMPORARY TABLE loud (id BIGINT, text STRING) WITH (" + kafka
        + ", 'topic' = '" + arguments[1] + "_out')");
    session.from("words").filter($("id").isGreater(0))
        .select($("id"), call(new Shout(), $("word"))).executeInsert("loud");
  }
}
"""


@pytest.fixture
def table_jar(tmp_path):
    """Jar of a program of the Table API."""
    return jar_of(TABLE_PROGRAM, tmp_path)


def kinds(sources):
    return [(source["field"], source["transformations"][0]["subtype"]) for source in sources]


def test_the_planner_derives_columns_of_a_jar(launcher, broker, planner, table_jar, reported, name):
    broker.topic(name, f"{name}_out")
    broker.produce(name, [json.dumps({"id": number, "word": f"w{number}"}).encode() for number in range(3)])
    command = planner.replace(PLANNER_MAIN, JAR_PLANNER_MAIN)
    environment = {"FLINK_JOB_JAR": str(table_jar), "FLINK_JAR_LINEAGE": command}
    launched = launcher("lineagelab_flink.launch_jar", name, broker.bootstrap, name, **environment).start()
    loud = [{"id": 1, "text": "w1!"}, {"id": 2, "text": "w2!"}]
    until(lambda: [json.loads(value) for value in broker.values(f"{name}_out")] == loud, "the results")
    (run,) = until(lambda: reported.states() == ["RUNNING"] and reported.runs(), "the run to be reported")
    assert launched.stop() == 0
    reported.await_states("ABORTED")
    facet = reported.launcher_events(run["id"])[-1]["outputs"][0]["facets"]["columnLineage"]
    columns = {column: kinds(field["inputFields"]) for column, field in facet["fields"].items()}
    assert columns == {"id": [("id", "IDENTITY")], "text": [("word", "TRANSFORMATION")]}
    assert kinds(facet["dataset"]) == [("id", "FILTER")]
    assert reported.reports(run["id"]) == (1, 1)


def test_a_jar_that_names_its_job_otherwise_is_told_so(launcher, broker, tmp_path, flink):
    launched = launch_by_file(launcher, broker, tmp_path, "another", ("other_orders", "other_windows"))
    launched.start()
    running(flink, "another")
    until(
        lambda: "the job names itself 'another', so that its datasets are reported for" in launched.log(), "a warning"
    )
    assert launched.stop() == 0
