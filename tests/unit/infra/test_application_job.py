# SPDX-License-Identifier: Apache-2.0
"""Flink jobs on clusters of their own: the kind `FlinkJob` reads the launcher's notes."""

import json
import threading
import time

import pytest

from infra.errors import LabError
from infra.model.resources import RUNNING, FlinkJob
from infra.provider import application_job
from infra.provider.kind import OperationContext
from infra.provider.kinds.flink_job import FlinkJobKind

KIND = FlinkJobKind()


@pytest.fixture(autouse=True)
def short_limits(monkeypatch):
    limits = ("PROBLEM", 1), ("FORMER_PROBLEM", 3), ("START", 6), ("RECOVERY_TIMEOUT", 1), ("MIN_RUNNING", 1)
    for name, seconds in limits:
        monkeypatch.setattr(application_job, f"{name}_SECONDS", seconds)


@pytest.fixture
def notes(tmp_path):
    """Writer of a launcher's notes."""
    file = tmp_path / "job.json"

    def write(**content):
        file.write_text(json.dumps(content))

    write.path = str(file)
    return write


@pytest.fixture
def job(notes):
    return FlinkJob(name="windows", launcher="windows", notes=notes.path)


def test_create_waits_until_all_tasks_run(notes, job):
    said = []
    timer = threading.Timer(1.0, lambda: notes(job_state=RUNNING))
    timer.start()
    KIND.create(job, OperationContext(report=said.append))
    assert said == ["its launcher starts its cluster", "running"]
    assert KIND.read(job, OperationContext()).inputs == job


def test_the_cause_of_a_job_that_does_not_start_is_reported(notes, job):
    notes(job_state="", problem="")
    threading.Timer(0.5, lambda: notes(problem="cannot be submitted: the program failed: no such option")).start()
    with pytest.raises(LabError, match="windows cannot be submitted: the program failed: no such option\nSee: bin/lab"):
        KIND.create(job, OperationContext())


def test_a_problem_of_an_earlier_attempt_does_not_end_the_wait(notes, job):
    notes(problem="cannot be submitted: UnknownHostException")
    threading.Timer(2.0, lambda: notes(job_state=RUNNING)).start()
    began = time.monotonic()
    KIND.create(job, OperationContext())
    assert time.monotonic() - began >= 2.0


def test_the_end_of_an_earlier_job_does_not_end_the_wait(notes, job):
    notes(job_state="FINISHED")
    threading.Timer(0.5, lambda: notes(job_state=RUNNING)).start()
    KIND.create(job, OperationContext())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"job_state": "FINISHED"}, "windows ended after its start: FINISHED"),
        ({"job_state": "STARTING"}, "windows was not running after 6 s: starting"),
        ({}, "windows was not running after 6 s: its launcher starts its cluster"),
    ],
)
def test_a_job_that_does_not_run_is_an_error(notes, job, content, message):
    notes(**content)
    with pytest.raises(LabError, match=message):
        KIND.create(job, OperationContext())


@pytest.mark.parametrize(("state", "read"), [("CANCELED", "CANCELED"), ("RESTARTING", "RESTARTING"), ("", "STARTING")])
def test_a_job_that_does_not_run_is_drift(notes, job, state, read):
    notes(job_state=state)
    assert KIND.read(job, OperationContext()).inputs.state == read


def test_a_deleted_job_is_stopped_with_its_launcher(job):
    KIND.delete(job, OperationContext())
