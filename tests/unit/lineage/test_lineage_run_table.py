# SPDX-License-Identifier: Apache-2.0
"""State table of runs: events and the time of reading -> state of the run, edges of its job, facets of its datasets.

Each case holds in every order of arrival, with duplicates, and after a restart from snapshots of any part.
"""

import json
import random
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from lineage_events import NAMESPACE, at, body, dataset, dataset_event, facet, read, run_id

from lineage.events import DatasetId, Event, JobId, canonical_json
from lineage.events.timestamps import parse_time
from lineage.graph import SETTLED, Graph, LineageRecords, derive_job_lineage, export_graph, is_stale, run_outcome
from lineage.graph.run_history import Direction
from lineage.graph.snapshot import Snapshot, restore, snapshots_of
from lineage.marquez import Catalog

JOB = JobId(NAMESPACE, "job")
BATCH = {"jobType": {"processingType": "BATCH", "integration": "TEST"}}
STREAMING = {
    "jobType": {"processingType": "STREAMING", "integration": "TEST", "emissionPattern": {"windowDuration": 10}}
}
WINDOWS = {
    "jobType": {
        "processingType": "STREAMING",
        "integration": "TEST",
        "emissionPattern": {"eventContentMode": "COMPLETE_SNAPSHOT", "windowDuration": 10},
    }
}


def said(event_type: str | None, second: float, edges: str = "", run: int = 1, job_type: Any = BATCH, **options: Any):
    """Return a run event; `edges` are inputs and outputs by letter, such as `ab>x`."""
    inputs, _, outputs = edges.partition(">")
    named = {"inputs": list(map(dataset, inputs)), "outputs": list(map(dataset, outputs))}
    return read(body(event_type, second, run=run, job_facets=job_type, **{**named, **options}))


def streaming(event_type: str | None, second: float, edges: str = "", run: int = 1):
    return said(event_type, second, edges, run, STREAMING)


def window(event_type: str | None, second: float, edges: str = "", run: int = 1, absent: str = ""):
    """Return an event that announces complete snapshots; `absent` is a list that it leaves out."""
    inputs, _, outputs = edges.partition(">")
    content = body(
        event_type,
        second,
        run=run,
        job_facets=WINDOWS,
        inputs=list(map(dataset, inputs)),
        outputs=list(map(dataset, outputs)),
    )
    if absent:
        del content[absent]
    return read(content)


def beats(run: int, first: int, last: int, edges: str = "a>x"):
    """Return RUNNING events every ten seconds."""
    return [streaming("RUNNING", second, edges, run) for second in range(first, last + 1, 10)]


class Case(NamedTuple):
    """One row: events; then current edges, vanished datasets with removing runs, and states by run at a time."""

    name: str
    events: list[Event]
    edges: str
    vanished: Mapping[str, int | None] = MappingProxyType({})
    states: Mapping[int, str] = MappingProxyType({})
    now: float | None = None


