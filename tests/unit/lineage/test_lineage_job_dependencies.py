# SPDX-License-Identifier: Apache-2.0
"""Edges between jobs, and lineage that dataset events state; each in every order of arrival."""

from itertools import permutations

import pytest
from lineage_events import NAMESPACE, body, dataset, dataset_event, read, schema, source

from lineage.graph import Graph, LineageRecords, export_graph
from lineage.graph.dataset_lineage import DATASET_EVENTS
from lineage.graph.snapshot import restore, snapshots_of


def exported(events):
    lineage = LineageRecords()
    graph = Graph(lineage)
    for event in events:
        lineage.apply(event)
        graph.refresh()
    export = export_graph(lineage, graph)
    copy = LineageRecords()
    restore(copy, sorted(snapshots_of(lineage)))
    assert export_graph(copy, Graph(copy)) == export
    return export


def graph_of(*contents):
    events = [read(content) for content in contents]
    export = exported(events)
    for order in permutations(events):
        assert exported([*order, order[0]]) == export
    return export


def row(job, namespace=NAMESPACE):
    return {"job": {"namespace": namespace, "name": job}}


def control(second, job, run=1, **facet):
    return body("RUNNING", second, run=run, job=job, run_facets={"jobDependencies": facet})


def entries(*rows):
    return {"lineage": {"entries": list(rows)}}


def entry(job, *sources):
    named = {"namespace": NAMESPACE, "name": job} if job else {}
    inputs = [{"type": "JOB", **({"namespace": NAMESPACE, "name": source} if source else {})} for source in sources]
    return {"type": "JOB", **named, "inputs": inputs}


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param([control(0, "b", upstream=[row("a")])], {("a", "b")}, id="upstream"),
        pytest.param([control(0, "b", downstream=[row("c")])], {("b", "c")}, id="downstream"),
        pytest.param(
            [control(0, "b", upstream=[row("a")]), control(1, "a", run=2, downstream=[row("b")])],
            {("a", "b")},
            id="both",
        ),
        pytest.param(
            [control(0, "b", upstream=[row("a")]), control(1, "b", run=2, upstream=[row("c")])],
            {("c", "b")},
            id="later run",
        ),
        pytest.param(
            [control(0, "b", upstream=[row("a")]), body("COMPLETE", 1, run=2, job="b")], {("a", "b")}, id="not named"
        ),
        pytest.param([control(0, "b", upstream=[row("a")]), control(1, "b", upstream=[])], set(), id="none any more"),
        pytest.param([control(0, "b", upstream=[row("b")])], set(), id="itself"),
        pytest.param([control(0, "b", upstream=[{}, 5, {"job": {"name": "x"}}], downstream=7)], set(), id="malformed"),
        pytest.param([body(job="b", job_facets=entries(entry(None, "a")))], {("a", "b")}, id="entry of the own job"),
        pytest.param([body(job="b", job_facets=entries(entry("c", None)))], {("b", "c")}, id="entry of another job"),
        pytest.param([body(run=None, job="b", job_facets=entries(entry("c", "a")))], {("a", "c")}, id="job event"),
    ],
)
def test_dependencies_between_jobs(events, expected):
    found = graph_of(*events)["jobDependencies"]
    assert {(edge["upstream"]["name"], edge["downstream"]["name"]) for edge in found} == expected


def test_neighbours_of_a_job():
    lineage = LineageRecords()
    graph = Graph(lineage)
    for content in (control(0, "b", upstream=[row("a")]), control(1, "a", run=2, downstream=[row("b")])):
        lineage.apply(read(content))
    graph.refresh()
    assert graph.upstream_jobs((NAMESPACE, "b")) == {(NAMESPACE, "a")}
    assert graph.downstream_jobs((NAMESPACE, "a")) == {(NAMESPACE, "b")}
    lineage.apply(read(control(2, "b", upstream=[])))
    graph.refresh()
    assert graph.upstream_jobs((NAMESPACE, "b")) == {(NAMESPACE, "a")}, "job a still states it"
    lineage.apply(read(control(3, "a", run=2)))
    graph.refresh()
    assert graph.job_dependencies == {}
    assert not graph.upstream_jobs((NAMESPACE, "b"))


def columns(*sources):
    return {"fields": {"id": {"inputFields": [source(name, "id") for name in sources]}}}


def test_dataset_event_with_column_lineage_makes_edges():
    described = dataset("view/x", columnLineage=columns("a/x"), schema=schema("id"))
    export = graph_of(dataset_event(0, described))
    assert [(column["input"]["name"], column["output"]["name"]) for column in export["columns"]] == [("a/x", "view/x")]
    assert [(flow["input"]["name"], flow["output"]["name"]) for flow in export["flows"]] == [("a/x", "view/x")]
    (job,) = export["jobs"]
    assert (job["namespace"], job["name"], job["state"]) == (DATASET_EVENTS, "s3://warehouse/view/x", None)


def test_last_dataset_event_with_lineage_is_in_force():
    events = [
        dataset_event(0, dataset("view/x", columnLineage=columns("a/x"))),
        dataset_event(1, dataset("view/x", columnLineage=columns("b/x"))),
        dataset_event(2, dataset("view/x", documentation={"description": "orders"})),
    ]
    export = graph_of(*events)
    assert [column["input"]["name"] for column in export["columns"]] == ["b/x"]
    assert [edge["dataset"]["name"] for edge in export["vanished"]] == ["a/x"]


def test_dataset_event_removes_its_own_lineage():
    gone = dataset("view/x", columnLineage={"_deleted": True})
    export = graph_of(dataset_event(0, dataset("view/x", columnLineage=columns("a/x"))), dataset_event(1, gone))
    assert export["columns"] == export["flows"] == []


def test_lineage_facet_of_a_dataset_event_makes_edges():
    facet = {"inputs": [{"namespace": "s3://warehouse", "name": "a/x", "type": "DATASET"}]}
    export = graph_of(dataset_event(0, dataset("view/x", lineage=facet)))
    assert [(flow["input"]["name"], flow["output"]["name"]) for flow in export["flows"]] == [("a/x", "view/x")]


def test_dataset_event_without_lineage_declares_no_job():
    assert graph_of(dataset_event(0, dataset("view/x", schema=schema("id"))))["jobs"] == []
