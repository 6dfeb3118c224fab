# SPDX-License-Identifier: Apache-2.0
"""Versions of datasets and jobs, upstream runs and counts in the Marquez API."""

import gc
import weakref
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from lineage_events import NAMESPACE, at, dataset, event, run_id, schema

from lineage.events import DatasetId, JobId
from lineage.events.timestamps import format_time, parse_time
from lineage.graph import Graph, fold_events
from lineage.graph.mergeable import Span
from lineage.marquez import Catalog, UpstreamRuns, job_version_id
from lineage.marquez import catalog as marquez_catalog
from lineage.marquez.stats import EventCounts, Growth, Period, intervals_of

TABLE = DatasetId("s3://warehouse", "t")
JOB = JobId(NAMESPACE, "job")


def reading(*events):
    lineage = fold_events(events)
    graph = Graph(lineage)
    graph.refresh()
    return lineage, graph, Catalog(lineage, graph, 0)


def snapshot(number):
    return {"datasetVersion": str(number)}


def output_versions(catalog, lineage, number, job=JOB):
    run = catalog.run(lineage.run(run_id(number), job))
    return [version["datasetVersionId"]["version"] for version in run["outputDatasetVersions"]]


def test_identical_write_creates_no_version_and_refers_to_the_existing_one():
    same = dataset("t", schema=schema("a"))
    lineage, _, catalog = reading(*(event("START", i, run=i, outputs=[same]) for i in range(3)))
    versions = catalog.dataset_versions(TABLE)
    assert len(versions.all) == 1
    assert [output_versions(catalog, lineage, i) for i in range(3)] == [[versions.current_id]] * 3


def test_table_format_versions_are_distinct_and_a_bare_write_refers_to_the_current():
    lineage, _, catalog = reading(
        event("START", 0, run=0, outputs=[dataset("t", schema=schema("a"), version=snapshot(7))]),
        event("START", 10, run=1, outputs=[dataset("t", version=snapshot(8))]),
        event("START", 20, run=2, outputs=[dataset("t")]),
    )
    versions = catalog.dataset_versions(TABLE)
    assert [(version.version, len(version.fields)) for version in versions.all] == [("7", 1), ("8", 1)]
    old, new = map(versions.id_of, versions.all)
    assert [output_versions(catalog, lineage, i) for i in range(3)] == [[old], [new], [new]]
    assert catalog.dataset(TABLE)["currentVersion"] == new
    assert versions.find(old) == versions.all[0]
    assert versions.find("none") is None


def test_catalog_keeps_the_versions_of_few_datasets(monkeypatch):
    monkeypatch.setattr(marquez_catalog, "MAX_CACHED", 2)
    names = [f"t{number}" for number in range(5)]
    outputs = [dataset(name, schema=schema("a")) for name in names]
    lineage, _, catalog = reading(event("COMPLETE", 0, run=0, outputs=outputs))
    tables = [DatasetId(TABLE.namespace, name) for name in names]
    records = [weakref.ref(catalog.dataset_versions(table)) for table in tables]
    gc.collect()
    assert [reference() is not None for reference in records] == [False, False, False, True, True]
    assert catalog.dataset_versions(tables[4]) is records[4]()
    rendered = catalog.run(lineage.run(run_id(0), JOB))["outputDatasetVersions"]
    assert [row["datasetVersionId"]["name"] for row in rendered] == names


def test_reading_an_old_version_does_not_make_it_current():
    lineage, _, catalog = reading(
        event("START", 0, run=0, outputs=[dataset("t", schema=schema("a"), version=snapshot(7))]),
        event("START", 10, run=1, outputs=[dataset("t", schema=schema("a", "b"), version=snapshot(8))]),
        event("START", 20, run=2, job="reader", inputs=[dataset("t", schema=schema("a"), version=snapshot(7))]),
    )
    versions = catalog.dataset_versions(TABLE)
    old, new = map(versions.id_of, versions.all)
    assert versions.current_id == new
    read = catalog.run(lineage.run(run_id(2)))["inputDatasetVersions"][0]["datasetVersionId"]
    assert read == {"namespace": TABLE.namespace, "name": "t", "version": old}


def test_reverted_schema_is_the_current_version_again():
    schemas = (schema("a"), schema("b"), schema("a"))
    _, _, catalog = reading(
        *(event("START", i, run=i, outputs=[dataset("t", schema=facet)]) for i, facet in enumerate(schemas))
    )
    versions = catalog.dataset_versions(TABLE)
    assert versions.current_id == versions.id_of(versions.all[0])


def test_dataset_without_facets_has_a_current_version_and_an_empty_list():
    lineage, _, catalog = reading(event("START", 0, outputs=[dataset("t")]))
    assert catalog.dataset_versions(TABLE).all == []
    assert [catalog.dataset(TABLE)["currentVersion"]] == output_versions(catalog, lineage, 1)


