# SPDX-License-Identifier: Apache-2.0
"""Why the job of a launcher does not run, as operators read it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from lineagelab_flink.lifecycle import RESTARTING_STATES, Action, ClusterView, Event, EventType, Warn

STABLE_SECONDS = 20.0
"""Seconds for which all tasks must run until an earlier problem is over: a job that keeps failing runs in between."""

_SUBMISSION = "cannot be submitted: "


@dataclass(frozen=True)
class JobProblem:
    """Problem of a job.

    Attributes:
        text: why the job does not run, a phrase for messages; empty for none.
        seen: time of a monotonic clock, in seconds, when it was last observed.
    """

    text: str = ""
    seen: float = 0.0

    def refused(self, error: object, now: float) -> "JobProblem":
        """Return the problem after a failed submission."""
        return JobProblem(f"{_SUBMISSION}{error}", now)

    def submitted(self) -> "JobProblem":
        """Return the problem after a successful submission, which does not end that of a job that keeps failing."""
        return JobProblem() if self.text.startswith(_SUBMISSION) else self

    def observed(
        self, view: ClusterView | None, actions: Sequence[Action], failures: int, failure: str, now: float
    ) -> "JobProblem":
        """Return the problem after a turn of the launcher.

        Args:
            view: jobs on the cluster; None where it does not respond.
            actions: actions of the turn.
            failures: consecutive failures of the job, with that of this turn.
            failure: cause of the last failure of a task; empty if it is not known.
            now: time of a monotonic clock.
        """
        job = view.own if view is not None else None
        cause = f": {failure}" if failure else ""
        if any(isinstance(action, Event) and action.what is EventType.FAIL for action in actions):
            times = f" {failures} times in a row" if failures > 1 else ""
            return JobProblem(f"has failed{times}{cause}", now)
        if job is not None and job.state in RESTARTING_STATES:
            return JobProblem(f"is restarted by Flink after a failure{cause}", now)
        warnings = [action.text for action in actions if isinstance(action, Warn) and action.is_problem]
        if warnings:
            return JobProblem(f"does not run: {warnings[-1]}", now)
        if job is None or not job.runs:
            return JobProblem(self.text, now) if self.text else self
        return self if now - self.seen < STABLE_SECONDS else JobProblem()
