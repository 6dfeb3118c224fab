# SPDX-License-Identifier: Apache-2.0
"""Tests of why a job does not run, as `lab status` shows it, over turns of a launcher."""

import pytest

from lineagelab_flink.job_problem import STABLE_SECONDS, JobProblem
from lineagelab_flink.lifecycle import NO_SLOTS, ClusterView, Event, EventType, Job, JobState, Warn

RUNNING = ClusterView(Job("job", 1000, "RUNNING", tasks=2, running=2))
STARTING = ClusterView(Job("job", 1000, "RUNNING", tasks=2))
RESTARTING = ClusterView(Job("job", 1000, "RESTARTING", tasks=2))
FAILED = ClusterView(Job("job", 1000, "FAILED", ended=2000, tasks=2))
FAIL = (Event(EventType.FAIL, JobState()), Warn("failed; resubmitting in 5 s"))
CAUSE = "NumberFormatException: w0"


def observe(problem, view, *, actions=(), failures=0, cause="", now=0.0):
    return problem.observed(view, actions, failures, cause, now)


def test_a_running_job_has_no_problem():
    assert observe(JobProblem(), RUNNING) == JobProblem()
    assert observe(JobProblem(), STARTING) == JobProblem()
    assert observe(JobProblem(), ClusterView()) == JobProblem()


@pytest.mark.parametrize(
    ("failures", "cause", "text"),
    [(1, CAUSE, f"has failed: {CAUSE}"), (3, "", "has failed 3 times in a row")],
)
def test_a_failed_job_has_its_cause(failures, cause, text):
    assert observe(JobProblem(), FAILED, actions=FAIL, failures=failures, cause=cause).text == text


@pytest.mark.parametrize(
    ("view", "actions", "text"),
    [
        (RESTARTING, (), f"is restarted by Flink after a failure: {CAUSE}"),
        (STARTING, (Warn(NO_SLOTS),), f"does not run: {NO_SLOTS}"),
        (None, (Warn("the cluster does not respond"),), "does not run: the cluster does not respond"),
        (STARTING, (Warn("adopting job x", is_problem=False),), ""),
    ],
)
def test_other_problems(view, actions, text):
    assert observe(JobProblem(), view, actions=actions, cause=CAUSE).text == text


def test_a_job_that_fails_again_and_again_keeps_its_problem_between_failures():
    problem = observe(JobProblem(), FAILED, actions=FAIL, failures=1, cause=CAUSE, now=10)
    problem = observe(problem.submitted(), ClusterView(), now=15)
    problem = observe(problem, STARTING, now=17)
    problem = observe(problem, RUNNING, now=17 + STABLE_SECONDS - 1)
    assert problem.text == f"has failed: {CAUSE}"
    assert observe(problem, RUNNING, now=17 + STABLE_SECONDS).text == ""


def test_a_submission_that_succeeds_ends_the_problem_of_one_that_failed():
    problem = JobProblem().refused("job.sql, line 3: no such table", 0)
    assert problem.text == "cannot be submitted: job.sql, line 3: no such table"
    assert observe(problem, ClusterView(), now=5).text == problem.text
    assert problem.submitted() == JobProblem()
