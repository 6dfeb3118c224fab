# SPDX-License-Identifier: Apache-2.0
"""SQL jobs on a real cluster, with everything that can end, killed or away: one run, one end, nothing lost or twice."""

import json

import httpx
import pytest
from confluent_kafka import Consumer, TopicPartition

from lineagelab_flink.rest import FlinkClient
from lineagelab_flink.run_id import run_id
from tests.bench.service_process import running_service
from tests.flink.flink_cluster import GATEWAY, JOBMANAGER, TASKMANAGER
from tests.flink.launched import PATIENCE_SECONDS, ReportedLineage, until

STATES = {"COMPLETE": "COMPLETED", "FAIL": "FAILED", "ABORT": "ABORTED"}

SOURCE = """
CREATE TEMPORARY TABLE numbers (id BIGINT, word STRING) WITH (
  'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '${{KAFKA_BOOTSTRAP}}',
  'properties.group.id' = '{topic}', 'scan.startup.mode' = 'earliest-offset', {bounded}'format' = 'json');
"""
BOUNDED = "'scan.bounded.mode' = 'latest-offset', "
SINK = """
CREATE TEMPORARY TABLE copies (id BIGINT, word STRING) WITH (
  'connector' = 'kafka', 'topic' = '{topic}_out', 'properties.bootstrap.servers' = '${{KAFKA_BOOTSTRAP}}',
  'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '{topic}',
  'properties.transaction.timeout.ms' = '60000', 'format' = 'json');
"""
COPY = "INSERT INTO copies SELECT id, UPPER(word) FROM numbers WHERE id >= 0;"


def sql(topic, statement=COPY, *, bounded=False):
    """Copies a topic to another."""
    return (SOURCE + SINK).format(topic=topic, bounded=BOUNDED if bounded else "") + statement


@pytest.fixture
def topic(broker, name):
    """A topic with ten numbers, and one for the copies."""
    broker.topic(name, f"{name}_out")
    produce(broker, name, range(10))
    return name


def produce(broker, topic, numbers):
    broker.produce(topic, [json.dumps({"id": number, "word": f"w{number}"}).encode() for number in numbers])


class Copies:
    """A reader of committed copies."""

    def __init__(self, broker, topic):
        settings = {"bootstrap.servers": broker.bootstrap, "group.id": "reader", "isolation.level": "read_committed"}
        self._consumer = Consumer(settings)
        self._consumer.assign([TopicPartition(f"{topic}_out", 0, 0)])
        self.ids = []

    def await_all(self, count):
        """Until so many different ones are there; more than one of each would be one too many."""

        def read():
            record = self._consumer.poll(0.5)
            if record is not None and not record.error():
                self.ids.append(json.loads(record.value())["id"])
            return len(set(self.ids)) >= count

        until(read, f"{count} copies, got {sorted(self.ids)}")
        assert sorted(self.ids) == list(range(count))

    def close(self):
        self._consumer.close()


@pytest.fixture
def copies(broker, topic):
    reader = Copies(broker, topic)
    yield reader
    reader.close()


@pytest.fixture
def rest(flink):
    client = FlinkClient(flink.url)
    yield client
    client.close()


def running_job(flink, name):
    """The job of that name that runs, with all its tasks."""

    def found():
        jobs = [job for job in flink.jobs(name) if job.state == "RUNNING" and job.tasks and job.running == job.tasks]
        return jobs[-1] if jobs else None

    return until(found, f"{name} to run")


def edges(topic):
    kafka = "kafka://kafka:9092"
    return {"inputs": [f"{kafka} {topic}"], "outputs": [f"{kafka} {topic}_out"]}


def test_a_bounded_job_completes_and_says_so_once(launch, topic, told, copies, flink):
    launched = launch(sql(topic, bounded=True)).start()
    assert launched.wait() == 0
    (run,) = told.await_states("COMPLETED")
    copies.await_all(10)
    (job,) = flink.jobs(topic)
    assert run["id"] == run_id(job.job_id, job.started)
    assert told.by_launcher(run["id"])["START"] == told.by_launcher(run["id"])["COMPLETE"] == 1
    assert {event["eventType"] for event in told.events()} <= {"START", "RUNNING", "COMPLETE"}
    assert told.edges() == edges(topic)
    end = next(event for event in told.from_launcher(run["id"]) if event["eventType"] == "COMPLETE")
    columns = end["outputs"][0]["facets"]["columnLineage"]["fields"]
    assert columns["id"]["inputFields"][0]["transformations"][0]["subtype"] == "IDENTITY"
    assert columns["word"]["inputFields"][0]["transformations"][0]["subtype"] == "TRANSFORMATION"


