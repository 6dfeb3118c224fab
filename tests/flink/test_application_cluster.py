# SPDX-License-Identifier: Apache-2.0
"""Application mode: the launcher's own cluster runs SQL and jars exactly once, and ends with the launcher."""

import json
import re

import httpx
import psutil
import pytest

from infra.services.flink.cluster import APPLICATION_MAIN, TASKMANAGER_MAIN
from tests.flink.copied_topic import produce, sql
from tests.flink.launched import TIMEOUT_SECONDS, until
from tests.flink.table_program import jar_of

KAFKA = "kafka://kafka:9092"


@pytest.fixture(scope="module")
def flink():
    """No session cluster: jobs of these tests have their own."""
    return type("NoCluster", (), {"url": "", "gateway_url": ""})


@pytest.fixture
def own_cluster(application_mode):
    """Environment of a launcher whose job has a cluster of its own."""
    return application_mode()


def edges(topic):
    return {"inputs": [f"{KAFKA} {topic}"], "outputs": [f"{KAFKA} {topic}_out"]}


def state(launched):
    file = launched.folder / "state.json"
    return json.loads(file.read_text()) if file.exists() else {"job_state": "", "problem": ""}


def await_running(launched):
    until(lambda: state(launched)["job_state"] == "RUNNING", "all tasks to run")


def test_sql_survives_every_loss_exactly_once(launch, own_cluster, broker, topic, copies, reported):
    launched = launch(sql(topic), **own_cluster).start()
    copies.await_all(10)
    reported.await_states("RUNNING")
    await_running(launched)
    processes = [launched.jvm(main) for main in (APPLICATION_MAIN, TASKMANAGER_MAIN)]

    launched.jvm(TASKMANAGER_MAIN).kill()
    produce(broker, topic, range(10, 20))
    copies.await_all(20)
    reported.await_states("RUNNING")

    launched.jvm(APPLICATION_MAIN).terminate()
    produce(broker, topic, range(20, 30))
    copies.await_all(30)
    reported.await_states("ABORTED", "RUNNING")
    await_running(launched)

    processes += [launched.jvm(main) for main in (APPLICATION_MAIN, TASKMANAGER_MAIN)]
    launched.kill()
    psutil.wait_procs(processes, TIMEOUT_SECONDS)
    assert not [process for process in processes if process.is_running()]
    produce(broker, topic, range(30, 40))
    launched.start()
    copies.await_all(40)
    reported.await_states("ABORTED", "ABORTED", "RUNNING")

    assert launched.stop() == 0
    reported.await_states("ABORTED", "ABORTED", "ABORTED")
    assert state(launched)["job_state"] == ""
    assert "savepoint" in launched.saved_state()["restore"]
    produce(broker, topic, range(40, 50))
    launched.start()
    copies.await_all(50)
    runs = reported.await_states("ABORTED", "ABORTED", "ABORTED", "RUNNING")
    await_running(launched)
    assert launched.stop() == 0
    assert [reported.reports(run["id"]) for run in runs] == [(1, 1)] * 4
    assert reported.edges() == edges(topic)
    columns = reported.launcher_events(runs[-1]["id"])[-1]["outputs"][0]["facets"]["columnLineage"]["fields"]
    assert columns["word"]["inputFields"][0]["transformations"][0]["subtype"] == "TRANSFORMATION"


def test_a_bounded_job_completes_and_leaves_no_process(launch, own_cluster, topic, copies, reported):
    launched = launch(sql(topic, bounded=True), **own_cluster).start()
    processes = [launched.jvm(main) for main in (APPLICATION_MAIN, TASKMANAGER_MAIN)]
    assert launched.wait() == 0
    copies.await_all(10)
    (run,) = reported.await_states("COMPLETED")
    assert reported.reports(run["id"]) == (1, 1)
    assert not [process for process in processes if process.is_running()]


