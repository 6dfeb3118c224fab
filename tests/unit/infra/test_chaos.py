# SPDX-License-Identifier: Apache-2.0
"""Faults and reports of chaos runs."""

import itertools
import json

import pytest

from tests.chaos.checks import Check, runs_check
from tests.chaos.faults import MAX_FREEZE_SECONDS, MAX_OUTAGE_SECONDS, MAX_PAUSE_SECONDS, TARGETS, Fault, Kind, faults
from tests.chaos.report import Injected, Run, as_html, as_json, as_lines

KILL = Fault(1.5, Kind.KILL, "kafka")
HOSTILE = "<script>alert(1)</script>"


def first(seed, count=500, without=frozenset()):
    return list(itertools.islice(faults(seed, without), count))


def run(**changes):
    values = {
        "seed": 3,
        "minutes": 10.0,
        "started": "2026-01-01T00:00:00+00:00",
        "injected": (Injected(1.5, KILL, "SIGKILL to process 7"),),
        "checks": (Check("each row is once in the lake", {"rows": 5}),),
    }
    return Run(**{**values, **changes})


def test_faults_depend_only_on_the_seed():
    assert first(1) == first(1)
    assert first(1) != first(2)


def test_faults_hit_each_target_with_each_kind():
    hit = {(fault.kind, fault.target) for fault in first(1, 5000)}
    assert hit == {(kind, target) for kind, targets in TARGETS.items() for target in targets}


def test_faults_stay_within_their_limits():
    for fault in first(4):
        assert 0 <= fault.pause <= MAX_PAUSE_SECONDS
        assert 0 <= fault.seconds <= max(MAX_FREEZE_SECONDS, MAX_OUTAGE_SECONDS)
        assert bool(fault.seconds) == (fault.kind in {Kind.FREEZE, Kind.OUTAGE, Kind.DISK_FULL, Kind.CLOCK_STEP})


def test_kinds_that_cannot_be_injected_leave_the_others_at_their_places():
    left_out = frozenset({Kind.DISK_FULL, Kind.CLOCK_STEP})
    assert first(1, 300, left_out) == [fault for fault in first(1, 400) if fault.kind not in left_out][:300]


def test_report_lists_faults_and_checks():
    document = as_json(run())
    assert json.loads(json.dumps(document)) == document
    assert document["passed"] is True
    assert document["faults"] == [
        {"at": 1.5, "kind": "kill", "target": "kafka", "seconds": 0.0, "done": "SIGKILL to process 7"}
    ]
    assert "passed  each row is once in the lake (5 rows)" in as_lines(run())
    assert "kill kafka" in as_html(run())


@pytest.mark.parametrize(
    "failed",
    [
        {"checks": (Check("each row is once in the lake", {}, ("3 rows missing",)),)},
        {"checks": ()},
        {"error": "ended early: kafka: new process: timed out after 180 s"},
    ],
)
def test_run_with_a_failed_check_without_checks_or_with_an_error_fails(failed):
    assert not run(**failed).passed
    assert "failed" in as_html(run(**failed))


def test_page_escapes_what_services_reported():
    page = as_html(run(checks=(Check(HOSTILE, {HOSTILE: 1}, (HOSTILE,)),), restarted=(HOSTILE,), error=HOSTILE))
    assert HOSTILE not in page


@pytest.mark.parametrize(
    ("state", "ends", "difference"),
    [
        ("ABORTED", set(), "terminal events: none"),
        ("FAILED", {"ABORT", "FAIL"}, "terminal events: ABORT, FAIL"),
        ("RUNNING", {"ABORT"}, "is open after ABORT"),
        ("ABORTED", {"ABORT"}, None),
        ("RUNNING", set(), None),
    ],
)
def test_each_ended_run_needs_one_kind_of_terminal_event(state, ends, difference):
    check = runs_check([{"id": "r1", "state": state, "jobName": "etl"}], {"r1": ends} if ends else {})
    assert [difference in text for text in check.differences] == ([True] if difference else [])


def test_two_open_runs_of_a_job_are_reported():
    runs = [{"id": name, "state": "RUNNING", "jobName": "etl"} for name in ("r1", "r2")]
    assert runs_check(runs, {}).differences == ("etl has 2 open runs",)