def test_job_versions_are_the_dataset_sets_of_its_runs():
    lineage, _, catalog = reading(
        event("START", 0, run=0, inputs=[dataset("a")], outputs=[dataset("t")]),
        event("START", 10, run=1, inputs=[dataset("a"), dataset("b")], outputs=[dataset("t")]),
        event("COMPLETE", 20, run=2, inputs=[dataset("a")], outputs=[dataset("t")]),
        event(None, 30, run=None, inputs=[dataset("c")]),
    )
    found = [catalog.job_version(JOB, version) for version in catalog.job_versions(JOB)]
    shown = [
        ([item["name"] for item in row["inputs"]], row["createdAt"], row["latestRun"] and row["latestRun"]["id"])
        for row in found
    ]
    time = {second: format_time(parse_time(at(second))) for second in (0, 10, 30)}
    assert shown == [
        (["a", "c"], time[30], None),
        (["a", "b"], time[10], run_id(1)),
        (["a"], time[0], run_id(2)),
    ]
    assert catalog.job(JOB)["currentVersion"] == found[0]["version"]
    assert {catalog.run(run)["jobVersion"]["version"] for run in lineage.jobs[JOB].runs.values()} == {
        row["version"] for row in found[1:]
    }
    assert job_version_id(JOB, [], []) not in {row["version"] for row in found}


def upstream(events, number, depth=20):
    lineage, graph, catalog = reading(*events)
    found = UpstreamRuns(catalog, lineage, graph, lineage.run(run_id(number)), depth)
    for _ in found.steps():
        pass
    rows = found.result()["runs"]
    return [(row["run"]["id"], [item["producedByRunId"] for item in row["inputs"]]) for row in rows]


def test_last_writer_before_the_reader_started_is_upstream():
    events = [event("START", i, run=i, job="writer", outputs=[dataset("t")]) for i in (1, 5, 9)]
    events.append(event("START", 7, run=7, job="reader", inputs=[dataset("t")]))
    assert upstream(events, 7) == [(run_id(7), [run_id(5)]), (run_id(5), [])]
    assert upstream(events, 7, depth=0) == [(run_id(7), [run_id(5)])]


def test_dataset_version_identifies_the_upstream_run():
    events = [event("START", i, run=i, job="writer", outputs=[dataset("t", version=snapshot(i))]) for i in (1, 5)]
    events.append(event("START", 7, run=7, job="reader", inputs=[dataset("t", version=snapshot(1))]))
    assert upstream(events, 7) == [(run_id(7), [run_id(1)]), (run_id(1), [])]


def test_stream_started_after_its_reader_is_upstream_and_cycles_terminate():
    events = [
        event("START", 1, run=1, job="reader", inputs=[dataset("t")], outputs=[dataset("back")], streaming=True),
        event("START", 2, run=2, job="writer", inputs=[dataset("back")], outputs=[dataset("t")], streaming=True),
        event("RUNNING", 9, run=1, job="reader", streaming=True),
    ]
    assert upstream(events, 1) == [(run_id(1), [run_id(2)]), (run_id(2), [run_id(1)])]


def ns(text):
    return parse_time(text)


def test_day_is_24_hours_and_week_is_seven_local_days():
    now = ns("2026-03-29T10:30:00Z")
    day = intervals_of(Period.DAY, UTC, now).rows()
    assert (len(day), day[0]["startInterval"], day[-1]["endInterval"]) == (
        24,
        "2026-03-28T11:00:00.000000Z",
        "2026-03-29T11:00:00.000000Z",
    )
    week = intervals_of(Period.WEEK, ZoneInfo("Europe/Berlin"), now).rows()
    # Daylight saving time begins on the last of these days, which therefore has 23 hours.
    assert (len(week), week[-1]["startInterval"], week[-1]["endInterval"]) == (
        7,
        "2026-03-28T23:00:00.000000Z",
        "2026-03-29T22:00:00.000000Z",
    )


def test_counts_of_runs_and_nodes():
    lineage, _, _ = reading(
        event("START", 0, run=1),
        event("FAIL", 1, run=1),
        event("COMPLETE", 2, run=1),
        event("START", 3, run=2),
        event("COMPLETE", 4, run=2),
        event("START", 5, run=3, job="other", outputs=[dataset("t")]),
        event("ABORT", 6, run=3, job="other"),
    )
    within = intervals_of(Period.DAY, UTC, int(datetime(2026, 1, 1, 1, 30, tzinfo=UTC).timestamp()) * 10**9)
    counts = EventCounts(within)
    for job in lineage.jobs.values():
        counts.add(job)
    hour = next(row for row in counts.rows() if row["start"])
    assert {key: hour[key] for key in ("start", "fail", "complete", "abort")} == {
        "start": 3,
        "fail": 1,
        "complete": 1,
        "abort": 1,
    }
    assert hour["startInterval"] == "2026-01-01T00:00:00.000000Z"
    assert sum(row[key] for row in counts.rows() for key in ("start", "fail", "complete", "abort")) == 6
    growth = Growth(within)
    long_ago = event(second=0).order._replace(time=0)
    growth.add([*(job.span for job in lineage.jobs.values()), Span(long_ago, long_ago)])
    assert [row["count"] for row in growth.rows()] == [1] * 22 + [3, 3]


@pytest.mark.parametrize("period", list(Period))
def test_nodes_outside_the_period_are_not_counted_as_new(period):
    growth = Growth(intervals_of(period, UTC, ns("2026-01-10T00:00:00Z")))
    later = event(second=0).order._replace(time=ns("2026-02-01T00:00:00Z"))
    growth.add([Span(later, later)])
    assert {row["count"] for row in growth.rows()} == {0}