CASES = [
    # Batch: only a COMPLETE run removes.
    Case("first start adds", [said("START", 0, "a>x")], "a>x"),
    Case(
        "complete run replaces",
        [said("COMPLETE", 0, "ab>x"), said("COMPLETE", 10, "a>y", 2)],
        "a>y",
        {"b": 2, "x": 2},
    ),
    Case("started run removes nothing", [said("COMPLETE", 0, "a>x"), said("START", 10, "b>x", 2)], "ab>x"),
    Case("start without datasets removes nothing", [said("COMPLETE", 0, "a>x"), said("START", 10, "", 2)], "a>x"),
    Case(
        "failed run removes nothing",
        [said("COMPLETE", 0, "ab>x"), said("START", 10, "a>y", 2), said("FAIL", 11, "", 2)],
        "ab>xy",
        states={1: "COMPLETED", 2: "FAILED"},
    ),
    Case(
        "failed runs add until a complete run replaces them",
        [
            said("COMPLETE", 0, "a>x"),
            said("FAIL", 10, "b>x", 2),
            said("ABORT", 20, "c>x", 3),
            said("COMPLETE", 30, "a>x", 4),
        ],
        "a>x",
        {"b": 4, "c": 4},
    ),
    Case(
        "complete run without datasets is not authoritative",
        [said("COMPLETE", 0, "a>x"), said("COMPLETE", 9, "", 2)],
        "a>x",
    ),
    Case(
        "complete run that also failed is a failed one",
        [said("COMPLETE", 0, "a>x"), said("FAIL", 10, "b>x", 2), said("COMPLETE", 11, "b>x", 2)],
        "ab>x",
        states={2: "FAILED"},
    ),
    Case(
        "only failed runs add",
        [said("FAIL", 0, "a>x"), said("FAIL", 10, "b>x", 2)],
        "ab>x",
    ),
    Case(
        "type of the job applies to runs without their own",
        [said("COMPLETE", 0, "a>x", job_type={}), said("COMPLETE", 10, "b>x", 2, job_type={})],
        "b>x",
        {"a": 2},
    ),
    # Terminal events.
    Case(
        "event after the end changes no state",
        [said("START", 0, "a>x"), said("FAIL", 5), said("RUNNING", 9), said("COMPLETE", 10), said("START", 11)],
        "a>x",
        states={1: "FAILED"},
    ),
    Case(
        "end before its start",
        [said("ABORT", 0, "a>x"), said("START", 5), said("COMPLETE", 9)],
        "a>x",
        states={1: "ABORTED"},
    ),
    # Streaming: authoritative once it has said RUNNING with its datasets.
    Case(
        "restarted streaming run does not flap",
        [*beats(1, 0, 30), streaming("ABORT", 35, "a>x"), streaming("START", 40, "", 2)],
        "a>x",
        states={1: "ABORTED", 2: "RUNNING"},
    ),
    Case(
        "start with other datasets adds",
        [*beats(1, 0, 30), streaming("ABORT", 35), streaming("START", 40, "b>x", 2)],
        "ab>x",
    ),
    Case(
        "running with datasets replaces an ended run",
        [*beats(1, 0, 30), streaming("ABORT", 35), streaming("START", 40, "", 2), streaming("RUNNING", 41, "b>x", 2)],
        "b>x",
        {"a": 2},
    ),
    Case(
        "running without datasets replaces nothing",
        [*beats(1, 0, 30), streaming("ABORT", 35), streaming("START", 40, "", 2), streaming("RUNNING", 41, "", 2)],
        "a>x",
    ),
    Case(
        "completed streaming run that never ran replaces nothing",
        [*beats(1, 0, 30), streaming("ABORT", 35), streaming("START", 40, "b>x", 2), streaming("COMPLETE", 41, "", 2)],
        "ab>x",
    ),
    Case(
        "failed streaming run was authoritative while it ran",
        [*beats(1, 0, 10), streaming("FAIL", 15), *beats(2, 20, 40, "b>x"), streaming("FAIL", 45, "", 2)],
        "b>x",
        {"a": 2},
    ),
    Case(
        "two live instances are both running",
        [streaming("START", 0), streaming("START", 100, "", 2), *beats(1, 5, 195), *beats(2, 100, 200, "b>y")],
        "ab>xy",
        states={1: "RUNNING", 2: "RUNNING"},
        now=205,
    ),
    Case(
        "silent older instance is superseded",
        [streaming("START", 0), *beats(1, 5, 55), streaming("START", 60, "", 2), *beats(2, 60, 120, "b>y")],
        "b>y",
        {"a": 2, "x": 2},
        {1: "ABORTED", 2: "RUNNING"},
        now=125,
    ),
    Case(
        "older instance is not superseded before three intervals",
        [streaming("START", 0), *beats(1, 5, 55), streaming("START", 60, "", 2), *beats(2, 60, 80, "b>y")],
        "ab>xy",
        states={1: "RUNNING", 2: "RUNNING"},
        now=85,
    ),
    Case(
        "superseded instance speaks again",
        [
            *[streaming("START", 0), *beats(1, 5, 55), streaming("START", 60, "", 2), *beats(2, 60, 120, "b>y")],
            streaming("RUNNING", 119, "a>x"),
        ],
        "ab>xy",
        states={1: "RUNNING", 2: "RUNNING"},
        now=125,
    ),
    Case(
        "last instance that runs keeps its edges after a trial of another",
        [*beats(1, 0, 200), *beats(2, 50, 60, "b>y"), streaming("ABORT", 65, "", 2), streaming("ABORT", 205)],
        "ab>xy",
        states={1: "ABORTED", 2: "ABORTED"},
    ),
    # Complete snapshots.
    Case("snapshot replaces", [window("RUNNING", 0, "ab>x"), window("RUNNING", 10, "a>y")], "a>y", {"b": 1, "x": 1}),
    Case(
        "dataset of a snapshot returns",
        [*(window("RUNNING", 10 * n, e) for n, e in enumerate(["ab>x", "a>x", "ab>x"]))],
        "ab>x",
    ),
    Case("empty snapshot removes all", [window("RUNNING", 0, "a>x"), window("RUNNING", 10)], "", {"a": 1, "x": 1}),
    Case(
        "absent list changes nothing",
        [window("RUNNING", 0, "a>x"), window("RUNNING", 10, "b>", absent="outputs")],
        "b>x",
        {"a": 1},
    ),
    Case(
        "run that has named nothing yet removes nothing",
        [window("RUNNING", 0, "a>x"), window("ABORT", 5), window("START", 10, "", 2), window("RUNNING", 20, "", 2)],
        "a>x",
    ),
    Case("start without datasets is no snapshot", [window("RUNNING", 0, "a>x"), window("START", 10, "", 2)], "a>x"),
    Case("end without datasets is no snapshot", [window("RUNNING", 0, "a>x"), window("FAIL", 10)], "a>x"),
    Case(
        "start with a complete snapshot is authoritative",
        [window("ABORT", 0, "a>x"), window("START", 10, "b>x", 2)],
        "b>x",
        {"a": 2},
    ),
    Case(
        "empty list of an accumulating event changes nothing",
        [streaming("RUNNING", 0, "a>x"), streaming("RUNNING", 10)],
        "a>x",
    ),
    Case(
        "snapshot before an event of the same run that accumulates",
        [window("RUNNING", 0, "a>x"), streaming("RUNNING", 10, "b>x")],
        "ab>x",
    ),
]


