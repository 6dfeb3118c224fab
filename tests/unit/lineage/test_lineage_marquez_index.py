# SPDX-License-Identifier: Apache-2.0
"""Sorted names, lists and search, compared with sorting and scanning everything."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lineage_events import NAMESPACE, body, dataset, event
from test_lineage_api import get, post, with_client

from lineage.api import time_slices
from lineage.events import JobId
from lineage.graph import LineageRecords, fold_events
from lineage.graph.job_record import JobRecord
from lineage.graph.mergeable import Span
from lineage.marquez import Index, Query, Search
from lineage.marquez import names as names_module
from lineage.marquez.names import SortedNames

NAMES = st.text("abAB_/.ß", min_size=1, max_size=4)


@pytest.fixture(autouse=True)
def _small_buckets(monkeypatch):
    monkeypatch.setattr(names_module, "_MAX_BUCKET_SIZE", 4)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(NAMES), st.integers(0, 10), st.integers(0, 10), NAMES)
def test_sorted_names_equal_a_sorted_set(added, offset, limit, text):
    names = SortedNames()
    for name in added:
        names.add(name)
    everything = sorted(set(added))
    assert list(names) == everything
    assert len(names) == len(everything)
    assert names.page(offset, limit) == everything[offset : offset + limit]
    held = [name for part in names.containing(text.lower()) for name in part]
    assert held == [name for name in everything if text.lower() in name.lower()]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(NAMES, min_size=1), st.lists(NAMES), st.integers(0, 5))
def test_concurrent_additions_hide_no_name(before, later, at):
    names = SortedNames()
    for name in before:
        names.add(name)
    seen = []
    for place, name in enumerate(names):
        seen.append(name)
        if place == at:
            for more in later:
                names.add(more)
    assert set(before) <= set(seen)
    assert seen == sorted(set(seen))


def _index(lineage):
    index = Index(lineage)
    for _ in index.steps():
        pass
    return index


def test_index_update_adds_only_new_names():
    lineage = fold_events([event(job=f"j{i}", run=i, outputs=[dataset(f"t{i}")]) for i in range(5000)])
    index = Index(lineage)
    assert sum(1 for _ in index.steps()) > 2
    assert index.jobs.page(None, 0, 5000) == sorted(lineage.jobs)
    assert index.datasets.page("s3://warehouse", 10, 3) == sorted(lineage.datasets)[10:13]
    lineage.apply(event(job="j", outputs=[dataset("a", "other")]))
    assert sum(1 for _ in index.steps()) == 2
    assert (index.jobs.count(), index.jobs.count(NAMESPACE), index.datasets.count("other")) == (5001, 5001, 1)
    assert list(index.datasets.namespaces) == ["other", "s3://warehouse"]
    assert sum(1 for _ in index.steps()) == 0


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    st.sets(st.tuples(st.sampled_from(["n", "m"]), NAMES)),
    NAMES,
    st.none() | st.sampled_from(["n", "m", "o"]),
    st.booleans(),
    st.integers(0, 4),
)
def test_search_equals_a_full_scan(jobs, text, namespace, by_update, limit):
    lineage = LineageRecords()
    for number, job in enumerate(sorted(jobs, key=hash)):
        order = event(second=number).order
        lineage.jobs[JobId(*job)] = JobRecord(JobId(*job), Span(order, order))
    search = Search(_index(lineage), Query(text, None, namespace, by_update=by_update, limit=limit))
    for _ in search.steps():
        pass
    hits = [job for job in jobs if text.lower() in job[1].lower() and namespace in (None, job[0])]
    if by_update:
        hits.sort(key=lambda job: lineage.jobs[JobId(*job)].span.last, reverse=True)
    else:
        hits.sort(key=lambda job: (job[1], job[0]))
    found = {"totalCount": search.total, "results": list(search.rows())}
    assert found["totalCount"] == len(hits)
    assert [(hit["namespace"], hit["name"]) for hit in found["results"]] == hits[:limit]


def test_search_by_day_of_the_last_event(tmp_path):
    async def scenario(client):
        old = body(job="old", run=1) | {"eventTime": "2025-12-31T23:59:59.999Z"}
        for content in (old, body(job="new", run=2)):
            assert (await post(client, content)).status_code == 201

        async def named(q, **parameters):
            return [hit["name"] for hit in (await get(client, "/search", q=q, **parameters))["results"]]

        assert await named("e") == ["new"]
        assert await named("old", before="2026-01-01") == ["old"]
        assert await named("old", after="2026-01-01") == []
        assert await named("new", after="2026-01-01", before="2026-01-02") == ["new"]
        assert await named("N", namespace="none") == []

    with_client(tmp_path, scenario)


def test_lists_stay_sorted_as_they_grow(tmp_path):
    async def scenario(client):
        for number in range(20):
            await post(client, body(job=f"j{number % 7}-{number}", run=number, outputs=[dataset(f"t{number}")]))
            page = await get(client, "/jobs", limit=5, offset=3)
            assert page["totalCount"] == number + 1
            named = [job["name"] for job in (await get(client, "/jobs"))["jobs"]]
            assert named == sorted(named)
            assert [job["name"] for job in page["jobs"]] == named[3:8]
        tables = (await get(client, "/namespaces/s3://warehouse/datasets", limit=3))["datasets"]
        assert [table["name"] for table in tables] == ["t0", "t1", "t10"]

    with_client(tmp_path, scenario)


def test_list_built_in_slices_tolerates_concurrent_events(tmp_path):
    async def scenario(client):
        for number in range(60):
            await post(client, body(job=f"j{number:02}", run=number))
        lists = [asyncio.create_task(client.get("/api/v1/jobs?lastRunStates=RUNNING")) for _ in range(5)]
        more = [asyncio.create_task(post(client, body(job=f"k{number}", run=100 + number))) for number in range(20)]
        for answer in await asyncio.gather(*lists):
            found = [job["name"] for job in answer.json()["jobs"]]
            assert found == sorted(found)
            assert {f"j{number:02}" for number in range(60)} <= set(found)
        assert {answer.status_code for answer in await asyncio.gather(*more)} == {201}

    with_client(tmp_path, scenario)


@pytest.mark.parametrize("path", ["lineage", "impact", "column-lineage"])
def test_oversized_response_is_rejected_with_a_remedy(tmp_path, monkeypatch, path):
    monkeypatch.setattr(time_slices, "MAX_FOUND", 20)

    async def scenario(client):
        source = {"namespace": "s3://warehouse", "name": "a", "field": "x"}
        columns = {"fields": {"x": {"inputFields": [source]}}}
        for number in range(30):
            out = dataset(f"t{number}", columnLineage=columns)
            await post(client, body(job=f"j{number}", run=number, inputs=[dataset("a")], outputs=[out]))
        node = "dataset:s3://warehouse:a" if path == "lineage" else "datasetField:s3://warehouse:a:x"
        response = await client.get(f"/api/v1/{path}?nodeId={node}&withDownstream=true&depth=9")
        assert response.status_code == 422
        error = response.json()["error"]
        assert (error["code"], error["details"]) == ("too_much", {"field": "depth", "limit": 20})
        assert "depth" in error["message"]

    with_client(tmp_path, scenario)
