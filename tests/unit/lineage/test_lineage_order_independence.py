# SPDX-License-Identifier: Apache-2.0
"""Graph state as a function of the event set, independent of order, duplicates and reads in between."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lineage_events import RECORDED, body, dataset, dataset_event, facet, read, recorded_lines, schema, source

from lineage.events import canonical_json
from lineage.graph import Graph, LineageRecords, export_graph, fold_events
from lineage.graph.run_history import Direction, RunPosition

RECORDINGS = sorted(RECORDED.glob("*.ndjson")) if RECORDED.is_dir() else [Path("none-recorded")]


def fold_once(events):
    """Return the graph by definition: the set of events folded once."""
    lineage = fold_events(events)
    return canonical_json(export_graph(lineage, Graph(lineage)))


def fold_incrementally(events, read_every=1):
    """Return the graph as the service computes it: event by event, with cached views refreshed in between."""
    lineage = LineageRecords()
    graph = Graph(lineage)
    for count, event in enumerate(events):
        lineage.apply(event)
        if count % read_every == 0:
            graph.refresh()
    return canonical_json(export_graph(lineage, graph))


@pytest.mark.parametrize("file", RECORDINGS, ids=lambda file: file.stem)
def test_recorded_run_gives_one_graph_in_any_order(file):
    events = [read(json.loads(line)) for line in recorded_lines(file.name)]
    expected = fold_once(events)

    @settings(max_examples=100, deadline=None)
    @given(arrival=st.permutations(events), again=st.lists(st.sampled_from(events), max_size=20))
    def check(arrival, again):
        assert fold_incrementally([*arrival, *again], read_every=7) == expected

    check()


NAMES = st.sampled_from(["a", "b", "c"])
JOB_TYPES = [
    {"processingType": "BATCH"},
    {"processingType": "STREAMING"},
    {"processingType": "STREAMING", "emissionPattern": {"windowDuration": 1}},
    {"processingType": "STREAMING", "emissionPattern": {"eventContentMode": "COMPLETE_SNAPSHOT", "windowDuration": 1}},
]


@st.composite
def outputs(draw):
    facets = {}
    if draw(st.booleans()):
        sources = draw(st.lists(st.builds(source, NAMES, NAMES), max_size=2))
        facets["columnLineage"] = {"fields": {draw(NAMES): {"inputFields": sources}}}
    if draw(st.booleans()):
        facets["schema"] = schema(draw(NAMES))
    output = dataset(draw(NAMES), **facets)
    if draw(st.integers(0, 5)) == 0:
        output["facets"]["columnLineage"] = {**facet(), "_deleted": True}
    return output


@st.composite
def events(draw):
    second = draw(st.integers(0, 5))
    if draw(st.integers(0, 9)) == 0:
        return read(dataset_event(second, draw(outputs())))
    run = draw(st.sampled_from([None, 1, 2, 3]))
    job_facets = dict(draw(st.sampled_from([{}, {}, *({"jobType": job_type} for job_type in JOB_TYPES)])))
    entries = [{**dataset("a"), "type": "DATASET", "inputs": [{**dataset("b"), "type": "DATASET"}]}]
    content = body(
        draw(st.sampled_from(["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER", None])),
        second,
        run=run,
        job=draw(st.sampled_from(["job", "job2"])),
        inputs=draw(st.lists(st.builds(dataset, NAMES), max_size=2)),
        outputs=draw(st.lists(outputs(), max_size=2)),
        parent=draw(st.sampled_from([None, None, (1, "job"), (2, "job2")])) if run else None,
        job_facets=job_facets | ({"lineage": {"entries": entries}} if draw(st.integers(0, 4)) == 0 else {}),
    )
    return read(content)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_set_of_events_gives_one_graph_in_any_order(data):
    made = data.draw(st.lists(events(), max_size=8))
    arrival = data.draw(st.permutations(made * 2))
    assert fold_incrementally(arrival) == fold_once(made)


@settings(max_examples=300, deadline=None)
@given(st.lists(events(), max_size=12))
def test_stored_history_equals_sorted_history(arrival):
    lineage = LineageRecords()
    for event in arrival:
        lineage.apply(event)
    for job in lineage.jobs.values():
        current = {run.place: edges_of(run.uses) for run in job.runs.values()}
        dropped = {run.place: edges_of(run.named) - edges_of(run.uses) for run in job.runs.values()}
        assert_holds(job.history.runs, current)
        for direction, runs in job.history.by_direction.items():
            assert_holds(runs, [place for place, edges in current.items() if direction in dict(edges)])
        for index, named in ((job.history.by_edge, current), (job.history.by_dropped_edge, dropped)):
            assert set().union(*named.values()) == {edge for edge, runs in index.items() if len(runs)}
            for edge, runs in index.items():
                assert_holds(runs, [place for place, edges in named.items() if edge in edges])
        assert_open_runs(job)


def edges_of(datasets):
    return {(direction, name) for direction in Direction for name in datasets(direction)}


def assert_open_runs(job):
    """Check that the history lists every open run that may be streaming, at its last event."""
    maybe_streaming = [run for run in job.runs.values() if run.terminal is None and job_type(run) != "BATCH"]
    assert_holds(job.history.open, [RunPosition(run.span.last, run.id.run) for run in maybe_streaming])


def job_type(run):
    return (run.job_facets.get("jobType") or {}).get("processingType")


def assert_holds(runs, expected):
    assert list(runs.backwards()) == sorted(expected, reverse=True)


def test_repeated_run_exports_the_same_graph():
    def one_run(run, second):
        datasets = {"inputs": [dataset("a")], "outputs": [dataset("b", version={"datasetVersion": str(run)})]}
        return [read(body(state, second + i, run=run, **datasets)) for i, state in enumerate(["START", "COMPLETE"])]

    assert fold_once(one_run(1, 0)) == fold_once([*one_run(1, 0), *one_run(2, 10)])


def test_export_contains_no_run_ids_and_no_times():
    exported = fold_once([read(body(inputs=[dataset("a")], outputs=[dataset("b")]))]).decode()
    assert "2026" not in exported
    assert "00000000-" not in exported
