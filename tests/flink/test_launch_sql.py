# SPDX-License-Identifier: Apache-2.0
"""SQL jobs on a real cluster under failures: one run per job, one terminal event, exactly-once output."""

import json
import shutil
from pathlib import Path

import httpx
import pytest

from lineagelab_flink.lifecycle import Phase
from lineagelab_flink.run_id import run_id
from tests.bench.service_process import running_service
from tests.flink.copied_topic import Copies, produce, sql
from tests.flink.flink_cluster import GATEWAY, JOBMANAGER, TASKMANAGER
from tests.flink.launched import TIMEOUT_SECONDS, ReportedLineage, until

STATES = {"COMPLETE": "COMPLETED", "FAIL": "FAILED", "ABORT": "ABORTED"}


def running_job(flink, name):
    """Wait until all tasks of a job of that name run, and return it."""

    def found():
        jobs = [job for job in flink.jobs(name) if job.state == "RUNNING" and job.tasks and job.running == job.tasks]
        return jobs[-1] if jobs else None

    return until(found, f"{name} to run")


def edges(topic):
    kafka = "kafka://kafka:9092"
    return {"inputs": [f"{kafka} {topic}"], "outputs": [f"{kafka} {topic}_out"]}


def test_a_bounded_job_reports_complete_once(launch, topic, reported, copies, flink):
    launched = launch(sql(topic, bounded=True)).start()
    assert launched.wait() == 0
    (run,) = reported.await_states("COMPLETED")
    copies.await_all(10)
    (job,) = flink.jobs(topic)
    assert run["id"] == run_id(job.job_id, job.started)
    assert (
        reported.launcher_event_types(run["id"])["START"] == reported.launcher_event_types(run["id"])["COMPLETE"] == 1
    )
    assert {event["eventType"] for event in reported.events()} <= {"START", "RUNNING", "COMPLETE"}
    assert reported.edges() == edges(topic)
    end = next(event for event in reported.launcher_events(run["id"]) if event["eventType"] == "COMPLETE")
    columns = end["outputs"][0]["facets"]["columnLineage"]["fields"]
    assert columns["id"]["inputFields"][0]["transformations"][0]["subtype"] == "IDENTITY"
    assert columns["word"]["inputFields"][0]["transformations"][0]["subtype"] == "TRANSFORMATION"


def test_a_failed_cast_fails_the_run_with_its_message(launch, topic, reported, flink):
    statement = "INSERT INTO copies SELECT CAST(word AS INT), word FROM numbers;"
    launched = launch("SET 'restart-strategy.type' = 'none';" + sql(topic, statement)).start()
    end = until(lambda: _failures(reported), "the failure")[0]
    run = reported.runs()[0]
    assert end["run"]["runId"] == run["id"]
    assert "For input string: 'w0'" in end["run"]["facets"]["errorMessage"]["message"]
    assert "NumberFormatException" in end["run"]["facets"]["errorMessage"]["stackTrace"]
    until(lambda: len(flink.jobs(topic)) == 2, "the job to be submitted again")
    launched.stop()
    assert set(reported.states()) <= {"FAILED", "ABORTED"}
    assert reported.launcher_event_types(run["id"])["FAIL"] == 1
    assert reported.edges() == edges(topic)


def _failures(reported):
    return [event for event in reported.events() if "errorMessage" in event["run"]["facets"]]


def problem(launched):
    """Return the problem that the launcher has written for `lab status`."""
    path = launched.folder / "state.json"
    return json.loads(path.read_text())["problem"] if path.exists() else ""


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ("SET 'restart-strategy.type' = 'none';", "has failed 2 times in a row: NumberFormatException"),
        ("", "is restarted by Flink after a failure: NumberFormatException"),
    ],
    ids=["resubmitted by the launcher", "restarted by Flink"],
)
def test_a_job_that_fails_again_and_again_has_a_problem(launch, topic, settings, text):
    statement = "INSERT INTO copies SELECT CAST(word AS INT), word FROM numbers;"
    launched = launch(settings + sql(topic, statement)).start()
    until(lambda: problem(launched).startswith(text), "the problem")
    launched.stop()