def folded(events):
    lineage = LineageRecords()
    for item in events:
        lineage.apply(item)
    return lineage


def arrivals(events, count=12):
    """Yield the records of the events in several orders of arrival, with duplicates, and restored in the middle."""
    chance = random.Random(1)
    for _ in range(count):
        arrival = [*events, *chance.choices(events, k=2)]
        chance.shuffle(arrival)
        yield folded(arrival)
        cut, part = chance.randint(0, len(arrival)), LineageRecords()
        for key, content in sorted(snapshots_of(folded(arrival[:cut]))):
            restore(part, [Snapshot(key, json.loads(canonical_json(content)))])
        for item in arrival[cut:]:
            part.apply(item)
        yield part


def edges_of(view):
    def letters(datasets):
        return "".join(sorted(item.name for item in datasets))

    return f"{letters(view.inputs)}>{letters(view.outputs)}" if view.inputs or view.outputs else ""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_state_table(case):
    expected_export = None
    for lineage in arrivals(case.events):
        view = derive_job_lineage(lineage.jobs[JOB])
        assert edges_of(view) == case.edges
        gone = {edge.dataset.name: edge.run for edge in view.vanished}
        assert gone == {name: run and run_id(run) for name, run in case.vanished.items()}
        now = SETTLED if case.now is None else parse_time(at(case.now))
        states = {run: run_outcome(lineage, lineage.run(run_id(run)), now).state for run in case.states}
        assert states == case.states
        export = canonical_json(export_graph(lineage, Graph(lineage)))
        assert export == (expected_export or export)
        expected_export = export


def test_inferred_end_takes_effect_after_three_intervals_and_is_void_with_the_next_event():
    events = [streaming("START", 0), streaming("RUNNING", 20), streaming("START", 30, "", 2)]
    lineage = folded(events)
    run = lineage.run(run_id(1))

    def state(second):
        return run_outcome(lineage, run, parse_time(at(second)))

    assert (state(60).state, is_stale(lineage, run, parse_time(at(60)))) == ("RUNNING", True)
    assert state(61) == ("ABORTED", parse_time(at(30)), "the job started again")
    assert not is_stale(lineage, run, parse_time(at(61)))
    lineage.apply(streaming("RUNNING", 59))
    assert (state(61).state, state(89).state) == ("RUNNING", "RUNNING")
    assert state(90) == ("ABORTED", parse_time(at(59)), "the job started again")


