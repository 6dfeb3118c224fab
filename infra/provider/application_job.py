# SPDX-License-Identifier: Apache-2.0
"""Flink jobs on clusters of their own, as the kind `FlinkJob` observes them: by the notes of their launchers."""

from infra.errors import LabError
from infra.model.resources import RUNNING, FlinkJob
from infra.provider.kind import POLL_SECONDS, OperationContext
from infra.provider.notes import launched_job_state, launcher_problem

START_SECONDS = 420
"""Time limit for all tasks to run: two JVMs start for the job, on a busy machine."""

MIN_RUNNING_SECONDS = 2
"""Time that a job must run to count as started: some fail at the first record."""

PROBLEM_SECONDS = 30
"""Time for which problems are tolerated: the services that a job needs may still be starting."""

FORMER_PROBLEM_SECONDS = 90
"""Time for which a problem of an earlier attempt is: the launcher waits up to 60 s before it starts the job again."""

RECOVERY_TIMEOUT_SECONDS = 60
"""Time limit of a refresh for the launcher to start a failed or lost job again."""

ENDED_BY_USERS = frozenset({"CANCELED", "FINISHED"})
"""States of a job that its launcher does not start again."""


def await_running(inputs: FlinkJob, call: OperationContext) -> None:
    """Wait until all tasks of a job have run for `MIN_RUNNING_SECONDS`.

    Raises:
        LabError: the job does not start, with the cause, or not in time.
    """
    running_polls, reported = 0, ""
    # Notes of an earlier launch stay until the launcher has started.
    former, former_state = launcher_problem(inputs.notes), launched_job_state(inputs.notes)
    for turn, _ in enumerate(call.poll(START_SECONDS)):
        state, waited = launched_job_state(inputs.notes), turn * POLL_SECONDS
        shown = state.lower() or "its launcher starts its cluster"
        if shown != reported:
            call.report(reported := shown)
        running_polls = running_polls + 1 if state == RUNNING else 0
        if running_polls * POLL_SECONDS >= MIN_RUNNING_SECONDS:
            return
        problem = launcher_problem(inputs.notes)
        if problem and waited >= (FORMER_PROBLEM_SECONDS if problem == former else PROBLEM_SECONDS):
            raise LabError(f"Flink job {inputs.name} {problem}\n{_log_hint(inputs)}")
        if state in ENDED_BY_USERS and (state != former_state or waited >= PROBLEM_SECONDS):
            raise LabError(f"Flink job {inputs.name} ended after its start: {state}\n{_log_hint(inputs)}")
    raise LabError(f"Flink job {inputs.name} was not running after {START_SECONDS} s: {reported}\n{_log_hint(inputs)}")


def settled_state(inputs: FlinkJob, call: OperationContext) -> str:
    """Return the state of a job once it runs or was ended by a user; else the one after the timeout."""
    state = ""
    for _ in call.poll(RECOVERY_TIMEOUT_SECONDS):
        state = launched_job_state(inputs.notes)
        if state == RUNNING or state in ENDED_BY_USERS:
            break
    return state or "STARTING"


def _log_hint(inputs: FlinkJob) -> str:
    return f"See: bin/lab logs {inputs.launcher}"
