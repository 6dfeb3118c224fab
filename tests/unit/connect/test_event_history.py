# SPDX-License-Identifier: Apache-2.0
"""Checks of the Connect tests' event history: duplicates, order and life cycles are visible in its violations."""

import pytest

from tests.connect import event_history
from tests.connect.event_history import EventHistory

RUN = "01a0c450-6c00-70e6-9c58-d15b5977f24a"
OTHER_RUN = "01a0c450-6c01-70e6-9c58-d15b5977f24a"


@pytest.fixture(autouse=True)
def without_schemas(monkeypatch):
    """Skip validation by schema, which these minimal events do not pass."""
    monkeypatch.setattr(event_history, "conformance_errors", lambda event: [])


def event(kind, second, run=RUN, job="orders", state="RUNNING"):
    return {
        "eventType": kind,
        "eventTime": f"2026-01-01T00:00:{second:02}.000Z",
        "run": {"runId": run, "facets": {"lineagelab_connect": {"state": state}}},
        "job": {"namespace": "lab", "name": job},
        "inputs": [],
        "outputs": [],
    }


START, RUNNING, ABORT = event("START", 1), event("RUNNING", 2), event("ABORT", 3)


def history(*events):
    return EventHistory.of("orders", events)


def test_valid_history_has_no_violations():
    found = history(START, event("START", 1, job="bids"), RUNNING, ABORT, event("START", 4, OTHER_RUN))
    assert found.violations() == []
    assert found.transitions() == ["1 START", "1 ABORT", "2 START"]


def test_transitions_include_the_state_of_other_events():
    assert history(START, event("OTHER", 2, state="PAUSED")).transitions() == ["1 START", "1 OTHER PAUSED"]


def test_duplicates_are_violations():
    found = history(START, START, RUNNING)
    assert found.arrived == (START, START, RUNNING)
    assert found.violations() == ["START at 2026-01-01T00:00:01.000Z arrived 2 times"]
    assert found.violations(exactly_once=False) == []


def test_arrival_out_of_order_is_a_violation():
    found = history(START, ABORT, RUNNING)
    assert found.violations() == ["RUNNING at 2026-01-01T00:00:02.000Z arrived after ABORT at 2026-01-01T00:00:03.000Z"]
    assert found.violations(exactly_once=False) == []
    assert found.last == ABORT


def test_two_events_of_one_time_are_a_violation():
    assert len(history(START, event("RUNNING", 1)).violations()) == 1


@pytest.mark.parametrize(
    ("events", "violation"),
    [
        ((START, ABORT, event("FAIL", 4)), "run 1 ends 2 times: ['START', 'ABORT', 'FAIL']"),
        ((START, ABORT, event("RUNNING", 4)), "run 1 has events after its end: ['START', 'ABORT', 'RUNNING']"),
        ((START, event("START", 4)), "run 1 starts 2 times: ['START', 'START']"),
        ((RUNNING, ABORT), "run 1 does not begin with START: ['RUNNING', 'ABORT']"),
    ],
)
def test_invalid_life_cycles_are_violations(events, violation):
    assert history(*events).violations() == [violation]


def test_missing_datasets_are_a_violation():
    incomplete = {key: value for key, value in START.items() if key != "outputs"}
    assert history(incomplete).violations() == ["START at 2026-01-01T00:00:01.000Z: no outputs"]