def test_end_of_an_application_ends_its_silent_children_only():
    def child(event_type, second, run):
        return said(event_type, second, run=run, job=f"app.{run}", job_type=STREAMING, parent=(1, "app"))

    events = [said("START", 0, job="app"), child("START", 1, 2), child("START", 1, 3), said("COMPLETE", 50, job="app")]
    lineage = folded([*events, child("RUNNING", 70, 3)])

    def state(run, second):
        return run_outcome(lineage, lineage.run(run_id(run)), second and parse_time(at(second))).state

    assert [state(2, second) for second in (60, 80, 81, SETTLED)] == ["RUNNING", "RUNNING", "ABORTED", "ABORTED"]
    assert [state(3, second) for second in (81, 100, 101, SETTLED)] == ["RUNNING", "RUNNING", "ABORTED", "RUNNING"]


@pytest.mark.parametrize("end", ["COMPLETE", "FAIL"])
def test_no_duration_is_negative(end):
    events = [said(end, 0, "a>x"), said("START", 20, "a>x"), said("START", 9, run=2), said("START", 90, run=3)]
    lineage = folded([*events, *(streaming("START", second, "", run) for second, run in ((200, 4), (190, 5)))])
    catalog = Catalog(lineage, Graph(lineage), parse_time(at(3000)))
    durations = [catalog.run(run)["durationMs"] for run in lineage.jobs[JOB].runs.values()]
    assert all(duration is None or duration >= 0 for duration in durations)
    assert 0 in durations


def test_vanished_edges_carry_time_run_and_reason():
    batch = folded([said("COMPLETE", 0, "ab>x"), said("START", 10, "a>x", 2), said("COMPLETE", 12, "", 2)])
    snapshots = folded([window("RUNNING", 0, "ab>x"), window("RUNNING", 10, "a>x"), window("RUNNING", 20, "a>x")])
    found = [derive_job_lineage(lineage.jobs[JOB]).vanished[0] for lineage in (batch, snapshots)]
    assert [(edge.dataset.name, edge.since, edge.run, edge.reason) for edge in found] == [
        ("b", parse_time(at(10)), run_id(2), "a later run does not name it"),
        ("b", parse_time(at(0)), run_id(1), "a later complete snapshot of the run does not name it"),
    ]


def test_run_lists_the_datasets_of_its_last_snapshot():
    run = folded([window("RUNNING", 0, "ab>x"), window("RUNNING", 10, "a>x")]).run(run_id(1))
    assert ([d.name for d in run.inputs], [d.name for d in run.named(Direction.INPUT)]) == (["a"], ["a", "b"])


# Facets that describe a dataset.

TABLE = DatasetId("s3://warehouse", "t")
SPARK_53, SPARK_54 = (f"https://example.org/tree/{version}/integration/spark" for version in ("1.53.0", "1.54.0"))
FLINK = "https://example.org/integration/flink"


def described(tool, **facets):
    return dataset("t", **{name: {**content, "_producer": tool} for name, content in facets.items()})


def tags(*names):
    return {"tags": [{"key": name, "value": "true", "source": "TEST"} for name in names]}


def owners(*names):
    return {"owners": [{"name": name} for name in names]}


def writes(second, table):
    return read(body("RUNNING", second, outputs=[table]))


def reads(second, table):
    return read(body("RUNNING", second, run=2, job="reader", inputs=[table]))


DELETED = {"_deleted": True}


