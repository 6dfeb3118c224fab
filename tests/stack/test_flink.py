# SPDX-License-Identifier: Apache-2.0
"""Flink cluster as the lab runs it, and jobs as resources: real JVMs and a real store for checkpoints."""

import json
import signal
import threading

import boto3
import httpx
import psutil
import pytest

from infra import credentials
from infra.errors import LabError
from infra.model.resources import FlinkJob
from infra.provider.kind import OperationContext
from infra.provider.kinds import flink_job
from infra.provider.kinds.flink_job import FlinkJobKind
from infra.services.flink.settings import JOBMANAGER, SLOT_WAITING, TASKMANAGER
from tests.stack.partial_lab import PartialLab
from tests.stack.polling import until

pytestmark = [pytest.mark.stack, pytest.mark.slow]

KIND = FlinkJobKind()

SOURCE_TABLE = "CREATE TEMPORARY TABLE numbers (word STRING) WITH ('connector' = 'datagen', 'rows-per-second' = '5')"
SINK_TABLE = "CREATE TEMPORARY TABLE nowhere (n INT) WITH ('connector' = 'blackhole')"
VALID_INSERT = "INSERT INTO nowhere SELECT CHAR_LENGTH(word) FROM numbers"
FAILING_INSERT = "INSERT INTO nowhere SELECT CAST(word AS INT) FROM numbers"


class Cluster(PartialLab):
    """Cluster with the requests that the launchers send."""

    def submit(self, name, insert, **settings):
        """Submit a job through the SQL gateway and return its id."""
        with httpx.Client(base_url=f"http://{self.address(8085)}/v1", timeout=60, trust_env=False) as gateway:
            session = gateway.post("/sessions", json={}).raise_for_status().json()["sessionHandle"]
            wanted = {"pipeline.name": name, "execution.checkpointing.interval": "1s", **settings}
            said = [f"SET '{key}' = '{value}'" for key, value in wanted.items()]
            for statement in (*said, SOURCE_TABLE, SINK_TABLE, insert):
                answer = self._execute(gateway, session, statement)
            gateway.delete(f"/sessions/{session}")
        return answer["jobID"]

    def _execute(self, gateway, session, statement):
        asked = gateway.post(f"/sessions/{session}/statements", json={"statement": statement}).raise_for_status()
        operation = asked.json()["operationHandle"]
        answers = []

        def is_ready():
            result = gateway.get(f"/sessions/{session}/operations/{operation}/result/0")
            assert result.is_success, result.text
            answers.append(result.json())
            return answers[-1]["resultType"] != "NOT_READY"

        assert until(is_ready)
        return answers[-1]

    def request(self, method, path):
        return httpx.request(method, f"http://{self.address(8084)}{path}", timeout=30, trust_env=False)

    def state(self, job):
        return self.request("GET", f"/jobs/{job}/status").json().get("status")

    def describe(self, job):
        """Return what explains the state of a job: the cluster's answers, supervisor's states, ends of the logs."""
        shown = {path: self._answer(path) for path in (f"/jobs/{job}", f"/jobs/{job}/exceptions", "/taskmanagers")}
        for service in (JOBMANAGER, TASKMANAGER):
            shown[service] = f"{self.supervisor.state(service)}\n{self.supervisor.log_tail(service, 40)}"
        return "\n".join(f"{name}: {text}" for name, text in shown.items())

    def _answer(self, path):
        try:
            return self.request("GET", path).text[:6000]
        except httpx.HTTPError as error:
            return repr(error)

    def checkpoints(self):
        store = boto3.client(
            "s3",
            endpoint_url=f"http://{self.address(9000)}",
            aws_access_key_id=self.secret(credentials.S3_ACCESS_KEY),
            aws_secret_access_key=self.secret(credentials.S3_SECRET_KEY),
            region_name=credentials.S3_REGION,
        )
        found = store.list_objects_v2(Bucket="checkpoints", Prefix="flink/").get("Contents", [])
        return [item["Key"] for item in found if item["Key"].endswith("/_metadata")]

    def inputs(self, name, **changes):
        site = f"{self.root} on this machine"
        return FlinkJob(
            rest=f"http://{self.address(8084)}",
            cluster=f"/flink of {site}",
            name=name,
            launcher="by_hand",
            definition="",
        ).model_copy(update=changes)


@pytest.fixture(scope="module")
def lab(tmp_path_factory, free_offset):
    folder = tmp_path_factory.mktemp("flink") / "one"
    running = Cluster(folder, free_offset + 9, [TASKMANAGER, "flink_sql_gateway", "bucket/checkpoints"])
    try:
        first = running.up()
        assert first.status == 0, first.text
        yield running
        gone = running.engine.pulumi("destroy", "--yes", "--skip-preview")
        assert gone.status == 0, gone.text
    finally:
        running.supervisor.shut_down()


