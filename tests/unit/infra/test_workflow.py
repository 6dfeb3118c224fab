# SPDX-License-Identifier: Apache-2.0
"""Workflows: their files, and their runs under a real supervisord, with the events that a lineage service gets."""

import json
import os
import subprocess
import sys
from uuid import UUID

import pytest

from infra.cli.tasks import run_task
from infra.cli.workflow import StepResult, run_workflow
from infra.cli.workflow_command import only_one
from infra.cli.workflow_file import Workflow, read_workflow, without_missing, workflow_names
from infra.cli.workflow_lineage import WorkflowLineage
from infra.errors import LabError, ServiceError
from infra.project import PROJECT
from infra.targets.launch_script import RUN_VARIABLES
from infra.toolchain.bootstrap import MODULES
from lineagelab_common.client import LineageClient
from lineagelab_common.identifiers import ParentRun, parent_variables
from tests.openlineage_schemas import conformance_errors
from tests.unit.infra.test_runtime import shell_processes
from tests.unit.integrations.lineage_endpoint import TAKEN, answering, free_port

TELL = 'echo "$OPENLINEAGE_PARENT_ID $OPENLINEAGE_ROOT_PARENT_ID"'


class TestFile:
    """`jobs/workflows/NAME.yaml`."""

    def test_the_nightly_workflow_is_valid(self):
        assert workflow_names() == ["nightly"]
        assert [step.name for step in read_workflow("nightly").steps] == [
            *("lake_maintenance", "supplier_stats", "dbt_build"),
            *("supplier_features", "price_forecast_training", "expect"),
        ]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("steps: [", "is no valid YAML"),
            ("", "file: Input should be a valid dictionary"),
            ("steps: []", "steps: Tuple should have at least 1 item"),
            ("steps: [{}]", "steps.0: needs either task or expect"),
            ("steps: [{task: a, expect: all}]", "steps.0: needs either task or expect"),
            ("steps: [{task: a, retry: 1}]", "steps.0.retry: Extra inputs are not permitted"),
            ("steps: [{task: a, retries: -1}]", "steps.0.retries: Input should be greater than or equal to 0"),
            ("steps: [{task: a, retries: many}]", "steps.0.retries: Input should be a valid integer"),
            ("steps: [{expect: []}]", "steps.0: expect: names no table"),
            ("steps: [{expect: all, optional: true}]", "steps.0: optional: only a task can be missing"),
            ("steps: [{task: a}, {task: a}]", "file: step 'a' occurs twice"),
            ("{schedule: nightly, steps: [{task: a}]}", "schedule: String should match pattern"),
            ("{schedule: 0 2 * *, steps: [{task: a}]}", "schedule: String should match pattern"),
        ],
    )
    def test_an_invalid_file_is_refused_with_its_place(self, tmp_path, text, message):
        (tmp_path / "mine.yaml").write_text(text)
        with pytest.raises(LabError) as refused:
            read_workflow("mine", tmp_path)
        assert f"{tmp_path / 'mine.yaml'}" in str(refused.value)
        assert message in str(refused.value)

    def test_a_missing_file_is_named(self, tmp_path):
        with pytest.raises(LabError, match=r"cannot read the workflow .*mine\.yaml: No such file"):
            read_workflow("mine", tmp_path)

    def test_optional_tasks_that_the_lab_lacks_are_left_out(self):
        steps = workflow({"task": "a", "optional": True}, {"task": "b"}, {"expect": "all"})
        found, missing = without_missing(steps, ["b", "c"])
        assert ([step.name for step in found.steps], missing) == (["b", "expect"], ["a"])
        with pytest.raises(LabError, match="the lab has no task b; it has: a, c"):
            without_missing(steps, ["a", "c"])
        with pytest.raises(LabError, match="none of the tasks of the workflow: a"):
            without_missing(workflow({"task": "a", "optional": True}), [])


def workflow(*steps):
    return Workflow.model_validate({"steps": steps})


@pytest.fixture
def runtime(tmp_path):
    created = shell_processes(tmp_path)
    yield created
    created.clear()