def test_a_missing_topic_is_named(launch, name):
    launched = launch(sql(f"{name}_missing")).start()
    until(lambda: f"{name}_missing" in problem(launched).partition(": ")[2], "the name of the topic")
    launched.stop()


def test_the_problem_of_a_script_is_gone_once_its_job_has_run(launch, topic, copies):
    broken = sql(topic).replace("word FROM", "nobody FROM").replace("UPPER(word)", "UPPER(nobody)")
    launched = launch(broken).start()
    until(lambda: problem(launched).startswith("cannot be submitted: "), "the problem")
    launched.stop()
    launched = launch(sql(topic)).start()
    copies.await_all(10)
    until(lambda: problem(launched) == "", "the end of the problem")
    launched.stop()


def test_a_task_is_not_retried_after_a_failure(launch, topic, reported, flink):
    statement = "INSERT INTO copies SELECT CAST(word AS INT), word FROM numbers;"
    launched = launch("SET 'restart-strategy.type' = 'none';" + sql(topic, statement), once=True).start()
    assert launched.wait() == 1
    reported.await_states("FAILED")
    assert len(flink.jobs(topic)) == 1


def test_a_job_cancelled_by_a_user_is_not_restarted(launch, topic, reported, rest, flink):
    launched = launch(sql(topic)).start()
    rest.cancel(running_job(flink, topic).job_id)
    assert launched.wait() == 0
    reported.await_states("ABORTED")
    assert [job.state for job in flink.jobs(topic)] == ["CANCELED"]
    assert reported.edges() == edges(topic)


def test_a_restarted_launcher_restores_the_savepoint(launch, topic, reported, copies, flink, broker):
    launched = launch(sql(topic)).start()
    running_job(flink, topic)
    copies.await_all(10)
    assert launched.stop() == 0
    reported.await_states("ABORTED")
    assert "savepoint" in launched.saved_state()["restore"]
    produce(broker, topic, range(10, 20))
    launched.start()
    copies.await_all(20)
    assert launched.stop() == 0
    runs = reported.await_states("ABORTED", "ABORTED")
    assert [reported.launcher_event_types(run["id"])["ABORT"] for run in runs] == [1, 1]
    assert reported.edges() == edges(topic)


def test_a_stop_commits_what_the_job_has_written(launch, topic, copies, broker):
    """Results that stay uncommitted expire with Kafka's transaction timeout before the next start."""
    launched = launch("SET 'execution.checkpointing.interval' = '1 h';" + sql(topic)).start()
    written = Copies(broker, topic, "read_uncommitted")
    written.await_all(10)
    written.close()
    assert launched.stop() == 0
    copies.await_all(10)


def test_a_job_stopped_by_another_client_is_aborted_and_continues_from_that_savepoint(
    launch, topic, reported, copies, flink, rest, broker
):
    launched = launch(sql(topic)).start()
    job = running_job(flink, topic)
    copies.await_all(10)
    rest.stop_with_savepoint(job.job_id)
    assert launched.wait() == 0
    reported.await_states("ABORTED")
    produce(broker, topic, range(10, 20))
    launched.start()
    copies.await_all(20)
    assert launched.stop() == 0


def test_a_deleted_savepoint_is_the_problem_of_the_next_start(launch, topic, copies, flink):
    launched = launch(sql(topic)).start()
    copies.await_all(10)
    assert launched.stop() == 0
    savepoint = launched.saved_state()["restore"]
    shutil.rmtree(savepoint.removeprefix("file:"))
    launched.start()
    until(lambda: problem(launched).startswith(f"cannot be submitted: the savepoint {savepoint}"), "the problem")
    launched.stop()
    assert len(flink.jobs(topic)) == 1