@pytest.fixture(autouse=True)
def cancel_all_jobs(lab):
    yield
    for job in lab.request("GET", "/jobs").json()["jobs"]:
        if job["status"] not in {"CANCELED", "FAILED", "FINISHED"}:
            lab.request("PATCH", f"/jobs/{job['id']}?mode=cancel")
            assert until(lambda job=job: lab.state(job["id"]) in {"CANCELED", "FAILED", "FINISHED"})


def test_cluster_belongs_to_the_lab_and_listens_only_on_loopback(lab):
    settings = {entry["key"]: entry["value"] for entry in lab.request("GET", "/jobmanager/config").json()}
    assert settings["high-availability.cluster-id"] == lab.inputs("any").cluster
    assert lab.inputs("any").cluster.endswith(" on this machine")
    for service in (JOBMANAGER, TASKMANAGER, "flink_sql_gateway"):
        process = psutil.Process(lab.supervisor.require_state(service).pid)
        listening = [c for c in process.net_connections("tcp") if c.status == psutil.CONN_LISTEN]
        assert listening
        assert {c.laddr.ip.removeprefix("::ffff:") for c in listening} == {"127.0.0.1"}


def test_pages_of_other_origins_are_refused(lab):
    for path in (f"{lab.address(8084)}/jars", f"{lab.address(8085)}/v1/info"):
        response = httpx.get(f"http://{path}", headers={"Origin": "https://hostile.example"}, trust_env=False)
        assert response.status_code == 403
        assert "access-control-allow-origin" not in response.headers


def test_cluster_configuration_contains_no_secret(lab):
    shown = "".join(lab.request("GET", f"/jobmanager/{what}").text for what in ("config", "environment"))
    shown += "".join(path.read_text() for path in lab.root.glob("services/flink_*/files/*"))
    assert shown.count("s3.endpoint") >= 2, "API and files show the settings of the store"
    for name in credentials.NAMES:
        assert lab.secret(name) not in shown


def test_create_waits_for_all_tasks_and_checkpoints_are_in_the_store(lab):
    job = lab.submit("sound", VALID_INSERT)
    said = []
    KIND.create(lab.inputs("sound"), OperationContext(report=said.append))
    assert lab.state(job) == "RUNNING"
    assert said[-1] == "running, 2 of 2 tasks running"
    assert KIND.read(lab.inputs("sound"), OperationContext()).inputs == lab.inputs("sound")
    assert until(lambda: any(job in key for key in lab.checkpoints()))


def test_failed_job_reports_the_root_exception(lab, monkeypatch):
    monkeypatch.setattr(flink_job, "STALE_FAILURE_SECONDS", 1)
    lab.submit("broken", FAILING_INSERT, **{"restart-strategy.type": "none"})
    with pytest.raises(LabError, match=r"(?s)^Flink job broken failed:\n.*NumberFormatException: For input string"):
        KIND.create(lab.inputs("broken"), OperationContext())


def test_manually_cancelled_job_is_drift_until_resubmitted(lab):
    job = lab.submit("cancelled", VALID_INSERT)
    KIND.create(lab.inputs("cancelled"), OperationContext())
    lab.request("PATCH", f"/jobs/{job}?mode=cancel")
    assert until(lambda: lab.state(job) == "CANCELED")
    found = KIND.read(lab.inputs("cancelled"), OperationContext()).inputs
    assert found.state == "CANCELED"
    lab.submit("cancelled", VALID_INSERT)
    KIND.update(found, lab.inputs("cancelled"), OperationContext())
    assert KIND.read(lab.inputs("cancelled"), OperationContext()).inputs == lab.inputs("cancelled")


def test_missing_job_is_reported_with_the_launchers_error(lab, tmp_path, monkeypatch):
    monkeypatch.setattr(flink_job, "RECOVERY_TIMEOUT_SECONDS", 1)
    monkeypatch.setattr(flink_job, "PROBLEM_SECONDS", 1)
    monkeypatch.setattr(flink_job, "STALE_FAILURE_SECONDS", 2)
    assert KIND.read(lab.inputs("never"), OperationContext()) is None
    notes = tmp_path / "job.json"
    notes.write_text(json.dumps({"problem": "cannot be submitted: never.sql, line 3: no such table"}))
    with pytest.raises(LabError, match=r"never cannot be submitted: never\.sql, line 3: no such table\nSee: "):
        KIND.create(lab.inputs("never", notes=str(notes)), OperationContext())


