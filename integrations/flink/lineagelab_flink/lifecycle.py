# SPDX-License-Identifier: Apache-2.0
"""State machine of a launcher: derives actions from its state, the cluster's state and the time. Pure.

A job's id is chosen and stored before the job is submitted: a launcher that is killed in between submits the same id
again, which Flink accepts once. A session cluster loses its jobs when it dies; a lost job is detected by its id.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from lineagelab_common.heartbeat import DEFAULT_SECONDS
from lineagelab_flink.checkpoints import is_checkpoint

FIRST_BACKOFF, MAX_BACKOFF = 5.0, 60.0
"""Seconds before a failed job is submitted again: doubled after each failure."""

FAILURE_RESET = 120.0
"""Seconds of normal operation after which the backoff is reset."""

SLOT_TIMEOUT = 15.0
"""Seconds that tasks may wait for slots before a warning."""

NO_SLOTS = (
    "its tasks get no slots: no TaskManager is running, or the jobs need more slots than it has; stop a job, or add "
    "slots (taskmanager.numberOfTaskSlots; lineage-lab:flinkSlots in a lab)"
)

LINEAGE_TIMEOUT = 60.0
"""Seconds after which the start of a run is reported although its lineage is not known yet."""

STOP_TIMEOUT = 20.0
"""Seconds for which stopping a job is retried while the cluster does not respond."""

FINAL_STATES = frozenset({"FINISHED", "FAILED", "CANCELED", "SUSPENDED"})
RESTART_STATES = frozenset({"RUNNING", "RESTARTING", "FAILING"})
"""States of a job whose tasks ran and no longer do. RUNNING is one: RESTARTING may be too short to be observed."""

RESTARTING_STATES = frozenset({"RESTARTING", "FAILING"})
"""States of a job that Flink restarts after a failure of its tasks."""

ALL_RUNNING = "all tasks run"
STARTING = "STARTING"


class Phase(StrEnum):
    """Progress of the launcher with its job; the names are stored."""

    IDLE = "no job"
    SUBMITTED = "submitted, not yet observed"
    OPEN = "running when last observed; its lineage run is open"


class EventType(StrEnum):
    """OpenLineage's types of run events."""

    START = "START"
    RUNNING = "RUNNING"
    OTHER = "OTHER"
    COMPLETE = "COMPLETE"
    FAIL = "FAIL"
    ABORT = "ABORT"


@dataclass(frozen=True)
class Job:
    """State of a job on the cluster.

    Attributes:
        started, ended: milliseconds since 1970; `ended` is None while the job runs.
        state: Flink's `JobStatus`.
        tasks: number of tasks; `running` of them run, `waiting` of them have no slot yet.
        cause: why it failed, where the cluster can no longer say it.
    """

    job_id: str
    started: int
    state: str
    ended: int | None = None
    tasks: int = 0
    running: int = 0
    waiting: int = 0
    cause: str = ""

    @property
    def is_over(self) -> bool:
        return self.state in FINAL_STATES

    @property
    def runs(self) -> bool:
        """True if all its tasks run."""
        return self.state == "RUNNING" and self.tasks > 0 and self.running == self.tasks


@dataclass(frozen=True)
class ClusterView:
    """Jobs of one name on the cluster.

    Attributes:
        own: the job whose id the launcher has stored.
        other: another active job of that name.
        mark: definition with which a launcher submitted the other job; empty for a foreign job.
    """

    own: Job | None = None
    other: Job | None = None
    mark: str = ""


@dataclass(frozen=True, kw_only=True)
class JobState:
    """Stored state of the job. Field names are those of the state file.

    Attributes:
        definition: identity of the definition with which the job was submitted.
        started: start of the job in milliseconds since 1970, once observed.
        start_due: the start of its run was not reported yet.
        restore: newest known checkpoint or savepoint.
        restored: checkpoint or savepoint from which the current job started.
        asked: this launcher has requested the job to stop.
        stopped: a stop with a savepoint, of any client, has ended the job; without one, FINISHED is its own end.
        previous: id of the last job, if it may have newer checkpoints than `restore`.
        failures: consecutive failures.
    """

    phase: Phase = Phase.IDLE
    job_id: str = ""
    definition: str = ""
    started: int | None = None
    start_due: bool = False
    restore: str = ""
    restored: str = ""
    asked: bool = False
    stopped: bool = False
    previous: str = ""
    failures: int = 0


@dataclass(frozen=True)
class Timers:
    """Due times in seconds of a monotonic clock; not stored."""

    submit: float = 0.0
    running: float = 0.0
    away_since: float | None = None
    waiting_since: float | None = None
    start_since: float | None = None
    reported_state: str = ""


@dataclass(frozen=True)
class Event:
    """Report an event of the job's run. `at` is in milliseconds since 1970, None for now."""

    what: EventType
    of: JobState
    at: int | None = None
    why: str = ""