PROGRAM = """
import org.apache.flink.table.api.*;

public class Program {
  public static void main(String[] arguments) {
    TableEnvironment session = TableEnvironment.create(EnvironmentSettings.inStreamingMode());
    String kafka = "'connector' = 'kafka', 'properties.bootstrap.servers' = '" + arguments[1] + "', 'format' = 'json'";
    for (String end : new String[] {"", "_out"}) {
      session.executeSql("CREATE TEMPORARY TABLE numbers" + end + " (id BIGINT, word STRING) WITH (" + kafka
          + ", 'topic' = '" + arguments[2] + end + "', 'properties.group.id' = 'program'"
          + ", 'scan.startup.mode' = 'earliest-offset')");
    }
    if (!arguments[0].equals("--host")) {
      throw new IllegalArgumentException("no such option: " + arguments[0]);
    }
    for (int jobs = Integer.parseInt(arguments[3]); jobs > 0; jobs--) {
      session.executeSql("INSERT INTO numbers_out SELECT id, word FROM numbers");
    }
  }
}
"""
"""Its first argument has the name of an option of Flink's entry point."""


@pytest.fixture
def program(launcher, own_cluster, broker, topic, tmp_path):
    """Factory of launchers of the program."""
    jar = jar_of(PROGRAM, tmp_path)

    def make(first="--host", jobs=1, *options):
        arguments = (topic, first, broker.bootstrap, topic, str(jobs))
        return launcher("lineagelab_flink.launch_jar", *options, *arguments, FLINK_JOB_JAR=str(jar), **own_cluster)

    return make


def test_a_jar_runs_with_its_arguments_and_the_datasets_of_the_listener(program, topic, copies, reported):
    launched = program().start()
    copies.await_all(10)
    (run,) = until(lambda: reported.states() == ["RUNNING"] and reported.runs(), "the run to be reported")
    reported.await_edges(edges(topic))
    (address,) = re.findall(r"starting a cluster at (\S+)", launched.log())
    hostile = httpx.get(f"{address}/jobs", headers={"Origin": "https://hostile.example"}, trust_env=False)
    assert hostile.status_code == 403
    assert launched.stop() == 0
    reported.await_states("ABORTED")
    assert reported.reports(run["id"]) == (1, 1)
    assert reported.edges() == edges(topic)


def test_a_program_that_fails_is_named_and_tried_again(program, reported):
    launched = program("--hots").start()
    problem = until(lambda: state(launched)["problem"], "the problem")
    assert problem.endswith("the program failed: IllegalArgumentException: no such option: --hots")
    until(lambda: launched.log().count("cannot submit the job") > 1, "a second attempt")
    assert launched.stop() == 0
    assert not launched.jvms(APPLICATION_MAIN)
    assert reported.states() == []


def test_a_program_with_two_jobs_is_refused(program):
    launched = program(jobs=2).start()
    wanted = "FlinkRuntimeException: Cannot have more than one execute() or executeAsync() call"
    until(lambda: wanted in state(launched)["problem"], "the problem")
    assert launched.stop() == 0


def test_contradictory_clusters_are_refused(launch, own_cluster, topic):
    launched = launch(sql(topic), **{**own_cluster, "FLINK_URL": "http://127.0.0.1:1"}).start()
    assert launched.wait() == 2
    assert "set either FLINK_URL, for a session cluster, or FLINK_JOBMANAGER, not both" in launched.log()


def test_a_cluster_without_a_taskmanager_is_refused(launch, own_cluster, topic):
    launched = launch(sql(topic), **{**own_cluster, "FLINK_TASKMANAGER": ""}).start()
    assert launched.wait() == 2
    assert "application mode needs the environment variables FLINK_TASKMANAGER, too" in launched.log()


def test_a_jobmanager_that_cannot_be_run_is_named(launch, own_cluster, topic):
    launched = launch(sql(topic), once=True, **{**own_cluster, "FLINK_JOBMANAGER": "/no/such/program"}).start()
    assert launched.wait() == 1
    assert "cannot run the JobManager, /no/such/program" in launched.log()