def test_a_row_that_cannot_be_cast_fails_the_run_with_its_message(launch, topic, told, flink):
    statement = "INSERT INTO copies SELECT CAST(word AS INT), word FROM numbers;"
    launched = launch("SET 'restart-strategy.type' = 'none';" + sql(topic, statement)).start()
    end = until(lambda: _failures(told), "the failure")[0]
    run = told.runs()[0]
    assert end["run"]["runId"] == run["id"]
    assert "For input string: 'w0'" in end["run"]["facets"]["errorMessage"]["message"]
    assert "NumberFormatException" in end["run"]["facets"]["errorMessage"]["stackTrace"]
    until(lambda: len(flink.jobs(topic)) == 2, "the job to be submitted again")
    launched.stop()
    assert set(told.states()) <= {"FAILED", "ABORTED"}
    assert told.by_launcher(run["id"])["FAIL"] == 1
    assert told.edges() == edges(topic)


def _failures(told):
    return [event for event in told.events() if "errorMessage" in event["run"]["facets"]]


def test_a_job_that_is_to_run_once_fails_once(launch, topic, told, flink):
    statement = "INSERT INTO copies SELECT CAST(word AS INT), word FROM numbers;"
    launched = launch("SET 'restart-strategy.type' = 'none';" + sql(topic, statement), once=True).start()
    assert launched.wait() == 1
    told.await_states("FAILED")
    assert len(flink.jobs(topic)) == 1


def test_a_job_that_a_user_cancels_is_aborted_and_stays_cancelled(launch, topic, told, rest, flink):
    launched = launch(sql(topic)).start()
    rest.cancel(running_job(flink, topic).job_id)
    assert launched.wait() == 0
    told.await_states("ABORTED")
    assert [job.state for job in flink.jobs(topic)] == ["CANCELED"]
    assert told.edges() == edges(topic)


def test_a_stopped_launcher_leaves_a_savepoint_and_the_next_one_goes_on_from_it(
    launch, topic, told, copies, flink, broker
):
    launched = launch(sql(topic)).start()
    running_job(flink, topic)
    copies.await_all(10)
    assert launched.stop() == 0
    told.await_states("ABORTED")
    assert "savepoint" in launched.remembers()["restore"]
    produce(broker, topic, range(10, 20))
    launched.start()
    copies.await_all(20)
    assert launched.stop() == 0
    runs = told.await_states("ABORTED", "ABORTED")
    assert [told.by_launcher(run["id"])["ABORT"] for run in runs] == [1, 1]
    assert told.edges() == edges(topic)


def test_a_killed_launcher_is_followed_by_one_that_takes_up_the_run(launch, topic, told, copies, flink, broker):
    launched = launch(sql(topic)).start()
    before = running_job(flink, topic)
    until(lambda: told.states() == ["RUNNING"], "the run to be told")
    launched.kill()
    launched.start()
    produce(broker, topic, range(10, 20))
    copies.await_all(20)
    assert running_job(flink, topic).job_id == before.job_id
    assert launched.stop() == 0
    (run,) = told.await_states("ABORTED")
    assert told.by_launcher(run["id"])["START"] == 1


@pytest.mark.parametrize("seconds", [0.3, 0.8, 1.5, 2.5])
def test_a_launcher_killed_while_it_submits_submits_once(launch, topic, told, copies, flink, seconds):
    launched = launch(sql(topic)).start()
    with pytest.raises(TimeoutError):
        _wait_for(launched, seconds)
    launched.kill()
    launched.start()
    running_job(flink, topic)
    copies.await_all(10)
    assert len(flink.jobs(topic)) == 1
    assert launched.stop() == 0
    told.await_states("ABORTED")


def _wait_for(launched, seconds):
    """A launcher that ends by itself in that time has failed."""
    try:
        code = launched.processes[-1].wait(seconds)
    except TimeoutError:
        raise
    except Exception as error:
        raise TimeoutError from error
    raise AssertionError(f"it ended with {code}: {launched.said()}")


def test_a_launcher_without_memory_takes_up_its_own_job(launch, topic, told, flink, tmp_path):
    launched = launch(sql(topic)).start()
    before = running_job(flink, topic)
    until(lambda: told.states() == ["RUNNING"], "the run to be told")
    launched.kill()
    (tmp_path / "state.json").unlink()
    launched.start()
    until(lambda: launched.remembers().get("job_id") == before.job_id, "the job to be taken up")
    assert launched.stop() == 0
    told.await_states("ABORTED")
    assert len(flink.jobs(topic)) == 1


