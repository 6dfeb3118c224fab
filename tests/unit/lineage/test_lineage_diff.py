# SPDX-License-Identifier: Apache-2.0
"""Difference of two graphs: every change is reported, and nothing else."""

import copy
import json
import random
from xml.etree import ElementTree

import pytest
from lineage_events import body, dataset, read, recorded_lines, schema, source

from lineage.checks.diff import diff_graphs, diff_texts
from lineage.events import canonical_json
from lineage.graph import Graph, export_graph, fold_events
from lineage.rules import Rules
from lineage.rules.event_reader import read_event

LAKE = "s3://warehouse"


def graph(*contents):
    lineage = fold_events(map(read, contents))
    return export_graph(lineage, Graph(lineage))


def stats(*sources, columns=("total",), state="START", **options):
    lineage = {"fields": {"total": {"inputFields": list(sources)}}}
    output = dataset("stats", schema=schema(*columns), columnLineage=lineage)
    inputs = [dataset(name) for name in sorted({item["name"] for item in sources} or {"orders"})]
    return body(state, job="stats", inputs=inputs, outputs=[output], **options)


PRICE = source("orders", "price", "AGGREGATION")
BEFORE = graph(stats(PRICE))


def lines(before, after):
    found = diff_graphs(before, after)
    assert diff_texts(canonical_json(before), canonical_json(after)).to_json() == found.to_json()
    return found.render_text().splitlines()[:-1]


def test_equal_graphs_have_no_differences():
    difference = diff_graphs(BEFORE, copy.deepcopy(BEFORE))
    assert difference.empty
    assert difference.render_text() == "the graphs are the same\n"
    assert difference.to_json() == {"empty": True, "counts": {}, "changes": []}
    suite = ElementTree.fromstring(difference.render_junit()).find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("1", "0")


def test_order_of_rows_is_ignored():
    shuffled = copy.deepcopy(BEFORE)
    for rows in shuffled.values():
        if isinstance(rows, list):
            random.Random(1).shuffle(rows)
    assert diff_graphs(BEFORE, shuffled).empty


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (
            stats(PRICE, state="FAIL"),
            ["changed  job          test-jobs/stats: RUNNING -> FAILED"],
        ),
        (
            stats(PRICE, streaming=True),
            ["changed  job          test-jobs/stats: RUNNING -> STREAMING, RUNNING"],
        ),
        (
            stats(PRICE, columns=("total", "day")),
            [f"added    column       {LAKE}/stats#day (string)"],
        ),
        (
            stats(source("orders", "price", "IDENTITY")),
            [
                f"changed  column edge  {LAKE}/stats#total <- {LAKE}/orders#price by test-jobs/stats:"
                " DIRECT/AGGREGATION -> DIRECT/IDENTITY"
            ],
        ),
        (
            stats(source("orders", "amount", "AGGREGATION")),
            [
                f"added    column edge  {LAKE}/stats#total <- {LAKE}/orders#amount by test-jobs/stats"
                " (DIRECT/AGGREGATION)",
                f"removed  column edge  {LAKE}/stats#total <- {LAKE}/orders#price by test-jobs/stats"
                " (DIRECT/AGGREGATION)",
            ],
        ),
        (
            stats(PRICE, source("items", "tax")),
            [
                f"added    dataset      {LAKE}/items",
                f"added    edge         test-jobs/stats <- {LAKE}/items",
                f"added    flow         {LAKE}/stats <- {LAKE}/items by test-jobs/stats",
                f"added    column edge  {LAKE}/stats#total <- {LAKE}/items#tax by test-jobs/stats (DIRECT/IDENTITY)",
            ],
        ),
    ],
)
def test_change_is_reported_in_both_directions(after, expected):
    after = graph(after)
    assert lines(BEFORE, after) == expected
    back = {"added": "removed", "removed": "added", "changed": "changed"}
    there = [(change.kind, change.text, change.before, change.after) for change in diff_graphs(BEFORE, after).changes]
    home = [(change.kind, change.text, change.after, change.before) for change in diff_graphs(after, BEFORE).changes]
    assert sorted((back[kind], *rest) for kind, *rest in there) == sorted(tuple(item) for item in home)


