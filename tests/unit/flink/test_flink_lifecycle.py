# SPDX-License-Identifier: Apache-2.0
"""Tests of the launcher's state machine: actions by saved state and observed cluster."""

from dataclasses import replace

import pytest

from lineagelab_flink import lifecycle
from lineagelab_flink.lifecycle import (
    ClusterView,
    Event,
    EventType,
    Exit,
    Job,
    JobState,
    Phase,
    Situation,
    Stop,
    Submit,
    Timers,
    Warn,
)

DEFINITION, OLDER = "definition", "older definition"
IDLE = JobState(restore="chk-1")
SUBMITTED = JobState(phase=Phase.SUBMITTED, job_id="job", definition=DEFINITION, restore="chk-1", restored="chk-1")
OPEN = replace(SUBMITTED, phase=Phase.OPEN, started=1000)

DEPLOYING = Job("job", 1000, "RUNNING", tasks=2)
WAITING = replace(DEPLOYING, waiting=2)
RUNNING = replace(DEPLOYING, running=2)
RESTARTING = replace(DEPLOYING, state="RESTARTING")
FINISHED = replace(DEPLOYING, state="FINISHED", ended=5000)
FAILED = replace(DEPLOYING, state="FAILED", ended=5000)
CANCELED = replace(DEPLOYING, state="CANCELED", ended=5000)
ELSEWHERE = replace(RUNNING, job_id="another")

DOWN = None
NO_JOB = ClusterView()


STOPPED = replace(OPEN, restore="savepoint-1", stopped=True)
"""State after a stop with a savepoint, which ends a job as FINISHED."""


class Launcher:
    """Launcher under test: `turn` runs one step and returns its actions by short names."""

    def __init__(self, memory=IDLE):
        self.memory, self.timers, self.ids = memory, Timers(), 0
        self.actions = []

    def turn(self, now, view, *, stop=False, definition=DEFINITION, gone=False, awaits_lineage=False):
        launch = Situation(
            memory=self.memory,
            timers=self.timers,
            definition=definition,
            stop=stop,
            now=now,
            new_id=f"job-{self.ids}",
            gone=gone,
            awaits_lineage=awaits_lineage,
        )
        self.memory, self.timers, self.actions = lifecycle.step(launch, view)
        self.ids += any(isinstance(action, Submit) for action in self.actions)
        return [_short(action) for action in self.actions]

    def refused(self, now):
        launch = Situation(
            memory=self.memory, timers=self.timers, definition=DEFINITION, stop=False, now=now, new_id=""
        )
        self.memory, self.timers = lifecycle.refused(launch)


def _short(action):
    return action.what.value if isinstance(action, Event) else type(action).__name__.lower()


def own(job):
    return ClusterView(own=job)