@pytest.fixture
def endpoint():
    with answering(TAKEN) as found:
        yield found


def create(runtime, name, script):
    file = runtime.scratch(name) / RUN_VARIABLES
    runtime.create(name, f"[ ! -f '{file}' ] || {{ . '{file}'; rm '{file}'; }}; {script}", is_service=False)


class Runner:
    """Runs steps as tasks; `lines` is what each has printed."""

    def __init__(self, runtime, endpoint, tmp_path, parent=None):
        self.runtime, self.lines, self.told = runtime, {}, []
        self.lineage = WorkflowLineage("nightly", LineageClient(endpoint.url, key=""), tmp_path / "nightly", parent)

    def run(self, *steps):
        try:
            return run_workflow(workflow(*steps), self.lineage, self.step, self.told.append)
        finally:
            self.lineage.close()

    def step(self, step, variables):
        run_task(self.runtime, step.task, self.lines.setdefault(step.task, []).append, variables)


def states(endpoint):
    return [(event["job"]["name"], event["eventType"]) for event in endpoint.taken]


def test_each_step_is_a_run_below_the_workflow_and_the_parent_of_its_programs(runtime, endpoint, tmp_path):
    create(runtime, "first", TELL)
    create(runtime, "second", TELL)
    runner = Runner(runtime, endpoint, tmp_path)
    results = runner.run({"task": "first"}, {"task": "second"})
    assert [(each.name, each.attempts) for each in results] == [("first", 1), ("second", 1)]
    assert states(endpoint) == [
        ("nightly", "START"),
        *(("nightly.first", "START"), ("nightly.first", "COMPLETE")),
        *(("nightly.second", "START"), ("nightly.second", "COMPLETE")),
        ("nightly", "COMPLETE"),
    ]
    for event in endpoint.taken:
        assert conformance_errors(event) == []
    root = f"lineage-lab/nightly/{endpoint.taken[0]['run']['runId']}"
    for name, at in (("first", 1), ("second", 3)):
        run = endpoint.taken[at]["run"]
        assert runner.lines[name] == [f"lineage-lab/nightly.{name}/{run['runId']} {root}"]
        parent = run["facets"]["parent"]
        above = {"run": {"runId": root.rpartition("/")[2]}, "job": {"namespace": "lineage-lab", "name": "nightly"}}
        assert {key: parent[key] for key in ("run", "job", "root")} == {**above, "root": above}
    assert "parent" not in endpoint.taken[0]["run"]["facets"]


@pytest.mark.parametrize("root", [None, ParentRun("airflow", "week", str(UUID(int=2)))])
def test_the_run_of_a_scheduler_is_above_the_workflow(runtime, endpoint, tmp_path, root):
    scheduler = ParentRun("airflow", "week.shop", str(UUID(int=1)), root=root)
    create(runtime, "first", TELL)
    runner = Runner(runtime, endpoint, tmp_path, ParentRun.from_environment(parent_variables(scheduler)))
    runner.run({"task": "first"})
    above = [event["run"]["facets"]["parent"] for event in endpoint.taken]
    workflow_run, step_run = (endpoint.taken[at]["run"]["runId"] for at in (0, 1))
    assert [each["run"]["runId"] for each in above] == [scheduler.run_id, workflow_run, workflow_run, scheduler.run_id]
    assert {each["root"]["run"]["runId"] for each in above} == {(root or scheduler).run_id}
    assert runner.lines["first"] == [f"lineage-lab/nightly.first/{step_run} {root or scheduler}"]


