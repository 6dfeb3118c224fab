# SPDX-License-Identifier: Apache-2.0
"""Which messages go out because of which events: ends of runs, and streams that stay right in any order."""

import asyncio
import json
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lineage_events import dataset, event, run_id, schema
from lineage_recorder import TERMINAL, assert_sound

from lineage.events import Event
from lineage.forward.outgoing import OutgoingEvents
from lineage.forward.run_ends import OpenChildren, closed_by, end_of
from lineage.graph import Graph, LineageRecords, fold_events, run_outcome
from lineage.store import EventLog


def stream(arrival: list[Event], live: bool):
    """The messages of events that arrived so: sent at once (`live`), or after all of them are known."""

    async def run(directory):
        log = EventLog(directory)
        lineage = LineageRecords()
        messages = OutgoingEvents(SimpleNamespace(lineage=lineage, graph=Graph(lineage)), log)
        if not live:
            log.append(arrival)
            for one in arrival:
                lineage.apply(one)
        await messages.load()
        sent = []
        for one in arrival:
            if live and not log.append([one])[0]:
                continue
            number = log.number(one.order.hash)
            closes = await messages.closes(one, number)
            ends = [await messages.closing(closing) for closing in closes]
            own = await messages.completed(one, number)
            messages.sent(one)
            sent += [*ends, own] if one.event_type == "START" else [own, *ends]
        log.close()
        return [json.loads(message) for message in sent if message is not None]

    with tempfile.TemporaryDirectory() as directory:
        return asyncio.run(run(Path(directory)))


def short(sent):
    """(run, type) of each message; `!` marks what the service says itself."""
    return [
        (int(m["run"]["runId"][-3:]), ("!" if "lineageLab_closed" in m["run"]["facets"] else "") + m["eventType"])
        for m in sent
    ]


BOTH = pytest.mark.parametrize("live", [True, False], ids=["live", "later"])


@BOTH
@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (["START", "RUNNING", "COMPLETE"], ["START", "RUNNING", "COMPLETE"]),
        (["COMPLETE", "START"], ["COMPLETE", "COMPLETE"]),
        (["START", "ABORT", "RUNNING", "OTHER"], ["START", "ABORT", "ABORT", "ABORT"]),
        (["START", "FAIL", "COMPLETE"], ["START", "FAIL", "FAIL"]),
        (["START", None], ["START", "OTHER"]),
    ],
)
def test_a_run_in_order_of_arrival(types, expected, live):
    made = [event(event_type, second) for second, event_type in enumerate(types)]
    assert [event_type for _, event_type in short(stream(made, live))] == expected


def test_a_stronger_end_that_follows_is_sent_when_it_comes():
    made = [event(t, second) for second, t in enumerate(["START", "COMPLETE", "RUNNING", "FAIL", "OTHER"])]
    assert [t for _, t in short(stream(made, live=True))] == ["START", "COMPLETE", "COMPLETE", "FAIL", "FAIL"]
    assert [t for _, t in short(stream(made, live=False))] == ["START", "FAIL", "FAIL", "FAIL", "FAIL"]


@BOTH
def test_a_run_that_a_new_start_closes_is_aborted_before_that_start(live):
    made = [
        event("START", 0, streaming=True),
        event("RUNNING", 1, streaming=True),
        event("START", 5, run=2, streaming=True),
        event("RUNNING", 2, streaming=True),
        event("START", 9, run=3, streaming=True),
    ]
    assert short(stream(made, live)) == [
        (1, "START"),
        (1, "RUNNING"),
        (1, "!ABORT"),
        (2, "START"),
        (1, "ABORT"),
        (2, "!ABORT"),
        (3, "START"),
    ]


@BOTH
def test_runs_without_a_start_of_their_own_are_closed_too_and_each_once(live):
    made = [
        event("RUNNING", 0, streaming=True),
        event("RUNNING", 1, run=2, streaming=True),
        event("START", 5, run=3, streaming=True),
        event("START", 6, run=3, streaming=True),
    ]
    assert short(stream(made, live)) == [
        (1, "RUNNING"),
        (2, "RUNNING"),
        (1, "!ABORT"),
        (2, "!ABORT"),
        (3, "START"),
        (3, "START"),
    ]


def test_the_emitters_own_end_stands_over_the_services():
    made = [event("START", 0, streaming=True), event("START", 5, run=2, streaming=True), event("COMPLETE", 9)]
    assert short(stream(made, live=True)) == [(1, "START"), (1, "!ABORT"), (2, "START"), (1, "COMPLETE")]
    assert short(stream(made, live=False)) == [(1, "START"), (2, "START"), (1, "COMPLETE")]


@BOTH
@pytest.mark.parametrize("end", ["COMPLETE", "FAIL", "ABORT"])
def test_the_end_of_a_parent_is_followed_by_that_of_its_open_children_and_theirs(live, end):
    made = [
        event("START", 0, job="app"),
        event("START", 1, run=2, job="app.a", parent=(1, "app")),
        event("START", 2, run=3, job="app.a.part", parent=(2, "app.a")),
        event("START", 2, run=4, job="app.b", parent=(1, "app")),
        event("COMPLETE", 3, run=4, job="app.b", parent=(1, "app")),
        event(end, 9, job="app"),
        event("RUNNING", 4, run=2, job="app.a", parent=(1, "app")),
    ]
    sent = short(stream(made, live))
    assert sent == [
        (1, "START"),
        (2, "START"),
        (3, "START"),
        (4, "START"),
        (4, "COMPLETE"),
        (1, end),
        (2, "!ABORT"),
        (3, "!ABORT"),
        (2, "ABORT"),
    ]


