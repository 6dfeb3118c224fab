# SPDX-License-Identifier: Apache-2.0
"""Reads of many changed jobs, sorting and freeing yield to the event loop after each slice."""

import asyncio
import weakref

import httpx
import pytest
from lineage_client import JSON, admin_headers
from lineage_events import RULES, body, dataset, encode, schema
from test_lineage_api import with_client

from lineage.api import create_app
from lineage.api.time_slices import sorted_in_slices
from lineage.graph import Graph
from lineage.retired_records import free_in_slices
from lineage.settings import Settings
from lineage.store import EventLog

JOBS = 1_000


def events(count):
    return [
        body("COMPLETE", run=number, job=f"job{number}", outputs=[dataset(f"t{number}", schema=schema("a"))])
        for number in range(count)
    ]


async def yields_during(awaitable):
    """Await something; return its result and how often the event loop ran meanwhile."""
    count = 0

    async def watch():
        nonlocal count
        while True:
            await asyncio.sleep(0)
            count += 1

    watching = asyncio.create_task(watch())
    result = await awaitable
    watching.cancel()
    return result, count


def test_items_are_sorted_and_freed_in_slices():
    async def check():
        items = [(number * 7919 % 20_011, "x") for number in range(20_000)]
        found, count = await yields_during(sorted_in_slices(items, lambda item: item[0]))
        assert list(found) == sorted(items)
        assert count >= 9
        _, count = await yields_during(free_in_slices(items))
        assert (items, count >= 19) == ([], True)

    asyncio.run(check())


@pytest.mark.parametrize(
    ("method", "path", "content"),
    [
        ("GET", "/summaries", None),
        ("GET", "/jobs", None),
        ("GET", "/lineage?nodeId=job:tests:job1", None),
        ("PUT", "/namespaces/tests/jobs/new", {"type": "BATCH", "inputs": [], "outputs": []}),
    ],
)
def test_many_changed_jobs_are_derived_in_slices(tmp_path, monkeypatch, method, path, content):
    derived = []
    refresh_some = Graph.refresh_some

    def counting(self, limit):
        before = len(self._lineage.touched)
        more = refresh_some(self, limit)
        derived.append(before - len(self._lineage.touched))
        return more

    async def scenario(client):
        monkeypatch.setattr(Graph, "refresh_some", counting)
        sent = encode(events(JOBS))
        assert (await client.post("/api/v1/lineage/batch", content=sent, headers=JSON)).status_code == 200
        assert (await client.request(method, f"/api/v1{path}", json=content)).status_code in (200, 404)
        assert sum(derived) >= JOBS
        assert max(derived) <= 25

    with_client(tmp_path, scenario)


def test_a_rebuild_frees_the_records_that_it_replaces(tmp_path):
    async def check():
        settings = Settings(host="127.0.0.1", port=0, data=tmp_path, rules=None)
        app = create_app(settings, RULES, EventLog(tmp_path), {})
        transport = httpx.ASGITransport(app)
        headers = admin_headers(tmp_path)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as client,
        ):
            await client.post("/api/v1/lineage/batch", content=encode(events(3)), headers=JSON)
            service = app.state.service
            before = weakref.ref(service.lineage)
            assert (await client.post("/api/v1/rebuild")).json()["equal"]
            assert before() is None
            async with asyncio.timeout(30):
                while service._retiring:
                    await asyncio.sleep(0.05)
            assert len((await client.get("/api/v1/graph")).json()["jobs"]) == 3

    asyncio.run(check())
