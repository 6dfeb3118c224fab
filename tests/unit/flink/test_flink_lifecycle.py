# SPDX-License-Identifier: Apache-2.0
"""What a launcher does about its job: from what it remembers and what the cluster shows, to what is said and done."""

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
SUBMITTED = JobState(Phase.SUBMITTED, "job", DEFINITION, restore="chk-1", restored="chk-1")
OPEN = replace(SUBMITTED, phase=Phase.OPEN, started=1000)

DEPLOYING = Job("job", 1000, "RUNNING", tasks=2)
WAITING = replace(DEPLOYING, waiting=2)
RUNNING = replace(DEPLOYING, running=2)
RESTARTING = replace(DEPLOYING, state="RESTARTING")
FINISHED = replace(DEPLOYING, state="FINISHED", ended=5000)
FAILED = replace(DEPLOYING, state="FAILED", ended=5000)
CANCELED = replace(DEPLOYING, state="CANCELED", ended=5000)
ELSEWHERE = replace(RUNNING, job_id="another")

AWAY = None
NOTHING = ClusterView()


class Launcher:
    """A launcher that takes turns; `said` is what it did in the last one, by short names."""

    def __init__(self, memory=IDLE):
        self.memory, self.timers, self.ids = memory, Timers(), 0
        self.actions = []

    def turn(self, now, view, *, stop=False, definition=DEFINITION):
        launch = Situation(self.memory, self.timers, definition, stop, now, f"job-{self.ids}")
        self.memory, self.timers, self.actions = lifecycle.step(launch, view)
        self.ids += any(isinstance(action, Submit) for action in self.actions)
        return [_short(action) for action in self.actions]

    def refused(self, now):
        launch = Situation(self.memory, self.timers, DEFINITION, False, now, "")
        self.memory, self.timers = lifecycle.refused(launch)


def _short(action):
    return action.what.value if isinstance(action, Event) else type(action).__name__.lower()


def own(job):
    return ClusterView(own=job)


@pytest.mark.parametrize(
    ("memory", "turns"),
    [
        pytest.param(IDLE, [(0, NOTHING, ["submit"]), (1, NOTHING, ["submit"])], id="sent, and not seen: once more"),
        pytest.param(
            SUBMITTED,
            [(0, own(DEPLOYING), ["START"]), (1, own(RUNNING), ["RUNNING"]), (30, own(RUNNING), []),
             (31, own(RUNNING), ["RUNNING"])],
            id="runs",
        ),
        pytest.param(SUBMITTED, [(0, own(FINISHED), ["START", "COMPLETE", "exit"])], id="over before it was seen"),
        pytest.param(OPEN, [(0, own(FINISHED), ["COMPLETE", "exit"])], id="has read all there is"),
        pytest.param(OPEN, [(0, own(CANCELED), ["ABORT", "exit"])], id="somebody cancels it: it stays cancelled"),
        pytest.param(
            OPEN,
            [(0, own(FAILED), ["FAIL", "warn"]), (1, NOTHING, []), (4.9, NOTHING, []), (5, NOTHING, ["submit"])],
            id="fails, and is submitted again after a while",
        ),
        pytest.param(OPEN, [(0, NOTHING, ["ABORT"]), (1, NOTHING, ["submit"])], id="the cluster has lost it"),
        pytest.param(
            OPEN, [(0, AWAY, ["warn"]), (600, AWAY, ["warn"]), (601, own(RUNNING), ["RUNNING"])], id="an outage"
        ),
        pytest.param(
            OPEN,
            [(0, own(RUNNING), ["RUNNING"]), (1, own(RESTARTING), ["OTHER"]), (2, own(RESTARTING), []),
             (3, own(DEPLOYING), []), (4, own(RUNNING), ["RUNNING"])],
            id="its tasks are restarted",
        ),
        pytest.param(
            OPEN,
            [(0, own(RUNNING), ["RUNNING"]), (1, own(DEPLOYING), ["OTHER"]), (2, own(RUNNING), ["RUNNING"])],
            id="its tasks are restarted, too fast to be seen at it",
        ),
        pytest.param(
            OPEN, [(0, own(WAITING), []), (14, own(WAITING), []), (15, own(WAITING), ["warn"])], id="no slots"
        ),
        pytest.param(IDLE, [(0, ClusterView(other=ELSEWHERE), ["warn"])], id="a stranger"),
        pytest.param(
            IDLE,
            [(0, ClusterView(other=ELSEWHERE, mark=DEFINITION), ["warn"]), (1, own(ELSEWHERE), ["START", "RUNNING"])],
            id="its own job, forgotten: taken up",
        ),
    ],
)  # fmt: skip
def test_what_is_done_when(memory, turns):
    launcher = Launcher(memory)
    for now, view, expected in turns:
        assert launcher.turn(now, view) == expected