@dataclass(frozen=True)
class Submit:
    """Submit the job as stored. `again`: an earlier submission of this id may have succeeded without being observed."""

    again: bool = False


@dataclass(frozen=True)
class Stop:
    """Stop the job with a savepoint; cancel it if that is impossible."""


@dataclass(frozen=True)
class Exit:
    """End the launcher; `failed` decides its exit code."""

    failed: bool = False


@dataclass(frozen=True)
class Warn:
    """Log a warning, once while it recurs.

    Attributes:
        text: the warning.
        is_problem: it says why the job does not run.
    """

    text: str
    is_problem: bool = True


Action = Event | Submit | Stop | Warn | Exit


@dataclass(frozen=True, kw_only=True)
class Situation:
    """Input of a step.

    Attributes:
        definition, new_id: for the next job.
        once: a failed job is not resubmitted.
        awaits_lineage: the job's lineage is being derived, so that the start of its run is better reported later.
        gone: nothing listens at the cluster's address; a cluster that only does not respond may be frozen.
        heartbeat: seconds between two RUNNING events.
    """

    memory: JobState
    timers: Timers
    definition: str
    stop: bool
    now: float
    new_id: str
    once: bool = False
    awaits_lineage: bool = False
    gone: bool = False
    heartbeat: float = DEFAULT_SECONDS


_Decision = tuple[JobState, Timers, list[Action]]


def step(situation: Situation, view: ClusterView | None) -> _Decision:
    """Return the next state and the actions, in order. Events must be stored before the state is.

    Args:
        situation: of the launcher.
        view: jobs on the cluster; None where it does not respond.
    """
    if view is None:
        return _cluster_unavailable(situation)
    situation = replace(situation, timers=replace(situation.timers, away_since=None))
    if situation.memory.phase is Phase.IDLE:
        return _idle(situation, view)
    if situation.memory.phase is Phase.SUBMITTED:
        return _submitted(situation, view)
    return _open(situation, view.own)


def reported_state(view: ClusterView | None) -> str:
    """Return the state of the launcher's job, `STARTING` while not all its tasks run; empty for no known job."""
    job = view.own if view is not None else None
    if job is None:
        return ""
    return STARTING if job.state == "RUNNING" and not job.runs else job.state


def refused(situation: Situation) -> tuple[JobState, Timers]:
    """Return the state after a failed submission, which is retried with the same id and backoff."""
    failures = situation.memory.failures + 1
    return replace(situation.memory, failures=failures), replace(
        situation.timers, submit=situation.now + backoff(failures)
    )


def backoff(failures: int) -> float:
    """Return the seconds until the next submission."""
    return float(min(MAX_BACKOFF, FIRST_BACKOFF * 2 ** max(0, failures - 1)))


def _cluster_unavailable(situation: Situation) -> _Decision:
    memory, timers = situation.memory, situation.timers
    since = situation.now if timers.away_since is None else timers.away_since
    timers = replace(timers, away_since=since)
    if not situation.stop:
        return memory, timers, [Warn("the cluster does not respond; retrying")]
    if memory.phase is not Phase.OPEN:
        return memory, timers, [Exit()]
    if situation.now - since < STOP_TIMEOUT:
        return memory, timers, []
    if not situation.gone:
        # The job may still run: the next launch observes what became of it, and ends the run if it is lost.
        return memory, timers, [Warn("the cluster does not respond; the job was not stopped"), Exit()]
    # A session cluster that is down has lost its jobs.
    memory, actions = _start(memory)
    lost = Event(EventType.ABORT, memory, None, "the cluster did not respond when the job was to be stopped")
    return _closed(memory), timers, [*actions, lost, Exit()]


def _idle(situation: Situation, view: ClusterView) -> _Decision:
    memory, timers = situation.memory, situation.timers
    if situation.stop:
        return memory, timers, [Exit()]
    if view.other is not None and view.mark:
        taken = JobState(phase=Phase.OPEN, job_id=view.other.job_id, definition=view.mark, restore=memory.restore)
        return taken, timers, [Warn(f"adopting job {view.other.job_id}, which is already running", is_problem=False)]
    if view.other is not None:
        text = (
            f"foreign job {view.other.job_id} has this name: cancel it in Flink's UI or rename the file; "
            "nothing is submitted until then"
        )
        return memory, timers, [Warn(text)]
    if situation.now < timers.submit:
        return memory, timers, []
    submitted = replace(
        memory,
        phase=Phase.SUBMITTED,
        job_id=situation.new_id,
        definition=situation.definition,
        started=None,
        restored=memory.restore,
        asked=False,
    )
    return submitted, timers, [Submit()]