@BOTH
def test_the_restart_of_a_streaming_parent_closes_the_children_of_its_last_run(live):
    made = [
        event("START", 0, streaming=True),
        event("START", 1, run=2, job="child", parent=(1, "job")),
        event("START", 5, run=3, streaming=True),
    ]
    assert short(stream(made, live)) == [(1, "START"), (2, "START"), (1, "!ABORT"), (2, "!ABORT"), (3, "START")]


def test_a_run_that_starts_again_after_another_is_open_again():
    starts = [event("START", second, run=run, streaming=True) for second, run in ((0, 1), (1, 2), (2, 1))]
    assert short(stream(starts, live=True)) == [(1, "START"), (1, "!ABORT"), (2, "START"), (2, "!ABORT"), (1, "START")]


TYPES = st.sampled_from(["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER", None])


@st.composite
def runs(draw):
    """The events of one run, each naming parts of what the run reads and writes."""
    made = []
    for second, event_type in enumerate(draw(st.lists(TYPES, min_size=1, max_size=6))):
        inputs = [dataset(name, schema=schema("x")) for name in draw(st.sets(st.sampled_from("ab")))]
        outputs = [dataset(name, schema=schema("x")) for name in draw(st.sets(st.sampled_from("cd")))]
        made.append(event(event_type, second, inputs=inputs, outputs=outputs, streaming=draw(st.booleans())))
    return made


@settings(max_examples=60, deadline=None)
@given(data=st.data(), live=st.booleans())
def test_in_any_order_nothing_open_follows_an_end_and_the_last_message_has_all(data, live):
    made = data.draw(runs())
    arrival = data.draw(st.permutations(made))
    sent = stream(arrival, live)
    assert_sound(sent)
    run = fold_events(made).run(run_id(1))
    for direction, uses in (("inputs", run.inputs), ("outputs", run.outputs)):
        assert {ds["name"] for ds in sent[-1][direction]} >= {ds.name for ds in uses}
        assert all("schema" in ds["facets"] for ds in sent[-1][direction])
    if run.terminal is not None:
        assert sent[-1]["eventType"] in TERMINAL
        strongest = [message["eventType"] for message in sent][-1]
        assert strongest == run.terminal[2]


@st.composite
def any_events(draw):
    run = draw(st.sampled_from([1, 2, 3, 4]))
    parent = draw(st.sampled_from([None, (1, "job"), (2, "job"), (3, "other")]))
    return event(
        draw(TYPES),
        draw(st.integers(0, 6)),
        run=run,
        job=draw(st.sampled_from(["job", "other"])),
        streaming=draw(st.booleans()),
        parent=parent if parent and parent[0] != run else None,
    )


LAB = {
    1: {"job": "app"},
    2: {"job": "app.a", "parent": (1, "app")},
    3: {"job": "app.a.part", "parent": (2, "app.a")},
    4: {"job": "query", "streaming": True},
    5: {"job": "query", "streaming": True},
}
"""Runs of emitters that know what they are: an application with a child and its child, and a query's two runs."""


@st.composite
def lab_events(draw):
    run = draw(st.sampled_from(list(LAB)))
    return event(draw(TYPES), draw(st.integers(0, 6)), run=run, **LAB[run])


@settings(max_examples=60, deadline=None)
@given(made=st.lists(lab_events(), min_size=1, max_size=12, unique_by=lambda one: one.order.hash), live=st.booleans())
def test_in_any_order_every_run_is_left_as_it_stands(made, live):
    lineage = fold_events(made)
    last = {message["run"]["runId"]: message["eventType"] for message in stream(made, live)}
    for number in {int(one.run.run[-3:]) for one in made}:
        run = lineage.run(run_id(number))
        end = end_of(lineage, run)
        if end is None:
            assert last[run.id.run] not in TERMINAL
        else:
            assert last[run.id.run] == end.event_type


@settings(max_examples=300, deadline=None)
@given(st.lists(any_events(), min_size=1, max_size=12))
def test_ends_agree_with_outcomes_and_every_closed_run_is_found_by_what_closed_it(made):
    lineage = fold_events(made)
    children = OpenChildren()
    for job in lineage.jobs.values():
        for run in job.runs.values():
            children.note(run)
    found = set()
    for one in made:
        end = end_of(lineage, lineage.jobs[one.job].runs[one.run.run])
        found |= {closing.run for closing in closed_by(lineage, one, children, end and end.order)}
    for job in lineage.jobs.values():
        for run in job.runs.values():
            outcome, end = run_outcome(lineage, run), end_of(lineage, run)
            assert (end and end.order.time) == outcome.ended
            assert (end and end.because) == outcome.closed_because
            assert (run.id in found) == (outcome.closed_because is not None)