def test_removed_job():
    both = graph(stats(PRICE), body(job="copy", run=2, inputs=[dataset("stats")], outputs=[dataset("copy")]))
    assert lines(both, BEFORE) == [
        "removed  job          test-jobs/copy (RUNNING)",
        f"removed  dataset      {LAKE}/copy",
        f"removed  edge         test-jobs/copy <- {LAKE}/stats",
        f"removed  edge         test-jobs/copy -> {LAKE}/copy",
        f"removed  flow         {LAKE}/copy <- {LAKE}/stats by test-jobs/copy",
    ]
    assert (
        diff_graphs(both, BEFORE)
        .render_text()
        .endswith("jobs: 1 removed; datasets: 1 removed; edges: 2 removed; flows: 1 removed\n")
    )


def test_schema_column_changes():
    nested = copy.deepcopy(BEFORE)
    stats_row = next(row for row in nested["datasets"] if row["name"] == "stats")
    stats_row["fields"] = [{"name": "total", "type": "struct", "fields": [{"name": "net", "type": "decimal"}]}]
    assert lines(BEFORE, nested) == [
        f"changed  column       {LAKE}/stats#total: string -> struct",
        f"added    column       {LAKE}/stats#total.net (decimal)",
    ]
    stats_row["fields"][0]["type"] = None
    assert f"changed  column       {LAKE}/stats#total: string -> unknown" in lines(BEFORE, nested)


def test_column_order_change():
    before, after = (
        graph(stats(PRICE, columns=columns)) for columns in (("total", "day", "old"), ("day", "total", "x"))
    )
    assert lines(before, after) == [
        f"removed  column       {LAKE}/stats#old (string)",
        f"added    column       {LAKE}/stats#x (string)",
        f"changed  dataset      {LAKE}/stats: columns total, day -> day, total",
    ]


def test_alias_and_whole_dataset_changes():
    after = copy.deepcopy(BEFORE)
    after["datasets"][0]["symlinks"] = [{"namespace": LAKE, "name": "lake.orders", "type": "TABLE"}]
    edge = copy.deepcopy(after["columns"][0]) | {"type": "INDIRECT", "subtype": "FILTER", "masking": True}
    del edge["output"]["field"]
    after["datasetColumns"].append(edge)
    assert lines(BEFORE, after) == [
        f"changed  dataset      {LAKE}/orders: unknown -> {LAKE}/lake.orders TABLE",
        f"added    column edge  {LAKE}/stats <- {LAKE}/orders#price by test-jobs/stats (INDIRECT/FILTER masked)",
    ]


def test_change_names_its_nodes_in_data_flow_order():
    after = graph(stats(PRICE, source("items", "tax"), columns=("total", "day"), state="FAIL"))
    orders, items, made = (("dataset", LAKE, name) for name in ("orders", "items", "stats"))
    job = ("job", "test-jobs", "stats")
    assert {(change.subject, change.nodes) for change in diff_graphs(BEFORE, after).changes} == {
        ("job", (job,)),
        ("dataset", (items,)),
        ("column", (made,)),
        ("edge", (items, job)),
        ("flow", (items, job, made)),
        ("column edge", (items, job, made)),
    }
    written = graph(stats(PRICE), body(job="writer", outputs=[dataset("orders")], run=2))
    assert ("edge", (("job", "test-jobs", "writer"), orders)) in {
        (change.subject, change.nodes) for change in diff_graphs(BEFORE, written).changes
    }