def test_problem_of_an_earlier_attempt_does_not_end_the_wait(lab, tmp_path, monkeypatch):
    """A service that the job needs is back, and the launcher has not tried again yet."""
    monkeypatch.setattr(flink_job, "PROBLEM_SECONDS", 1)
    notes = tmp_path / "job.json"
    notes.write_text(json.dumps({"problem": "cannot be submitted: later.sql, line 4: UnknownHostException"}))

    def submit():
        lab.submit("later", VALID_INSERT)
        notes.write_text("{}")

    launcher = threading.Timer(5 * flink_job.PROBLEM_SECONDS, submit)
    launcher.start()
    try:
        KIND.create(lab.inputs("later", notes=str(notes)), OperationContext())
    finally:
        launcher.join()
    assert KIND.read(lab.inputs("later"), OperationContext()).inputs == lab.inputs("later")


def test_delete_stops_the_job_with_a_savepoint_and_touches_no_other_job(lab):
    first, other = lab.submit("leaves", VALID_INSERT), lab.submit("stays", VALID_INSERT)
    KIND.create(lab.inputs("leaves"), OperationContext())
    KIND.create(lab.inputs("stays"), OperationContext())
    KIND.delete(lab.inputs("leaves"), OperationContext())
    assert lab.state(first) == "FINISHED"
    assert lab.state(other) == "RUNNING"
    assert [key for key in lab.checkpoints() if f"savepoint-{first[:6]}" in key]
    KIND.delete(lab.inputs("leaves"), OperationContext())


def test_cluster_of_another_lab_is_not_touched(lab):
    job = lab.submit("foreign", VALID_INSERT)
    foreign = lab.inputs("foreign", cluster="/flink of another lab")
    with pytest.raises(LabError, match=r"the cluster belongs to another lab \(cluster id /flink of "):
        KIND.create(foreign, OperationContext())
    assert KIND.read(foreign, OperationContext()) is None
    KIND.delete(foreign, OperationContext())
    assert until(lambda: lab.state(job) == "RUNNING")


def is_recovering(lab, job):
    """Return True once the loss of a task manager has ended tasks of a job."""
    return (
        lab.state(job) != "RUNNING"
        or lab.request("GET", f"/jobs/{job}/exceptions").json()["exceptionHistory"]["entries"]
    )


def assert_runs_again(lab, name, job):
    def inputs():
        found = KIND.read(lab.inputs(name), OperationContext())
        return found.inputs if found else None

    # Between its attempts the job is STARTING, for as long as the new task manager takes to start.
    try:
        until(lambda: inputs() == lab.inputs(name), seconds=300)
    except AssertionError as error:
        raise AssertionError(f"{error}: {inputs()}\n{lab.describe(job)}") from error
    assert lab.state(job) == "RUNNING"


def test_job_survives_a_kill_of_its_task_manager(lab):
    job = lab.submit("survivor", VALID_INSERT)
    KIND.create(lab.inputs("survivor"), OperationContext())
    lost = lab.supervisor.require_state(TASKMANAGER).pid
    psutil.Process(lost).send_signal(signal.SIGKILL)
    assert until(lambda: lab.supervisor.require_state(TASKMANAGER).pid not in {0, lost})
    assert until(lambda: is_recovering(lab, job))
    assert_runs_again(lab, "survivor", job)


def test_job_waits_for_a_task_manager_longer_than_its_restart_attempts_last(lab):
    settings = {entry["key"]: entry["value"] for entry in lab.request("GET", "/jobmanager/config").json()}
    # A young cluster waits by default, too.
    assert settings.items() >= SLOT_WAITING.items()
    job = lab.submit("patient", VALID_INSERT)
    KIND.create(lab.inputs("patient"), OperationContext())
    lab.supervisor.stop(TASKMANAGER)
    try:
        assert until(lambda: is_recovering(lab, job))
        # Four attempts with a backoff of 1, 2, 4 and 8 s, which a job without any slot would use up.
        with pytest.raises(AssertionError, match="did not hold"):
            until(lambda: lab.state(job) == "FAILED", seconds=30)
    finally:
        lab.supervisor.run(TASKMANAGER)
    assert_runs_again(lab, "patient", job)


def test_job_on_a_missing_cluster_is_absent_and_delete_is_a_no_op(lab, free_port):
    nowhere = lab.inputs("any", rest=f"http://127.0.0.1:{free_port}")
    assert KIND.read(nowhere, OperationContext()) is None
    KIND.delete(nowhere, OperationContext())
