# SPDX-License-Identifier: Apache-2.0
"""Run states derived from sets of events, independent of their order."""

import itertools

import pytest
from lineage_events import NAMESPACE, at, event, run_id

from lineage.events import JobId
from lineage.events.timestamps import parse_time
from lineage.graph import SETTLED, LineageRecords, RunState, fold_events, is_stale, run_outcome


def outcome(lineage, run=1, job="job", now=SETTLED):
    return run_outcome(lineage, lineage.run(run_id(run), JobId(NAMESPACE, job)), now)


@pytest.mark.parametrize(
    ("types", "state", "ended"),
    [
        (["OTHER"], "NEW", None),
        ([None], "NEW", None),
        (["START"], "RUNNING", None),
        (["RUNNING"], "RUNNING", None),
        (["OTHER", "START"], "RUNNING", None),
        (["START", "COMPLETE"], "COMPLETED", 1),
        (["START", "ABORT"], "ABORTED", 1),
        (["START", "FAIL"], "FAILED", 1),
        (["COMPLETE"], "COMPLETED", 0),
        # Terminal states override others, whatever the times.
        (["COMPLETE", "START"], "COMPLETED", 0),
        (["START", "ABORT", "RUNNING"], "ABORTED", 1),
        (["START", "COMPLETE", "OTHER"], "COMPLETED", 1),
        # Precedence of terminal states: FAIL > ABORT > COMPLETE, as Spark sends COMPLETE after FAIL.
        (["START", "FAIL", "COMPLETE"], "FAILED", 1),
        (["START", "COMPLETE", "FAIL"], "FAILED", 2),
        (["START", "ABORT", "COMPLETE"], "ABORTED", 1),
        (["START", "COMPLETE", "ABORT"], "ABORTED", 2),
        (["START", "FAIL", "ABORT"], "FAILED", 1),
        # Of two equal states the later.
        (["START", "FAIL", "FAIL"], "FAILED", 2),
    ],
)
def test_run_state_by_events(types, state, ended):
    events = [event(event_type, second) for second, event_type in enumerate(types)]
    for arrival in itertools.permutations(events):
        lineage = LineageRecords()
        for item in (*arrival, *arrival):
            lineage.apply(item)
        found = outcome(lineage)
        assert found.state == state
        assert found.ended == (None if ended is None else parse_time(at(ended)))
        assert found.closed_because is None


def test_new_start_of_a_streaming_job_closes_the_older_open_run():
    lineage = fold_events([event("START", 0, streaming=True), event("START", 5, run=2, streaming=True)])
    assert outcome(lineage, 1) == (RunState.ABORTED, parse_time(at(5)), "the job started again")
    assert outcome(lineage, 2).state == RunState.RUNNING


def test_new_start_closes_a_run_without_start():
    lineage = fold_events([event("RUNNING", 0, streaming=True), event("START", 5, run=2, streaming=True)])
    assert outcome(lineage, 1).state == RunState.ABORTED


def test_restart_keeps_the_terminal_state_of_the_emitter():
    events = [
        event("START", 0, streaming=True),
        event("START", 5, run=2, streaming=True),
        event("COMPLETE", 9, streaming=True),
    ]
    for arrival in itertools.permutations(events):
        assert outcome(fold_events(arrival), 1) == (RunState.COMPLETED, parse_time(at(9)), None)


def test_latest_started_run_stays_open():
    starts = [event("START", second, run=run, streaming=True) for second, run in ((0, 1), (1, 2), (2, 1))]
    lineage = fold_events(starts)
    assert outcome(lineage, 1).state == RunState.RUNNING
    assert outcome(lineage, 2).state == RunState.ABORTED


def test_batch_runs_may_overlap():
    lineage = fold_events([event("START", 0), event("START", 5, run=2)])
    assert outcome(lineage, 1).state == outcome(lineage, 2).state == RunState.RUNNING


def test_other_jobs_close_no_run():
    lineage = fold_events([event("START", 0, streaming=True), event("START", 5, run=2, job="b", streaming=True)])
    assert outcome(lineage, 1).state == RunState.RUNNING


@pytest.mark.parametrize("end", ["COMPLETE", "FAIL", "ABORT"])
def test_end_of_an_application_closes_its_open_children(end):
    events = [
        event("START", 0, job="app"),
        event("START", 1, run=2, job="app.action", parent=(1, "app")),
        event("START", 2, run=3, job="app.action.part", parent=(2, "app.action")),
        event("START", 2, run=4, job="app.other", parent=(1, "app")),
        event("COMPLETE", 3, run=4, job="app.other", parent=(1, "app")),
        event(end, 9, job="app"),
    ]
    for arrival in (events, events[::-1]):
        lineage = fold_events(arrival)
        ended = parse_time(at(9))
        assert outcome(lineage, 2, "app.action") == (RunState.ABORTED, ended, "its parent app ended")
        assert outcome(lineage, 3, "app.action.part")[:2] == (RunState.ABORTED, ended)
        assert outcome(lineage, 4, "app.other") == (RunState.COMPLETED, parse_time(at(3)), None)


def test_children_of_a_running_or_unknown_application_stay_open():
    events = [event("START", 0, job="app"), event("START", 1, run=2, job="c", parent=(1, "app"))]
    assert outcome(fold_events(events), 2, "c").state == RunState.RUNNING
    assert outcome(fold_events(events[1:]), 2, "c").state == RunState.RUNNING


def test_cyclic_parents_terminate():
    events = [event("START", 0, job="a", parent=(2, "b")), event("START", 0, run=2, job="b", parent=(1, "a"))]
    assert outcome(fold_events(events), 1, "a").state == RunState.RUNNING


@pytest.mark.parametrize(
    ("options", "silence", "stale"),
    [
        ({"streaming": True}, 90, False),
        ({"streaming": True}, 91, True),
        ({}, 3_000, False),
        (
            {"job_facets": {"jobType": {"processingType": "STREAMING", "emissionPattern": {"windowDuration": 5}}}},
            16,
            True,
        ),
    ],
)
def test_silent_streaming_run_is_stale(options, silence, stale):
    lineage = fold_events([event("START", 0, **options)])
    run = lineage.run(run_id(1))
    assert is_stale(lineage, run, parse_time(at(silence))) is stale


def test_ended_run_is_never_stale():
    lineage = fold_events([event("START", 0, streaming=True), event("COMPLETE", 1, streaming=True)])
    assert not is_stale(lineage, lineage.run(run_id(1)), parse_time(at(3_000)))