def test_all_report_formats_contain_the_same_changes():
    difference = diff_graphs(BEFORE, graph(stats(PRICE, source("items", "tax"), state="FAIL")))
    report = json.loads(difference.render_json())
    assert report == json.loads(json.dumps(difference.to_json()))
    assert report["counts"] == {
        "column edge": {"added": 1},
        "dataset": {"added": 1},
        "edge": {"added": 1},
        "flow": {"added": 1},
        "job": {"changed": 1},
    }
    assert report["changes"][0] == {
        "kind": "changed",
        "subject": "job",
        "of": "test-jobs/stats",
        "text": "test-jobs/stats",
        "before": "RUNNING",
        "after": "FAILED",
        "nodes": [{"kind": "job", "namespace": "test-jobs", "name": "stats"}],
    }
    suite = ElementTree.fromstring(difference.render_junit()).find("testsuite")
    assert {case.get("name"): case.find("failure") is not None for case in suite.iter("testcase")} == {
        f"{LAKE}/items": True,
        "test-jobs/stats": True,
    }
    assert suite.get("failures") == "2"


@pytest.mark.parametrize(
    ("export", "message"),
    [
        ({}, "the second graph is not a graph export"),
        ([], "the second graph is not a graph export"),
        ({"version": 9}, "the second graph export has version 9; this comparison reads 1"),
        ({"version": 1}, "the second graph export is broken: KeyError\\('jobs'\\)"),
        ({**BEFORE, "edges": 3}, "the second graph export is broken"),
        ({**BEFORE, "jobs": [{"namespace": 1, "name": None}]}, "the second graph export is broken"),
    ],
)
def test_invalid_export_is_rejected(export, message):
    with pytest.raises(ValueError, match=message):
        diff_graphs(BEFORE, export)


def test_diff_of_recorded_graphs_is_the_added_engine():
    events = [read_event(line, Rules()) for line in recorded_lines("spark-*.ndjson")]
    whole, part = fold_events(events), fold_events(events[: len(events) // 2])
    before, after = (export_graph(lineage, Graph(lineage)) for lineage in (part, whole))
    difference = diff_graphs(before, after)
    known, now = ({canonical_json(row) for row in export["edges"]} for export in (before, after))
    kinds = [change.kind for change in difference.changes if change.subject == "edge"]
    assert (kinds.count("added"), kinds.count("removed")) == (len(now - known), len(known - now))
    assert kinds


def random_graph(chance: random.Random):
    """A graph in which many columns have several transformations, and some are nested."""
    contents = []
    for job in range(6):
        inputs = [dataset(f"in {chance.randrange(4)}", schema=schema(*chance.sample("abcd", 3))) for _ in range(2)]
        fields = {
            name: {
                "inputFields": [
                    source(inputs[0]["name"], chance.choice("abcd"), chance.choice(("IDENTITY", "FILTER", "SORT")))
                    for _ in range(chance.randrange(1, 4))
                ]
            }
            for name in chance.sample(["x", "y", "z"], 2)
        }
        output = dataset(f"out {job}", schema=schema(*fields), columnLineage={"fields": fields})
        if chance.random() < 0.8:
            state = chance.choice(("START", "COMPLETE", "FAIL"))
            contents.append(body(state, job=f"job {job}", inputs=inputs, outputs=[output]))
    return graph(*contents)


@pytest.mark.parametrize("seed", range(60))
def test_texts_have_the_differences_of_their_graphs(seed):
    chance = random.Random(seed)
    before, after = random_graph(chance), random_graph(chance)
    found = diff_texts(canonical_json(before), canonical_json(after))
    assert found.to_json() == diff_graphs(before, after).to_json()
    assert not found.empty


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"version":1,"jobs":3}'])
def test_an_invalid_text_is_rejected(text):
    with pytest.raises(ValueError, match="the second graph is not a graph export"):
        diff_texts(canonical_json(BEFORE), text)


@pytest.mark.parametrize("kind", ["jobs", "datasets", "edges", "flows", "columns", "datasetColumns"])
def test_a_text_with_a_broken_row_is_rejected(kind):
    broken = {**BEFORE, kind: [{"namespace": 1}]}
    with pytest.raises(ValueError, match="the second graph export is broken"):
        diff_texts(canonical_json(BEFORE), canonical_json(broken))