@pytest.mark.parametrize(
    ("memory", "turns"),
    [
        pytest.param(IDLE, [(0, NO_JOB, ["submit"]), (1, NO_JOB, ["submit"])], id="not observed: resubmitted"),
        pytest.param(
            SUBMITTED,
            [(0, own(DEPLOYING), ["START"]), (1, own(RUNNING), ["RUNNING"]), (30, own(RUNNING), []),
             (31, own(RUNNING), ["RUNNING"])],
            id="running",
        ),
        pytest.param(SUBMITTED, [(0, own(FINISHED), ["START", "COMPLETE", "exit"])], id="finished before observed"),
        pytest.param(OPEN, [(0, own(FINISHED), ["COMPLETE", "exit"])], id="finished"),
        pytest.param(OPEN, [(0, own(CANCELED), ["ABORT", "exit"])], id="cancelled by another client: not restarted"),
        pytest.param(
            OPEN,
            [(0, own(FAILED), ["FAIL", "warn"]), (1, NO_JOB, []), (4.9, NO_JOB, []), (5, NO_JOB, ["submit"])],
            id="failed: resubmitted after a backoff",
        ),
        pytest.param(OPEN, [(0, NO_JOB, ["ABORT"]), (1, NO_JOB, ["submit"])], id="lost by the cluster"),
        pytest.param(
            OPEN, [(0, DOWN, ["warn"]), (600, DOWN, ["warn"]), (601, own(RUNNING), ["RUNNING"])], id="cluster down"
        ),
        pytest.param(
            OPEN,
            [(0, own(RUNNING), ["RUNNING"]), (1, own(RESTARTING), ["OTHER"]), (2, own(RESTARTING), []),
             (3, own(DEPLOYING), []), (4, own(RUNNING), ["RUNNING"])],
            id="tasks restarted",
        ),
        pytest.param(
            OPEN,
            [(0, own(RUNNING), ["RUNNING"]), (1, own(DEPLOYING), ["OTHER"]), (2, own(RUNNING), ["RUNNING"])],
            id="tasks restarted between two observations",
        ),
        pytest.param(
            OPEN, [(0, own(WAITING), []), (14, own(WAITING), []), (15, own(WAITING), ["warn"])], id="no slots"
        ),
        pytest.param(IDLE, [(0, ClusterView(other=ELSEWHERE), ["warn"])], id="foreign job of the same name"),
        pytest.param(
            IDLE,
            [(0, ClusterView(other=ELSEWHERE, mark=DEFINITION), ["warn"]), (1, own(ELSEWHERE), ["START", "RUNNING"])],
            id="own job without saved state: adopted",
        ),
    ],
)  # fmt: skip
def test_actions(memory, turns):
    launcher = Launcher(memory)
    for now, view, expected in turns:
        assert launcher.turn(now, view) == expected


def test_a_stop_waits_for_the_savepoint_and_emits_one_abort():
    launcher = Launcher(OPEN)
    assert launcher.turn(0, own(RUNNING), stop=True) == ["stop"]
    assert launcher.turn(1, own(RUNNING), stop=True) == []
    assert launcher.turn(2, own(CANCELED), stop=True) == ["ABORT", "exit"]
    assert launcher.memory.phase is Phase.IDLE


@pytest.mark.parametrize("memory", [IDLE, SUBMITTED])
@pytest.mark.parametrize("view", [DOWN, NO_JOB])
def test_a_stop_without_a_job_exits_immediately(memory, view):
    launcher = Launcher(memory)
    assert launcher.turn(0, view, stop=True) == ["exit"]
    assert launcher.memory == memory


def test_a_stop_without_a_cluster_times_out_and_aborts_the_run():
    launcher = Launcher(OPEN)
    assert launcher.turn(0, DOWN, stop=True, gone=True) == []
    assert launcher.turn(lifecycle.STOP_TIMEOUT - 1, DOWN, stop=True, gone=True) == []
    assert launcher.turn(lifecycle.STOP_TIMEOUT, DOWN, stop=True, gone=True) == ["ABORT", "exit"]


def test_a_stop_with_a_frozen_cluster_leaves_the_run_open_for_the_next_launcher():
    launcher = Launcher(OPEN)
    assert launcher.turn(0, DOWN, stop=True) == []
    assert launcher.turn(lifecycle.STOP_TIMEOUT, DOWN, stop=True) == ["warn", "exit"]
    assert launcher.memory == OPEN
    successor = Launcher(launcher.memory)
    assert successor.turn(0, own(RUNNING)) == ["RUNNING"]


def test_a_job_stopped_with_a_savepoint_has_not_completed():
    launcher = Launcher(replace(STOPPED, asked=True))
    assert launcher.turn(0, own(FINISHED), stop=True) == ["ABORT", "exit"]
    assert launcher.memory == replace(IDLE, restore="savepoint-1", definition=DEFINITION)


def test_a_job_stopped_with_a_savepoint_by_another_client_is_not_restarted():
    launcher = Launcher(STOPPED)
    assert launcher.turn(0, own(FINISHED)) == ["ABORT", "exit"]
    assert launcher.actions[0].why == "stopped by another client"
    assert launcher.memory.restore == "savepoint-1"


