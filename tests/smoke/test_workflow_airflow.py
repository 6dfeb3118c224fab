# SPDX-License-Identifier: Apache-2.0
"""Airflow beside a running lab: a workflow as DAG, through its REST API, with a task that is killed and retried.

After the other tests of the lab, as it adds runs that fail.
"""

import os
import signal

import httpx
import psutil
import pytest

from infra.namespaces import JOB_NAMESPACE
from infra.project import PROJECT
from jobs.airflow.orphans import COMMAND
from tests.stack.polling import until

pytestmark = [pytest.mark.smoke, pytest.mark.slow]

DAG = "evening"
WORKFLOW = PROJECT / "jobs" / "workflows" / f"{DAG}.yaml"
STEPS = """steps:
  - task: supplier_stats
    retries: 1
  - task: not_in_this_lab
    optional: true
  - expect: [sales.orders]
"""


class Airflow:
    """Client of the REST API."""

    def __init__(self, environment):
        self.url = environment["LAB_AIRFLOW"]
        user = {"username": environment["LAB_AIRFLOW_USER"], "password": environment["LAB_AIRFLOW_PASSWORD"]}
        answer = httpx.post(f"{self.url}/auth/token", json=user, timeout=60).raise_for_status()
        self.token = answer.json()["access_token"]

    def call(self, path, method="GET", **options):
        """Return the JSON of a response."""
        headers = {"Authorization": f"Bearer {self.token}"}
        response = httpx.request(method, f"{self.url}/api/v2{path}", headers=headers, timeout=60, **options)
        return response.raise_for_status().json()

    def dags(self):
        return {each["dag_id"]: each for each in self.call("/dags")["dags"]}

    def trigger(self):
        """Start a run of the DAG and return its id."""
        return self.call(f"/dags/{DAG}/dagRuns", "POST", json={"logical_date": None})["dag_run_id"]

    def tasks(self, run):
        """Return the state of each task of a run."""
        found = self.call(f"/dags/{DAG}/dagRuns/{run}/taskInstances")["task_instances"]
        return {each["task_id"]: each["state"] for each in found}

    def ended(self, run):
        """Return the state of a run, once it has ended."""
        state = self.call(f"/dags/{DAG}/dagRuns/{run}")["state"]
        return state if state in {"success", "failed"} else ""


@pytest.fixture(scope="module")
def airflow(lab):
    """Add Airflow to the running lab, with a workflow of its user; remove both afterwards."""
    WORKFLOW.write_text(STEPS)
    try:
        with lab.with_settings(airflow="true"):
            client = Airflow(lab.environment)
            until(lambda: DAG in client.dags())
            yield client
    finally:
        WORKFLOW.unlink()


@pytest.fixture(scope="module")
def run(lab, airflow):
    """Run the DAG to its end; the first attempt of its Spark task is killed."""
    run = airflow.trigger()
    until(lambda: lab.supervisor.require_state("supplier_stats").running)
    pid = lab.supervisor.require_state("supplier_stats").pid
    driver = until(lambda: [each for each in psutil.Process(pid).children() if "supplier_stats" in each.cmdline()[-1]])
    os.kill(driver[0].pid, signal.SIGKILL)
    assert until(lambda: airflow.ended(run), seconds=300) == "success", airflow.tasks(run)
    return run


def runs(lab, job, number):
    """Return the latest runs of a job of the lab, the newest first."""
    return lab.api(f"/api/v1/namespaces/{JOB_NAMESPACE}/jobs/{job}/runs", limit=number)["runs"]


def test_every_workflow_is_a_dag_and_none_has_run_by_itself(airflow):
    found = airflow.dags()
    assert found.keys() == {"nightly", DAG}
    assert found["nightly"]["timetable_summary"] == "0 2 * * *"
    assert airflow.call("/importErrors")["import_errors"] == []
    assert airflow.call("/dags/nightly/dagRuns")["dag_runs"] == []


def test_a_task_that_the_lab_does_not_have_is_left_out(airflow, run):
    assert airflow.tasks(run) == {"supplier_stats": "success", "expect": "success"}


def test_programs_are_below_their_task_and_the_dag(lab, run):
    root = until(lambda: [each for each in runs(lab, DAG, 1) if each["state"] == "COMPLETED"])[0]
    assert "parent" not in root["facets"]
    for chain in ((f"{DAG}.supplier_stats", "supplier_stats"), (f"{DAG}.expect", "check.sales.orders")):
        above = root
        for job in chain:
            found = runs(lab, job, 1)[0]
            parent = found["facets"]["parent"]
            assert found["state"] == "COMPLETED", job
            assert (parent["run"]["runId"], parent["root"]["run"]["runId"]) == (above["id"], root["id"]), job
            above = found


def test_the_killed_attempt_is_a_failed_run_of_its_own(lab, run):
    for job in (f"{DAG}.supplier_stats", "supplier_stats"):
        until(lambda: [each["state"] for each in runs(lab, job, 2)] == ["COMPLETED", "FAILED"])  # noqa: B023
    attempts = runs(lab, f"{DAG}.supplier_stats", 2)
    applications = runs(lab, "supplier_stats", 2)
    above = [application["facets"]["parent"]["run"]["runId"] for application in applications]
    assert above == [attempt["id"] for attempt in attempts]


def test_a_task_that_is_marked_as_failed_stops_its_program(lab, airflow, run):
    marked = airflow.trigger()
    until(lambda: lab.supervisor.require_state("supplier_stats").running)
    path = f"/dags/{DAG}/dagRuns/{marked}/taskInstances/supplier_stats"
    airflow.call(path, "PATCH", json={"new_state": "failed"})
    until(lambda: not lab.supervisor.require_state("supplier_stats").alive)
    assert until(lambda: airflow.ended(marked)) == "failed"
    until(lambda: runs(lab, f"{DAG}.supplier_stats", 1)[0]["state"] == "FAILED")
    assert runs(lab, "supplier_stats", 1)[0]["state"] == "ABORTED"


def test_a_killed_scheduler_leaves_no_worker(lab, airflow, run):
    def groups():
        """Return the process groups of the scheduler and its workers."""
        found = [each for each in lab.processes() if each.info["environ"].get(COMMAND) == "scheduler"]
        return {os.getpgid(each.pid) for each in found if each.is_running()}

    first = lab.supervisor.require_state("airflow_scheduler").pid
    before = groups()
    assert first in before
    os.kill(first, signal.SIGKILL)
    until(lambda: (now := groups()) and now.isdisjoint(before))
    again = airflow.trigger()
    assert until(lambda: airflow.ended(again), seconds=300) == "success", airflow.tasks(again)


def test_only_the_web_page_listens_and_answers_nobody_without_a_password(lab, airflow):
    pids = {process.pid for process in lab.processes() if COMMAND in (process.info["environ"] or {})}
    sockets = psutil.net_connections("tcp")
    listening = {each.laddr for each in sockets if each.pid in pids and each.status == psutil.CONN_LISTEN}
    port = int(airflow.url.rpartition(":")[2])
    assert {(address.ip, address.port) for address in listening} == {("127.0.0.1", port)}
    assert httpx.get(f"{airflow.url}/api/v2/dags", timeout=60).status_code == 401
    wrong = {"username": "admin", "password": "admin"}
    assert httpx.post(f"{airflow.url}/auth/token", json=wrong, timeout=60).status_code == 401