@pytest.mark.parametrize(
    ("name", "events", "expected"),
    [
        (
            "tags",
            [writes(0, described(SPARK_53, tags=tags("pii"))), reads(1, described(FLINK, tags=tags("raw")))],
            ["pii", "raw"],
        ),
        (
            "tags",
            [writes(0, described(SPARK_53, tags=tags("pii"))), reads(1, described(SPARK_53, tags=tags()))],
            ["pii"],
        ),
        (
            "tags",
            [writes(0, described(SPARK_53, tags=tags("pii"))), writes(1, described(FLINK, tags=DELETED))],
            ["pii"],
        ),
        ("tags", [writes(0, described(SPARK_53, tags=tags("pii"))), writes(1, described(SPARK_53, tags=DELETED))], []),
        (
            "tags",
            [writes(0, described(SPARK_53, tags=tags("old"))), writes(1, described(SPARK_54, tags=tags("new")))],
            ["new"],
        ),
        (
            "tags",
            [read(dataset_event(5, described(FLINK, tags=tags("a")))), writes(6, described(SPARK_54, tags=tags("b")))],
            ["a", "b"],
        ),
        (
            "ownership",
            [writes(0, described(SPARK_53, ownership=owners("x"))), reads(1, described(FLINK, ownership=owners("y")))],
            ["x", "y"],
        ),
        (
            "ownership",
            [writes(1, described(SPARK_53, ownership=owners("x"))), writes(0, described(FLINK, ownership=owners("x")))],
            ["x"],
        ),
        (
            "documentation",
            [
                writes(0, described(SPARK_53, documentation={"description": "w"})),
                reads(1, described(FLINK, documentation={"description": "r"})),
            ],
            ["w"],
        ),
        (
            "documentation",
            [
                writes(0, described(SPARK_53, documentation={"description": "w"})),
                writes(1, described(FLINK, documentation=DELETED)),
            ],
            ["w"],
        ),
        (
            "documentation",
            [
                reads(0, described(SPARK_53, documentation={"description": "r"})),
                writes(1, described(FLINK, documentation=DELETED)),
            ],
            ["r"],
        ),
    ],
)
def test_producers_describe_a_dataset_independently(name, events, expected):
    for lineage in arrivals(events):
        value = lineage.datasets[TABLE].all_facets().get(name, {})
        rows = value.get("tags") or value.get("owners") or []
        shown = [row.get("key") or row["name"] for row in rows] or [value[k] for k in ("description",) if k in value]
        assert shown == expected


def test_reader_does_not_replace_the_version_that_the_writer_states():
    lineage = folded(
        [
            writes(0, described(SPARK_53, version={"datasetVersion": "9"})),
            reads(5, described(FLINK, version={"datasetVersion": "3"})),
        ]
    )
    assert lineage.datasets[TABLE].facet("version")["datasetVersion"] == "9"


def test_tags_of_a_job_are_merged_over_producers():
    both = [
        said("START", 0, job_type={"tags": {**tags(name), "_producer": tool}})
        for name, tool in (("a", FLINK), ("b", SPARK_53))
    ]
    for lineage in arrivals(both):
        assert [tag["key"] for tag in lineage.jobs[JOB].facets.get("tags")["tags"]] == ["a", "b"]


def test_transfer_facets_are_kept_per_run_and_dataset():
    read_rows = {
        **dataset("a"),
        "inputFacets": {"inputStatistics": facet(rowCount=3), "dataQualityMetrics": facet(rowCount=3)},
    }
    written = {**dataset("x"), "outputFacets": {"outputStatistics": facet(rowCount=2)}}
    events = [
        read(body("RUNNING", 0, inputs=[read_rows], outputs=[written])),
        read(body("RUNNING", 9, inputs=[{**dataset("a"), "inputFacets": {"inputStatistics": facet(rowCount=8)}}])),
        read(body("COMPLETE", 9, run=2, inputs=[dataset("a")])),
    ]
    for lineage in arrivals(events):
        first, second = lineage.run(run_id(1)), lineage.run(run_id(2))
        a, x = (DatasetId("s3://warehouse", name) for name in "ax")
        found = {name: value["rowCount"] for name, value in first.transfer_facets(Direction.INPUT, a).items()}
        assert found == {"inputStatistics": 8, "dataQualityMetrics": 3}
        assert first.transfer_facets(Direction.OUTPUT, x)["outputStatistics"]["rowCount"] == 2
        assert second.transfer_facets(Direction.INPUT, a) == {}
        assert "inputStatistics" not in lineage.datasets[a].all_facets()