def test_a_job_that_completes_before_its_stop_has_completed():
    assert Launcher(replace(OPEN, asked=True)).turn(0, own(FINISHED), stop=True) == ["COMPLETE", "exit"]


@pytest.mark.parametrize("end", [FAILED, CANCELED, None])
def test_the_next_job_can_search_the_checkpoints_of_the_last_one(end):
    """A job may end before its launcher has observed a checkpoint."""
    launcher = Launcher(replace(OPEN, restore="", restored=""))
    launcher.turn(0, own(end) if end else NO_JOB)
    assert launcher.memory.previous == "job"
    launcher.turn(100, NO_JOB)
    assert launcher.memory.phase is Phase.SUBMITTED
    assert launcher.memory.previous == "job"


@pytest.mark.parametrize("memory", [STOPPED, replace(OPEN, restore="s3://checkpoints/savepoint-2")])
def test_a_newer_savepoint_is_preferred_to_the_checkpoints_of_the_last_job(memory):
    launcher = Launcher(memory)
    launcher.turn(0, own(CANCELED))
    assert launcher.memory.previous == ""


def test_a_job_lost_during_a_stop_is_not_resubmitted():
    assert Launcher(OPEN).turn(0, NO_JOB, stop=True) == ["ABORT", "exit"]


def test_a_changed_definition_replaces_the_job():
    launcher = Launcher(replace(OPEN, definition=OLDER))
    assert launcher.turn(0, own(RUNNING)) == ["stop"]
    launcher.memory = replace(launcher.memory, stopped=True)
    assert launcher.turn(1, own(FINISHED)) == ["ABORT"]
    assert launcher.turn(2, NO_JOB) == ["submit"]
    assert launcher.memory.definition == DEFINITION


def test_a_launcher_killed_during_a_stop_resubmits_the_job():
    launcher = Launcher(replace(OPEN, asked=True))
    assert launcher.turn(0, own(CANCELED)) == ["ABORT"]
    assert launcher.turn(1, NO_JOB) == ["submit"]


def test_a_submission_is_retried_with_the_same_id_and_backoff():
    launcher = Launcher(IDLE)
    assert launcher.turn(0, NO_JOB) == ["submit"]
    first = launcher.memory.job_id
    pauses = []
    for _ in range(6):
        launcher.refused(0)
        pauses.append(launcher.timers.submit)
    assert pauses == [5, 10, 20, 40, 60, 60]
    assert launcher.turn(59, NO_JOB) == []
    assert launcher.turn(60, NO_JOB) == ["submit"]
    assert launcher.memory.job_id == first


def test_a_job_submitted_despite_an_error_is_adopted():
    launcher = Launcher(SUBMITTED)
    launcher.refused(0)
    assert launcher.turn(1, own(RUNNING)) == ["START", "RUNNING"]


def test_backoff_grows_with_failures_and_resets_after_a_long_run():
    launcher = Launcher(replace(OPEN, failures=3))
    launcher.turn(0, own(FAILED))
    assert launcher.timers.submit == 40
    launcher = Launcher(replace(OPEN, failures=3))
    launcher.turn(0, own(replace(FAILED, ended=1000 + 1000 * 121)))
    assert launcher.timers.submit == 5


def test_the_next_job_restores_the_newest_checkpoint_under_a_new_id():
    launcher = Launcher(OPEN)
    launcher.turn(0, NO_JOB)
    launcher.turn(1, NO_JOB)
    assert launcher.memory.restored == "chk-1"
    assert launcher.memory.job_id == "job-0"


def test_a_finished_job_keeps_no_checkpoint():
    launcher = Launcher(OPEN)
    launcher.turn(0, own(FINISHED))
    assert launcher.memory == JobState(definition=DEFINITION)


def test_events_have_the_times_of_the_job():
    launcher = Launcher(SUBMITTED)
    launcher.turn(0, own(FINISHED))
    start, end, _ = launcher.actions
    assert (start.at, end.at) == (1000, 5000)
    assert start.of.job_id == end.of.job_id == "job"
    assert start.of.started == end.of.started == 1000


