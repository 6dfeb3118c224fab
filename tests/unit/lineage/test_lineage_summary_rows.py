# SPDX-License-Identifier: Apache-2.0
"""Kept summaries: after each event they equal those of the records, also of records that left memory."""

import json
import random

import pytest
from lineage_events import body, dataset, facet, read
from test_lineage_past import LOGICAL, history
from test_lineage_run_archive import Restarts

from lineage.events import JobId
from lineage.events.own_facets import CatalogKey, EntryKind
from lineage.events.timestamps import parse_time
from lineage.graph import Graph, LineageRecords, is_stale, summary_rows
from lineage.graph.summaries import dataset_summary, job_description, run_summary
from lineage.graph.summary_rows import SummaryRows
from lineage.marquez.write_events import catalog_event, deletion_of_job

HOUR = 3_600 * 10**9


def contents(rows, graph, times):
    """Return all datasets and, at each time (ns), all jobs."""
    for _ in rows.steps(graph):
        pass
    found = {name: json.loads(b"{%b}" % members) for name, members in rows.datasets.items()}
    jobs = {}
    for now in times:
        for job in graph.job_lineages:
            members = rows.job(job, graph, now)
            assert members is not None, "the graph is refreshed, so that each job has a row"
            jobs[job, now] = json.loads(b"{%b}" % members)
    return found, jobs


def expected(lineage, graph, times):
    """Return what `contents` returns for rows that are up to date, from the records alone."""
    datasets = {
        name: dataset_summary(lineage, record)
        for name, record in lineage.datasets.items()
        if not lineage.catalog.is_deleted_dataset(record)
    }
    jobs = {}
    for now in times:
        for job in graph.job_lineages:
            record, run = lineage.jobs[job], graph.latest_run(job)
            stale = run is not None and is_stale(lineage, run, now)
            jobs[job, now] = {**job_description(lineage, record, run), **run_summary(lineage, run, now), "stale": stale}
    return datasets, jobs


def with_deletions(seed):
    """Return a history in which jobs change owner, and a job and a namespace are deleted before further events."""
    events, chance = history(seed), random.Random(seed)
    for content in chance.sample([content for content in events if "job" in content], 6):
        content["job"].setdefault("facets", {})["ownership"] = facet(owners=[{"name": chance.choice("rs")}])
    for at, deletion in (
        (len(events) // 2, lambda time: deletion_of_job(time, JobId(events[0]["job"]["namespace"], "batch"))),
        (
            2 * len(events) // 3,
            lambda time: catalog_event(time, CatalogKey(EntryKind.NAMESPACE, LOGICAL), {"deleted": True}),
        ),
    ):
        events.insert(at, deletion(parse_time(events[at]["eventTime"])))
    return events


@pytest.mark.parametrize("seed", range(8))
def test_kept_summaries_equal_those_of_the_records_after_every_event(seed):
    chance = random.Random(seed)
    events = with_deletions(seed)
    for at in chance.sample(range(len(events)), 8):  # some arrive late
        events.insert(min(len(events), at + chance.randrange(40)), events.pop(at))
    lineage = LineageRecords()
    graph, rows = Graph(lineage), SummaryRows(lineage)
    for content in events:
        event = read(content)
        lineage.apply(event)
        if chance.random() < 0.4:
            continue  # the next request sees several changes
        graph.refresh()
        times = [event.order.time, event.order.time + 25 * 10**9, event.order.time + HOUR]
        assert contents(rows, graph, times) == expected(lineage, graph, times)


@pytest.mark.parametrize("seed", range(3))
def test_kept_summaries_equal_those_of_the_records_if_records_leave_memory(tmp_path, seed):
    service = Restarts(tmp_path, max_recalled=1, max_in_memory=1)
    rows = None
    for count, content in enumerate(with_deletions(seed)):
        service.store(content)
        if count % 10 == 9:
            lineage, graph = service.state.lineage, service.state.graph
            graph.refresh()
            rows = rows if rows and rows.lineage is lineage else SummaryRows(lineage)
            times = [parse_time(content["eventTime"]) + HOUR]
            assert contents(rows, graph, times) == expected(lineage, graph, times)
            service.save()
    service.close()


def test_a_row_whose_job_is_not_derived_yet_is_updated_by_the_next_call():
    lineage = LineageRecords()
    graph, rows = Graph(lineage), SummaryRows(lineage)
    lineage.apply(read(body("START", run=1, job="etl", outputs=[dataset("a")])))
    graph.refresh()
    steps = rows.steps(graph)
    lineage.apply(read(body("COMPLETE", 5, run=1, job="etl", outputs=[dataset("a")])))
    for _ in steps:
        pass
    (job,) = graph.job_lineages
    assert rows.job(job, graph, 0) is None
    graph.refresh()
    (_, jobs) = contents(rows, graph, [0])
    assert jobs[job, 0]["state"] == "COMPLETED"


def test_a_request_beside_another_one_sees_all_rows(monkeypatch):
    monkeypatch.setattr(summary_rows, "_ROWS_PER_STEP", 1)
    lineage = LineageRecords()
    for content in with_deletions(1):
        lineage.apply(read(content))
    graph, rows = Graph(lineage), SummaryRows(lineage)
    graph.refresh()
    first = rows.steps(graph)
    for _ in zip(range(len(lineage.datasets) + 2), first, strict=False):
        pass  # the first request has encoded the datasets and a job
    assert contents(rows, graph, [HOUR]) == expected(lineage, graph, [HOUR])
    for _ in first:
        pass
    assert contents(rows, graph, [HOUR]) == expected(lineage, graph, [HOUR])


def test_a_row_that_could_not_be_encoded_is_tried_again(monkeypatch):
    lineage = LineageRecords()
    lineage.apply(read(body("COMPLETE", run=1, job="etl", outputs=[dataset("a")])))
    graph, rows = Graph(lineage), SummaryRows(lineage)
    graph.refresh()
    with monkeypatch.context() as patched:
        patched.setattr(summary_rows, "dataset_summary", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            list(rows.steps(graph))
    assert contents(rows, graph, [HOUR]) == expected(lineage, graph, [HOUR])