def test_an_edited_topic_is_not_continued_from_the_state_of_the_former_one(launch, topic, copies, flink, broker):
    """Flink's Kafka source restores the partitions of its state, so the job would go on reading the former topic."""
    launched = launch(sql(topic)).start()
    copies.await_all(10)
    until(lambda: json.loads((launched.folder / "state.json").read_text())["described"]["inputs"], "the lineage")
    assert launched.stop() == 0
    broker.topic(f"{topic}_moved")
    produce(broker, topic, range(10, 20))
    script = Path(launched.command[-1])
    script.write_text(sql(topic).replace(f"'topic' = '{topic}',", f"'topic' = '{topic}_moved',"), encoding="utf-8")
    launched.start()
    until(lambda: problem(launched).startswith(f"cannot be submitted: it no longer reads {topic},"), "the problem")
    launched.stop()
    assert len(flink.jobs(topic)) == 1
    script.write_text(sql(topic), encoding="utf-8")
    launched.start()
    copies.await_all(20)
    assert launched.stop() == 0


def test_a_launcher_that_never_observed_a_checkpoint_restores_the_newest(launch, topic, copies, flink, broker):
    _assert_newest_is_restored(launch(sql(topic)), Phase.OPEN, topic, copies, flink, broker)


def test_a_job_that_was_never_observed_is_restored_from_its_newest_checkpoint(launch, topic, copies, flink, broker):
    """Its launcher was killed directly after the submission, and the cluster lost the job later."""
    _assert_newest_is_restored(launch(sql(topic)), Phase.SUBMITTED, topic, copies, flink, broker)


def _assert_newest_is_restored(launched, phase, topic, copies, flink, broker):
    """Kill launcher and cluster, and assert that a launcher which knows no checkpoint continues from the newest."""
    launched.start()
    running_job(flink, topic)
    copies.await_all(10)
    until(lambda: "chk-" in launched.saved_state().get("restore", ""), "a checkpoint")
    launched.kill()
    file = launched.folder / "state.json"
    state = json.loads(file.read_text())
    memory = {**state["memory"], "phase": phase.name, "restore": "", "restored": ""}
    file.write_text(json.dumps({**state, "memory": memory}))
    flink.kill(JOBMANAGER)
    flink.start(JOBMANAGER)
    launched.start()
    produce(broker, topic, range(10, 20))
    copies.await_all(20)
    assert launched.stop() == 0


def test_a_frozen_jobmanager_aborts_no_run(launch, topic, reported, copies, flink):
    launched = launch(sql(topic)).start()
    before = running_job(flink, topic)
    until(lambda: reported.states() == ["RUNNING"], "the run to be reported")
    with flink.frozen(JOBMANAGER):
        assert launched.stop() == 0
        assert reported.states() == ["RUNNING"]
    launched.start()
    copies.await_all(10)
    assert running_job(flink, topic).job_id == before.job_id
    assert launched.stop() == 0
    (run,) = reported.await_states("ABORTED")
    assert reported.launcher_event_types(run["id"])["ABORT"] == 1


def test_a_launcher_adopts_the_run_of_a_killed_one(launch, topic, reported, copies, flink, broker):
    launched = launch(sql(topic)).start()
    before = running_job(flink, topic)
    until(lambda: reported.states() == ["RUNNING"], "the run to be reported")
    launched.kill()
    launched.start()
    produce(broker, topic, range(10, 20))
    copies.await_all(20)
    assert running_job(flink, topic).job_id == before.job_id
    assert launched.stop() == 0
    (run,) = reported.await_states("ABORTED")
    assert reported.launcher_event_types(run["id"])["START"] == 1


@pytest.mark.parametrize("seconds", [0.3, 0.8, 1.5, 2.5])
def test_a_launcher_killed_during_submission_submits_once(launch, topic, reported, copies, flink, seconds):
    launched = launch(sql(topic)).start()
    with pytest.raises(TimeoutError):
        _wait_for(launched, seconds)
    launched.kill()
    launched.start()
    running_job(flink, topic)
    copies.await_all(10)
    assert len(flink.jobs(topic)) == 1
    assert launched.stop() == 0
    reported.await_states("ABORTED")


def _wait_for(launched, seconds):
    """Assert that the launcher does not exit within this time."""
    try:
        code = launched.processes[-1].wait(seconds)
    except TimeoutError:
        raise
    except Exception as error:
        raise TimeoutError from error
    raise AssertionError(f"it ended with {code}: {launched.log()}")