def test_the_start_waits_for_the_lineage_of_the_job():
    launcher = Launcher(SUBMITTED)
    assert launcher.turn(0, own(DEPLOYING), awaits_lineage=True) == []
    assert launcher.turn(1, own(RUNNING), awaits_lineage=True) == []
    assert launcher.turn(2, own(RUNNING)) == ["START", "RUNNING"]
    assert launcher.actions[0].at == 1000
    assert launcher.turn(3, own(RUNNING)) == []


def test_the_start_waits_for_a_limited_time():
    launcher = Launcher(SUBMITTED)
    assert launcher.turn(5, own(RUNNING), awaits_lineage=True) == []
    assert launcher.turn(4.9 + lifecycle.LINEAGE_TIMEOUT, own(RUNNING), awaits_lineage=True) == []
    assert launcher.turn(5 + lifecycle.LINEAGE_TIMEOUT, own(RUNNING), awaits_lineage=True) == ["START", "RUNNING"]


def test_the_end_of_a_short_job_waits_for_its_lineage_too():
    launcher = Launcher(SUBMITTED)
    assert launcher.turn(0, own(FINISHED), awaits_lineage=True) == []
    assert launcher.turn(1, own(FINISHED)) == ["START", "COMPLETE", "exit"]


@pytest.mark.parametrize(
    ("view", "stop", "expected"),
    [
        pytest.param(own(RUNNING), True, ["START", "stop"], id="stopped"),
        pytest.param(own(FAILED), True, ["START", "FAIL", "exit"], id="failed while it was to be stopped"),
        pytest.param(NO_JOB, False, ["START", "ABORT"], id="lost by the cluster"),
        pytest.param(NO_JOB, True, ["START", "ABORT", "exit"], id="lost by the cluster during a stop"),
    ],
)
def test_a_run_that_ends_before_its_lineage_is_known_is_reported(view, stop, expected):
    launcher = Launcher(SUBMITTED)
    launcher.turn(0, own(RUNNING), awaits_lineage=True)
    assert launcher.turn(1, view, stop=stop, awaits_lineage=True) == expected


def test_a_run_is_reported_where_the_cluster_is_gone_before_its_lineage_is_known():
    launcher = Launcher(SUBMITTED)
    launcher.turn(0, own(RUNNING), awaits_lineage=True)
    launcher.turn(1, DOWN, stop=True, gone=True, awaits_lineage=True)
    assert launcher.turn(1 + lifecycle.STOP_TIMEOUT, DOWN, stop=True, gone=True) == ["START", "ABORT", "exit"]


def test_a_killed_launcher_that_has_not_reported_the_start_leaves_it_to_the_next():
    launcher = Launcher(SUBMITTED)
    launcher.turn(0, own(RUNNING), awaits_lineage=True)
    successor = Launcher(launcher.memory)
    assert successor.turn(0, own(RUNNING)) == ["START", "RUNNING"]


def test_missing_slots_are_reported_while_the_lineage_is_derived():
    launcher = Launcher(SUBMITTED)
    launcher.turn(0, own(WAITING), awaits_lineage=True)
    assert launcher.turn(lifecycle.SLOT_TIMEOUT, own(WAITING), awaits_lineage=True) == ["warn"]


def test_all_actions_and_event_types_are_covered():
    """A new action or event type requires a case in the table above."""
    assert {Event, Submit, Stop, Warn, Exit} == set(lifecycle.Action.__args__)
    assert {kind.value for kind in EventType} == {"START", "RUNNING", "OTHER", "COMPLETE", "FAIL", "ABORT"}


def test_only_a_job_that_may_run_already_is_submitted_again():
    """Its checkpoints are listed, which the first submission need not do."""
    launcher = Launcher(IDLE)
    launcher.turn(0, NO_JOB)
    assert launcher.actions == [Submit(again=False)]
    launcher.turn(1, NO_JOB)
    assert launcher.actions == [Submit(again=True)]
    restarted = Launcher(SUBMITTED)
    restarted.turn(0, NO_JOB)
    assert restarted.actions == [Submit(again=True)]