def test_a_step_that_fails_is_retried_and_then_ends_the_workflow(runtime, endpoint, tmp_path):
    create(runtime, "once", f"[ -e {tmp_path}/once ] || {{ touch {tmp_path}/once; exit 3; }}")
    create(runtime, "never", "exit 4")
    create(runtime, "last", "true")
    runner = Runner(runtime, endpoint, tmp_path)
    with pytest.raises(ServiceError, match=r"(?s)never failed \(exit status 4\).*not run: last"):
        runner.run({"task": "once", "retries": 2}, {"task": "never", "retries": 1}, {"task": "last"})
    assert states(endpoint) == [
        ("nightly", "START"),
        *[("nightly.once", each) for each in ("START", "FAIL", "START", "COMPLETE")],
        *[("nightly.never", each) for each in ("START", "FAIL", "START", "FAIL")],
        ("nightly", "FAIL"),
    ]
    assert len({event["run"]["runId"] for event in endpoint.taken}) == 5
    assert "exit status 3" in endpoint.taken[2]["run"]["facets"]["errorMessage"]["message"]
    assert endpoint.taken[-1]["run"]["facets"]["errorMessage"]["message"] == "step never failed"
    assert [text.partition(":")[0] for text in runner.told] == [
        *("once failed, attempt 1 of 3", "never failed, attempt 1 of 2")
    ]


def test_an_interrupt_aborts_the_runs(runtime, endpoint, tmp_path):
    create(runtime, "sleeper", "echo started; exec sleep 600")
    runner = Runner(runtime, endpoint, tmp_path)

    def interrupted(step, variables):
        def stop(line):
            raise KeyboardInterrupt

        run_task(runtime, step.task, stop, variables)

    runner.step = interrupted
    with pytest.raises(KeyboardInterrupt):
        runner.run({"task": "sleeper", "retries": 3})
    assert states(endpoint)[-2:] == [("nightly.sleeper", "ABORT"), ("nightly", "ABORT")]
    assert not runtime.require_state("sleeper").alive


KILLED = """
import os, sys
from pathlib import Path
from infra.cli.workflow_lineage import WorkflowLineage
from lineagelab_common.client import LineageClient
lineage = WorkflowLineage("nightly", LineageClient(sys.argv[1], key=""), Path(sys.argv[2]))
lineage.start()
lineage.start_step("first")
os.kill(os.getpid(), 9)
"""


def test_runs_of_a_process_that_was_killed_are_ended_by_the_next_one(endpoint, runtime, tmp_path):
    killed = [sys.executable, "-c", KILLED, endpoint.url, tmp_path / "nightly"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, MODULES))}
    assert subprocess.run(killed, cwd=PROJECT, env=environment, check=False).returncode == -9
    kept = json.loads((tmp_path / "nightly" / "open-runs.json").read_text())
    assert {event["job"]["name"] for event in kept.values()} == {"nightly", "nightly.first"}
    create(runtime, "first", "true")
    assert Runner(runtime, endpoint, tmp_path).run({"task": "first"})[0] == StepResult(
        "first", 1, pytest.approx(0, abs=60)
    )
    ends = [(event["run"]["runId"], event["eventType"]) for event in endpoint.taken]
    assert {run for run, kind in ends if kind == "ABORT"} == kept.keys()
    assert not (tmp_path / "nightly" / "unsent-events.json").exists()


def test_a_second_run_at_the_same_time_is_refused(tmp_path):
    for _ in range(2):
        with only_one("nightly", tmp_path / "nightly"):
            refused = pytest.raises(LabError, match="the workflow nightly is running already")
            with refused, only_one("nightly", tmp_path / "nightly"):
                pytest.fail("it runs twice")


def test_events_of_a_run_without_the_lineage_service_are_sent_by_the_next_one(endpoint, runtime, tmp_path, monkeypatch):
    monkeypatch.setattr("infra.cli.workflow_lineage.CLOSE_SECONDS", 0.5)
    create(runtime, "first", "true")
    alone = Runner(runtime, endpoint, tmp_path)
    alone.lineage.close()
    alone.lineage = WorkflowLineage("nightly", LineageClient(f"http://127.0.0.1:{free_port()}", key=""), tmp_path / "n")
    assert [each.name for each in alone.run({"task": "first"})] == ["first"]
    assert endpoint.taken == []
    later = WorkflowLineage("nightly", LineageClient(endpoint.url, key=""), tmp_path / "n")
    first = endpoint.wait_for_events(4)[:4]
    assert [event["eventType"] for event in first] == [*("START", "START"), *("COMPLETE", "COMPLETE")]
    later.close()
    assert {event["run"]["runId"] for event in endpoint.taken} == {event["run"]["runId"] for event in first}
