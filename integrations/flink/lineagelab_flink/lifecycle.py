# SPDX-License-Identifier: Apache-2.0
"""What a launcher does about its job. Pure: what it remembers, what the cluster shows and the time make the actions.

A job's id is chosen before it is submitted, and remembered: whoever is killed in between submits the same job once
more, and Flink takes it once. A session cluster forgets its jobs when it dies; that a job is gone is seen by its id.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

INTERVAL = 30.0
"""Seconds between RUNNING events."""

FIRST_PAUSE, LONGEST_PAUSE = 5.0, 60.0
"""Seconds before a job that has failed is submitted again."""

LONG_RUN = 120.0
"""Seconds after which a failure counts as the first again."""

SLOT_PATIENCE = 15.0
"""Seconds that a task may wait for a slot before somebody is told."""

STOP_PATIENCE = 20.0
"""Seconds that a cluster which does not answer is asked to stop a job."""

ENDED = frozenset({"FINISHED", "FAILED", "CANCELED", "SUSPENDED"})
RESTARTS = frozenset({"RUNNING", "RESTARTING", "FAILING"})
"""States of a job whose tasks ran and do not: the first one where the second was too short to be seen."""

RUNS = "all tasks run"


class Phase(StrEnum):
    """Where the launcher is with its job."""

    IDLE = "there is no job"
    SUBMITTED = "the job was submitted, and not yet seen"
    OPEN = "the job runs, or did when last seen: its run is open"


class Say(StrEnum):
    """As OpenLineage names them."""

    START = "START"
    RUNNING = "RUNNING"
    OTHER = "OTHER"
    COMPLETE = "COMPLETE"
    FAIL = "FAIL"
    ABORT = "ABORT"


@dataclass(frozen=True)
class Job:
    """A job as the cluster shows it.

    Attributes:
        started, ended: milliseconds since 1970; `ended` is None while it runs.
        state: as Flink's `JobStatus` names it.
        tasks: how many there are, `running` how many of them run, `waiting` how many have no slot yet.
    """

    job_id: str
    started: int
    state: str
    ended: int | None = None
    tasks: int = 0
    running: int = 0
    waiting: int = 0

    @property
    def is_over(self) -> bool:
        return self.state in ENDED


@dataclass(frozen=True)
class View:
    """What the cluster shows of a name.

    Attributes:
        own: the job that the launcher knows, where the cluster knows it too.
        other: another job of that name that is not over.
        mark: which definition that other one was submitted with; empty where no launcher of the lab did.
    """

    own: Job | None = None
    other: Job | None = None
    mark: str = ""


@dataclass(frozen=True)
class Memory:
    """What a launcher remembers, also when it is killed.

    Attributes:
        definition: what the job was submitted with.
        started: of the job, in milliseconds, once it was seen.
        restore: the newest checkpoint or savepoint that is known.
        restored: what the job under way began from.
        asked: the launcher itself asked the job to stop.
        failures: how often the job failed, one time after the other.
    """

    phase: Phase = Phase.IDLE
    job_id: str = ""
    definition: str = ""
    started: int | None = None
    restore: str = ""
    restored: str = ""
    asked: bool = False
    failures: int = 0


@dataclass(frozen=True)
class Pace:
    """When things are due, in seconds of any clock that never goes back. Forgotten by whoever is killed."""

    submit: float = 0.0
    running: float = 0.0
    away_since: float | None = None
    waiting_since: float | None = None
    said_state: str = ""


@dataclass(frozen=True)
class Event:
    """To be said of the run of a job. `at` is in milliseconds since 1970, None for now."""

    what: Say
    of: Memory
    at: int | None = None
    why: str = ""


@dataclass(frozen=True)
class Submit:
    """To be submitted, as remembered."""


@dataclass(frozen=True)
class Stop:
    """To be cancelled, with a savepoint if possible."""


@dataclass(frozen=True)
class Leave:
    """Nothing more is to be done. `failed` is for the exit code."""

    failed: bool = False


@dataclass(frozen=True)
class Note:
    """To be told to people, once."""

    text: str


Action = Event | Submit | Stop | Note | Leave


@dataclass(frozen=True)
class Launch:
    """All that decides. `new_id` is for the next job, `definition` what it is to be.

    With `once`, a job that fails is not submitted again.
    """

    memory: Memory
    pace: Pace
    definition: str
    stop: bool
    now: float
    new_id: str
    once: bool = False


_Decision = tuple[Memory, Pace, list[Action]]


def step(launch: Launch, view: View | None) -> _Decision:
    """The next memory, and what to do, in order; events are to be kept before the memory is.

    Args:
        launch: where it stands.
        view: None where the cluster does not answer.
    """
    if view is None:
        return _away(launch)
    launch = replace(launch, pace=replace(launch.pace, away_since=None))
    if launch.memory.phase is Phase.IDLE:
        return _idle(launch, view)
    if launch.memory.phase is Phase.SUBMITTED:
        return _submitted(launch, view)
    return _open(launch, view.own)


def refused(launch: Launch) -> tuple[Memory, Pace]:
    """After a submission that came to nothing, as it seems: tried again with the same id, each time a little later."""
    failures = launch.memory.failures + 1
    return replace(launch.memory, failures=failures), replace(launch.pace, submit=launch.now + pause(failures))


def pause(failures: int) -> float:
    """Seconds until the next try."""
    return float(min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** max(0, failures - 1)))


def _away(launch: Launch) -> _Decision:
    memory, pace = launch.memory, launch.pace
    since = launch.now if pace.away_since is None else pace.away_since
    pace = replace(pace, away_since=since)
    if not launch.stop:
        return memory, pace, [Note("the cluster does not answer; it is asked again until it does")]
    if memory.phase is not Phase.OPEN:
        return memory, pace, [Leave()]
    if launch.now - since < STOP_PATIENCE:
        return memory, pace, []
    # A session cluster that is gone has taken its jobs with it.
    gone = Event(Say.ABORT, memory, None, "the cluster did not answer when the job was to be stopped")
    return _closed(memory), pace, [gone, Leave()]


def _idle(launch: Launch, view: View) -> _Decision:
    memory, pace = launch.memory, launch.pace
    if launch.stop:
        return memory, pace, [Leave()]
    if view.other is not None and view.mark:
        taken = Memory(Phase.OPEN, view.other.job_id, view.mark, restore=memory.restore)
        return taken, pace, [Note(f"takes up job {view.other.job_id}, which runs already")]
    if view.other is not None:
        text = (
            f"job {view.other.job_id} has this name, and is not the lab's: cancel it in Flink's UI, or give the file "
            "another name. Until then nothing is submitted"
        )
        return memory, pace, [Note(text)]
    if launch.now < pace.submit:
        return memory, pace, []
    submitted = replace(
        memory,
        phase=Phase.SUBMITTED,
        job_id=launch.new_id,
        definition=launch.definition,
        started=None,
        restored=memory.restore,
        asked=False,
    )
    return submitted, pace, [Submit()]


def _submitted(launch: Launch, view: View) -> _Decision:
    memory, pace = launch.memory, launch.pace
    if view.own is not None:
        return _open(replace(launch, memory=replace(memory, phase=Phase.OPEN)), view.own)
    if launch.stop:
        return memory, pace, [Leave()]  # somebody may still be submitting it: the next launch looks for it
    if launch.now < pace.submit:
        return memory, pace, []
    return replace(memory, definition=launch.definition), pace, [Submit()]


def _open(launch: Launch, job: Job | None) -> _Decision:
    memory, pace = launch.memory, launch.pace
    if job is None:
        gone = Event(Say.ABORT, memory, None, "the cluster has lost the job")
        return _closed(memory), replace(pace, said_state="", submit=launch.now), [gone, *_leave(launch.stop)]
    said: list[Action] = []
    if memory.started is None:
        memory = replace(memory, started=job.started)
        said.append(Event(Say.START, memory, job.started))
    launch = replace(launch, memory=memory)
    if job.is_over:
        return _ended(launch, job, said)
    if launch.stop or memory.definition != launch.definition:
        if not memory.asked:
            said.append(Stop())
        return replace(memory, asked=True), pace, said
    return _running(launch, job, said)


def _ended(launch: Launch, job: Job, said: list[Action]) -> _Decision:
    memory, pace = launch.memory, replace(launch.pace, said_state="", waiting_since=None)
    if job.state == "FINISHED":
        return replace(_closed(memory), restore=""), pace, [*said, Event(Say.COMPLETE, memory, job.ended), Leave()]
    if job.state == "FAILED":
        ran = ((job.ended or job.started) - job.started) / 1000
        failures = 1 if ran > LONG_RUN else memory.failures + 1
        after = replace(_closed(memory), failures=failures)
        again = Note(f"it is submitted again in {pause(failures):.0f} s")
        next_step: Action = Leave(failed=launch.once) if launch.stop or launch.once else again
        pace = replace(pace, submit=launch.now + pause(failures))
        return after, pace, [*said, Event(Say.FAIL, memory, job.ended), next_step]
    if memory.asked and not launch.stop:
        return _closed(memory), pace, [*said, Event(Say.ABORT, memory, job.ended, "it is to be another job")]
    if job.state == "SUSPENDED":
        return _open(replace(launch, memory=memory), None)
    why = "the launcher was stopped" if launch.stop else "somebody has cancelled it"
    return _closed(memory), pace, [*said, Event(Say.ABORT, memory, job.ended, why), Leave()]


def _running(launch: Launch, job: Job, said: list[Action]) -> _Decision:
    memory, pace = launch.memory, launch.pace
    if job.waiting and not job.running:
        since = launch.now if pace.waiting_since is None else pace.waiting_since
        pace = replace(pace, waiting_since=since)
        if launch.now - since >= SLOT_PATIENCE:
            said.append(Note("its tasks get no slots: a TaskManager is missing, or there are more jobs than slots"))
    else:
        pace = replace(pace, waiting_since=None)
    if job.state == "RUNNING" and job.tasks and job.running == job.tasks:
        if pace.said_state != RUNS or launch.now >= pace.running:
            pace = replace(pace, said_state=RUNS, running=launch.now + INTERVAL)
            said.append(Event(Say.RUNNING, memory))
    elif pace.said_state == RUNS and job.state in RESTARTS:
        pace = replace(pace, said_state=job.state)
        said.append(Event(Say.OTHER, memory, None, "its tasks are restarted"))
    return memory, pace, said


def _leave(stop: bool) -> list[Action]:
    return [Leave()] if stop else []


def _closed(memory: Memory) -> Memory:
    """After the end of a run: what to begin the next one from is all that matters of it."""
    return replace(memory, phase=Phase.IDLE, job_id="", started=None, asked=False, restored="")