def _submitted(situation: Situation, view: ClusterView) -> _Decision:
    memory, timers = situation.memory, situation.timers
    if view.own is not None:
        return _open(replace(situation, memory=replace(memory, phase=Phase.OPEN)), view.own)
    if situation.stop:
        return memory, timers, [Exit()]  # the submission may still be under way: the next launch looks for the job
    if situation.now < timers.submit:
        return memory, timers, []
    return replace(memory, definition=situation.definition), timers, [Submit(again=True)]


def _open(situation: Situation, job: Job | None) -> _Decision:
    memory, timers = situation.memory, situation.timers
    if job is None:
        memory, actions = _start(memory)
        lost = Event(EventType.ABORT, memory, None, "the cluster lost the job")
        return (
            _closed(memory),
            replace(timers, reported_state="", submit=situation.now),
            [*actions, lost, *_exit_if(situation.stop)],
        )
    if memory.started is None:
        memory, timers = replace(memory, started=job.started, start_due=True), replace(timers, start_since=None)
    if memory.start_due and situation.awaits_lineage and not situation.stop:
        since = situation.now if timers.start_since is None else timers.start_since
        if situation.now - since < LINEAGE_TIMEOUT:
            timers = replace(timers, start_since=since)
            waiting = replace(situation, memory=memory, timers=timers)
            return (memory, timers, []) if job.is_over else _running(waiting, job, [])
    memory, actions = _start(memory)
    situation = replace(situation, memory=memory, timers=timers)
    if job.is_over:
        return _ended(situation, job, actions)
    if situation.stop or memory.definition != situation.definition:
        if not memory.asked:
            actions.append(Stop())
        return replace(memory, asked=True), timers, actions
    return _running(situation, job, actions)


def _ended(situation: Situation, job: Job, actions: list[Action]) -> _Decision:
    memory, timers = situation.memory, replace(situation.timers, reported_state="", waiting_since=None)
    if job.state == "FINISHED" and not memory.stopped:
        return (
            replace(_closed(memory), restore="", previous=""),
            timers,
            [*actions, Event(EventType.COMPLETE, memory, job.ended), Exit()],
        )
    if job.state == "FAILED":
        ran = ((job.ended or job.started) - job.started) / 1000
        failures = 1 if ran > FAILURE_RESET else memory.failures + 1
        after = replace(_closed(memory), failures=failures)
        again = Warn(f"failed; resubmitting in {backoff(failures):.0f} s")
        next_step: Action = Exit(failed=situation.once) if situation.stop or situation.once else again
        timers = replace(timers, submit=situation.now + backoff(failures))
        return after, timers, [*actions, Event(EventType.FAIL, memory, job.ended, job.cause), next_step]
    if memory.asked and not situation.stop:
        return (
            _closed(memory),
            timers,
            [*actions, Event(EventType.ABORT, memory, job.ended, "replaced by another definition")],
        )
    if job.state == "SUSPENDED":
        return _open(replace(situation, memory=memory), None)
    others = "stopped by another client" if memory.stopped else "cancelled by another client"
    why = "the launcher was stopped" if situation.stop else others
    return _closed(memory), timers, [*actions, Event(EventType.ABORT, memory, job.ended, why), Exit()]


def _running(situation: Situation, job: Job, actions: list[Action]) -> _Decision:
    memory, timers = situation.memory, situation.timers
    if job.waiting and not job.running:
        since = situation.now if timers.waiting_since is None else timers.waiting_since
        timers = replace(timers, waiting_since=since)
        if situation.now - since >= SLOT_TIMEOUT:
            actions.append(Warn(NO_SLOTS))
    else:
        timers = replace(timers, waiting_since=None)
    if memory.start_due:
        return memory, timers, actions
    if job.runs:
        if timers.reported_state != ALL_RUNNING or situation.now >= timers.running:
            timers = replace(timers, reported_state=ALL_RUNNING, running=situation.now + situation.heartbeat)
            actions.append(Event(EventType.RUNNING, memory))
    elif timers.reported_state == ALL_RUNNING and job.state in RESTART_STATES:
        timers = replace(timers, reported_state=job.state)
        actions.append(Event(EventType.OTHER, memory, None, "tasks restarted"))
    return memory, timers, actions


def _start(memory: JobState) -> tuple[JobState, list[Action]]:
    """Return the state after the start of the run was reported, and the report if it is due."""
    if not memory.start_due:
        return memory, []
    memory = replace(memory, start_due=False)
    return memory, [Event(EventType.START, memory, memory.started)]


def _exit_if(stop: bool) -> list[Action]:
    return [Exit()] if stop else []


def _closed(memory: JobState) -> JobState:
    """Return the state after the end of a run, which keeps the checkpoint to restore."""
    has_savepoint = memory.stopped or (memory.restore != memory.restored and not is_checkpoint(memory.restore))
    return replace(
        memory,
        phase=Phase.IDLE,
        job_id="",
        started=None,
        start_due=False,
        asked=False,
        restored="",
        stopped=False,
        previous="" if has_savepoint else memory.job_id,
    )