def test_a_launcher_without_state_adopts_its_own_job(launch, topic, reported, flink, tmp_path):
    launched = launch(sql(topic)).start()
    before = running_job(flink, topic)
    until(lambda: reported.states() == ["RUNNING"], "the run to be reported")
    launched.kill()
    (tmp_path / "state.json").unlink()
    launched.start()
    until(lambda: launched.saved_state().get("job_id") == before.job_id, "the job to be adopted")
    assert launched.stop() == 0
    reported.await_states("ABORTED")
    assert len(flink.jobs(topic)) == 1


def test_a_lost_jobmanager_ends_the_run_and_the_job_restarts_from_its_last_checkpoint(
    launch, topic, reported, copies, flink, broker
):
    launched = launch(sql(topic)).start()
    before = running_job(flink, topic)
    copies.await_all(10)
    until(lambda: "chk-" in launched.saved_state().get("restore", ""), "a checkpoint")
    flink.kill(JOBMANAGER)
    flink.start(JOBMANAGER)
    produce(broker, topic, range(10, 20))
    after = running_job(flink, topic)
    assert after.job_id != before.job_id
    copies.await_all(20)
    runs = reported.await_states("ABORTED", "RUNNING")
    assert runs[0]["id"] == run_id(before.job_id, before.started)
    lost = next(event for event in reported.events(runs[0]["id"]) if event["eventType"] == "ABORT")
    assert lost["run"]["facets"]["lineageLab_flinkJob"]["reason"] == "the cluster lost the job"
    assert launched.stop() == 0
    reported.await_states("ABORTED", "ABORTED")
    assert reported.edges() == edges(topic)


def test_a_lost_taskmanager_does_not_end_the_run(launch, topic, reported, copies, flink, broker):
    launched = launch(sql(topic)).start()
    before = running_job(flink, topic)
    copies.await_all(10)
    until(lambda: reported.states() == ["RUNNING"], "the run to be reported")
    flink.restart(TASKMANAGER)
    produce(broker, topic, range(10, 20))
    copies.await_all(20)
    assert running_job(flink, topic).job_id == before.job_id
    assert launched.stop() == 0
    (run,) = reported.await_states("ABORTED")
    assert reported.launcher_event_types(run["id"])["OTHER"] >= 1


LAB_RECOVERY = "".join(
    f"SET 'restart-strategy.{key}' = '{value}';"
    for key, value in {
        "type": "exponential-delay",
        "exponential-delay.initial-backoff": "1s",
        "exponential-delay.max-backoff": "10s",
        "exponential-delay.backoff-multiplier": "2.0",
        "exponential-delay.reset-backoff-threshold": "1min",
        "exponential-delay.attempts-before-reset-backoff": "4",
    }.items()
)


def test_a_job_waits_for_a_taskmanager_that_starts_slowly(launch, topic, reported, copies, flink, broker):
    launched = launch(LAB_RECOVERY + sql(topic)).start()
    before = running_job(flink, topic)
    copies.await_all(10)
    flink.kill(TASKMANAGER)
    # The retries that Flink makes without waiting for slots are over after 15 s.
    with pytest.raises(TimeoutError):
        _wait_for(launched, 30)
    flink.start(TASKMANAGER)
    produce(broker, topic, range(10, 20))
    copies.await_all(20)
    assert [job.job_id for job in flink.jobs(topic)] == [before.job_id]
    assert launched.stop() == 0
    reported.await_states("ABORTED")


def test_a_launcher_waits_for_an_unavailable_gateway(launch, topic, reported, copies, flink):
    flink.kill(GATEWAY)
    launched = launch(sql(topic)).start()
    until(lambda: (launched.folder / "log").exists() and "did not respond" in launched.log(), "the log message")
    flink.start(GATEWAY)
    copies.await_all(10)
    assert launched.stop() == 0
    reported.await_states("ABORTED")