def test_a_stop_waits_for_the_savepoint_and_says_one_abort():
    launcher = Launcher(OPEN)
    assert launcher.turn(0, own(RUNNING), stop=True) == ["stop"]
    assert launcher.turn(1, own(RUNNING), stop=True) == []
    assert launcher.turn(2, own(CANCELED), stop=True) == ["ABORT", "exit"]
    assert launcher.memory.phase is Phase.IDLE


@pytest.mark.parametrize("memory", [IDLE, SUBMITTED])
@pytest.mark.parametrize("view", [AWAY, NOTHING])
def test_a_stop_without_a_job_leaves_at_once(memory, view):
    launcher = Launcher(memory)
    assert launcher.turn(0, view, stop=True) == ["exit"]
    assert launcher.memory == memory


def test_a_stop_that_meets_no_cluster_gives_it_some_time_and_then_ends_the_run():
    launcher = Launcher(OPEN)
    assert launcher.turn(0, AWAY, stop=True) == []
    assert launcher.turn(lifecycle.STOP_TIMEOUT - 1, AWAY, stop=True) == []
    assert launcher.turn(lifecycle.STOP_TIMEOUT, AWAY, stop=True) == ["ABORT", "exit"]


def test_a_job_that_is_lost_while_it_is_stopped_is_not_brought_back():
    assert Launcher(OPEN).turn(0, NOTHING, stop=True) == ["ABORT", "exit"]


def test_another_definition_replaces_the_job():
    launcher = Launcher(replace(OPEN, definition=OLDER))
    assert launcher.turn(0, own(RUNNING)) == ["stop"]
    assert launcher.turn(1, own(CANCELED)) == ["ABORT"]
    assert launcher.turn(2, NOTHING) == ["submit"]
    assert launcher.memory.definition == DEFINITION


def test_a_launcher_that_was_killed_while_it_stopped_its_job_brings_it_back():
    launcher = Launcher(replace(OPEN, asked=True))
    assert launcher.turn(0, own(CANCELED)) == ["ABORT"]
    assert launcher.turn(1, NOTHING) == ["submit"]


def test_a_submission_is_tried_again_with_the_same_id_later_and_later():
    launcher = Launcher(IDLE)
    assert launcher.turn(0, NOTHING) == ["submit"]
    first = launcher.memory.job_id
    pauses = []
    for _ in range(6):
        launcher.refused(0)
        pauses.append(launcher.timers.submit)
    assert pauses == [5, 10, 20, 40, 60, 60]
    assert launcher.turn(59, NOTHING) == []
    assert launcher.turn(60, NOTHING) == ["submit"]
    assert launcher.memory.job_id == first


def test_a_submission_that_was_refused_and_yet_came_through_is_seen():
    launcher = Launcher(SUBMITTED)
    launcher.refused(0)
    assert launcher.turn(1, own(RUNNING)) == ["START", "RUNNING"]


def test_failures_one_after_the_other_make_pauses_longer_and_a_long_run_makes_them_short_again():
    launcher = Launcher(replace(OPEN, failures=3))
    launcher.turn(0, own(FAILED))
    assert launcher.timers.submit == 40
    launcher = Launcher(replace(OPEN, failures=3))
    launcher.turn(0, own(replace(FAILED, ended=1000 + 1000 * 121)))
    assert launcher.timers.submit == 5


def test_the_next_job_goes_on_from_the_newest_checkpoint_and_has_an_id_of_its_own():
    launcher = Launcher(OPEN)
    launcher.turn(0, NOTHING)
    launcher.turn(1, NOTHING)
    assert launcher.memory.restored == "chk-1"
    assert launcher.memory.job_id == "job-0"


def test_what_has_read_all_there_is_begins_anew():
    launcher = Launcher(OPEN)
    launcher.turn(0, own(FINISHED))
    assert launcher.memory == JobState(definition=DEFINITION)


def test_events_are_of_the_job_and_of_its_own_times():
    launcher = Launcher(SUBMITTED)
    launcher.turn(0, own(FINISHED))
    start, end, _ = launcher.actions
    assert (start.at, end.at) == (1000, 5000)
    assert start.of.job_id == end.of.job_id == "job"
    assert start.of.started == end.of.started == 1000


def test_words_are_used():
    """All kinds of actions are there in the table above; a new one wants a line."""
    assert {Event, Submit, Stop, Warn, Exit} == set(lifecycle.Action.__args__)
    assert {say.value for say in EventType} == {"START", "RUNNING", "OTHER", "COMPLETE", "FAIL", "ABORT"}