def test_a_lost_jobmanager_ends_the_run_and_the_job_goes_on_from_its_last_checkpoint(
    launch, topic, told, copies, flink, broker
):
    launched = launch(sql(topic)).start()
    before = running_job(flink, topic)
    copies.await_all(10)
    until(lambda: "chk-" in launched.remembers().get("restore", ""), "a checkpoint")
    flink.kill(JOBMANAGER)
    flink.start(JOBMANAGER)
    produce(broker, topic, range(10, 20))
    after = running_job(flink, topic)
    assert after.job_id != before.job_id
    copies.await_all(20)
    runs = told.await_states("ABORTED", "RUNNING")
    assert runs[0]["id"] == run_id(before.job_id, before.started)
    lost = next(event for event in told.events(runs[0]["id"]) if event["eventType"] == "ABORT")
    assert lost["run"]["facets"]["lineageLab_flinkJob"]["reason"] == "the cluster has lost the job"
    assert launched.stop() == 0
    told.await_states("ABORTED", "ABORTED")
    assert told.edges() == edges(topic)


def test_a_lost_taskmanager_is_no_end_of_the_run(launch, topic, told, copies, flink, broker):
    launched = launch(sql(topic)).start()
    before = running_job(flink, topic)
    copies.await_all(10)
    until(lambda: told.states() == ["RUNNING"], "the run to be told")
    flink.restart(TASKMANAGER)
    produce(broker, topic, range(10, 20))
    copies.await_all(20)
    assert running_job(flink, topic).job_id == before.job_id
    assert launched.stop() == 0
    (run,) = told.await_states("ABORTED")
    assert told.by_launcher(run["id"])["OTHER"] >= 1


def test_a_gateway_that_is_away_is_waited_for(launch, topic, told, copies, flink):
    flink.kill(GATEWAY)
    launched = launch(sql(topic)).start()
    until(lambda: (launched.folder / "log").exists() and "does not respond" in launched.said(), "it to say so")
    flink.start(GATEWAY)
    copies.await_all(10)
    assert launched.stop() == 0
    told.await_states("ABORTED")


def test_a_lineage_service_that_is_away_is_told_later(launch, topic, copies, tmp_path, ports):
    nobody = f"http://127.0.0.1:{next(ports)}"
    launched = launch(sql(topic), LINEAGE_URL=nobody).start()
    copies.await_all(10)
    until(lambda: (tmp_path / "untold.json").exists(), "events that nobody takes")
    launched.kill()
    assert json.loads((tmp_path / "untold.json").read_text())
    launched.start()
    until(lambda: launched.said().count("supervising") == 2, "it to listen")
    assert launched.stop() == 0
    with running_service(tmp_path / "late") as late:
        launched.environment["LINEAGE_URL"] = late.url
        launched.start()
        told = ReportedLineage(late.url, topic)
        told.await_states("ABORTED", "RUNNING")
        assert launched.stop() == 0
        runs = told.await_states("ABORTED", "ABORTED")
        assert [told.by_launcher(run["id"])["START"] for run in runs] == [1, 1]


def test_a_wrong_statement_is_said_with_its_line_and_tried_again(launch, topic, flink):
    launched = launch(sql(topic, "INSERT INTO copies\nSELECT id, nobody FROM numbers;")).start()
    line = sql(topic).count("\n") + 2
    until(lambda: "nobody" in _said(launched), "the complaint")
    assert f"{topic}.sql, line {line}, column 12: " in launched.said()
    assert "Column 'nobody' not found" in json.loads((launched.folder / "state.json").read_text())["problem"]
    assert launched.stop() == 0
    assert flink.jobs(topic) == []


def _said(launched):
    return launched.said() if (launched.folder / "log").exists() else ""


def test_an_unusable_file_ends_the_launcher(launch, name):
    launched = launch("CREATE TABLE t (a INT) WITH ('x' = '${KAFKA_BOOTSTRAPS}');").start()
    assert launched.wait() == 2
    assert "did you mean ${KAFKA_BOOTSTRAP}?" in launched.said()


def test_a_strangers_job_of_the_same_name_is_left_alone(launch, topic, flink, rest, copies):
    _submit_by_hand(flink, topic)
    stranger = running_job(flink, topic)
    launched = launch(sql(topic)).start()
    until(lambda: "is not the lab's" in _said(launched), "the complaint")
    rest.cancel(stranger.job_id)
    copies.await_all(10)
    assert launched.stop() == 0


def _submit_by_hand(flink, name):
    with httpx.Client(base_url=flink.gateway_url, trust_env=False, timeout=PATIENCE_SECONDS) as client:
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