def test_events_are_delivered_after_an_outage_of_the_lineage_service(launch, topic, copies, tmp_path, ports):
    unavailable = f"http://127.0.0.1:{next(ports)}"
    launched = launch(sql(topic), LINEAGE_URL=unavailable).start()
    copies.await_all(10)
    until(lambda: (tmp_path / "open-runs.json").exists(), "undelivered events")
    launched.kill()
    assert json.loads((tmp_path / "open-runs.json").read_text())
    launched.start()
    until(lambda: launched.log().count("supervising") == 2, "the launcher to supervise the job")
    assert launched.stop() == 0
    with running_service(tmp_path / "late") as late:
        launched.environment["LINEAGE_URL"] = late.url
        launched.start()
        reported = ReportedLineage(late.url, topic)
        reported.await_states("ABORTED", "RUNNING")
        assert launched.stop() == 0
        runs = reported.await_states("ABORTED", "ABORTED")
        assert [reported.launcher_event_types(run["id"])["START"] for run in runs] == [1, 1]


def test_an_invalid_statement_is_logged_with_its_position_and_retried(launch, topic, flink):
    launched = launch(sql(topic, "INSERT INTO copies\nSELECT id, nobody FROM numbers;")).start()
    line = sql(topic).count("\n") + 2
    until(lambda: "nobody" in _log(launched), "the error message")
    assert f"{topic}.sql, line {line}, column 12: " in launched.log()
    assert "Column 'nobody' not found" in json.loads((launched.folder / "state.json").read_text())["problem"]
    assert launched.stop() == 0
    assert flink.jobs(topic) == []


def _log(launched):
    return launched.log() if (launched.folder / "log").exists() else ""


def test_an_invalid_script_ends_the_launcher(launch, name):
    launched = launch("CREATE TABLE t (a INT) WITH ('x' = '${KAFKA_BOOTSTRAPS}');").start()
    assert launched.wait() == 2
    assert "did you mean ${KAFKA_BOOTSTRAP}?" in launched.log()


def test_a_foreign_job_of_the_same_name_is_not_touched(launch, topic, flink, rest, copies):
    _submit_by_hand(flink, topic)
    foreign = running_job(flink, topic)
    launched = launch(sql(topic)).start()
    until(lambda: "foreign job" in _log(launched), "the error message")
    rest.cancel(foreign.job_id)
    copies.await_all(10)
    assert launched.stop() == 0


def _submit_by_hand(flink, name):
    with httpx.Client(base_url=flink.gateway_url, trust_env=False, timeout=TIMEOUT_SECONDS) as client:
        session = client.post("/v1/sessions", json={}).json()["sessionHandle"]
        for statement in (
            f"SET 'pipeline.name' = '{name}'",
            "CREATE TEMPORARY TABLE a (b INT) WITH ('connector' = 'datagen', 'rows-per-second' = '1')",
            "CREATE TEMPORARY TABLE c (b INT) WITH ('connector' = 'blackhole')",
            "INSERT INTO c SELECT b FROM a",
        ):
            answer = client.post(f"/v1/sessions/{session}/statements", json={"statement": statement}).json()
            path = f"/v1/sessions/{session}/operations/{answer['operationHandle']}/result/0"
            until(lambda path=path: client.get(path).json().get("resultType") != "NOT_READY", statement)


def test_listener_and_launcher_report_one_start_and_one_end_of_a_run(launch, topic, reported, copies, flink, broker):
    """A stop with a savepoint ends a job as FINISHED, which the listener alone would report as COMPLETE."""
    launched = launch(sql(topic)).start()
    copies.await_all(10)
    reported.await_edges(edges(topic))
    assert launched.stop() == 0
    produce(broker, topic, range(10, 20))
    launched.start()
    copies.await_all(20)
    assert launched.stop() == 0

    runs = reported.await_states("ABORTED", "ABORTED")
    assert [reported.reports(run["id"]) for run in runs] == [(1, 1), (1, 1)]
    for run in runs:
        start = next(event for event in reported.events(run["id"]) if event["eventType"] == "START")
        assert start["outputs"][0]["facets"]["columnLineage"]["fields"]["word"]
        assert reported.events(run["id"]) == reported.launcher_events(run["id"])
