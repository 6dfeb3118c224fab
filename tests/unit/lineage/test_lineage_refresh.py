# SPDX-License-Identifier: Apache-2.0
"""When the lineage of changed jobs is derived ahead of the next read."""

import asyncio
import threading

import pytest
from lineage_client import JSON
from lineage_events import body, dataset, encode
from test_lineage_api import with_client

from lineage.graph import Graph
from lineage.store import EventLog

COMMIT_SECONDS = 30


def events(first, count):
    return [
        body("COMPLETE", run=number, job=f"job{number}", outputs=[dataset(f"t{number}")])
        for number in range(first, first + count)
    ]


@pytest.fixture
def commits(monkeypatch):
    """Semaphore of the commits that may be made; further ones wait, the next one `begun`."""
    allowed, append = threading.Semaphore(0), EventLog.append
    allowed.begun = threading.Event()

    def waiting(self, *arguments):
        allowed.begun.set()
        assert allowed.acquire(timeout=COMMIT_SECONDS)
        return append(self, *arguments)

    monkeypatch.setattr(EventLog, "append", waiting)
    return allowed


@pytest.fixture
def derived(monkeypatch):
    """Names of the jobs whose lineage was derived."""
    found, derive = [], Graph._derived

    def noting(self, record):
        found.append(record.id.name)
        return derive(self, record)

    monkeypatch.setattr(Graph, "_derived", noting)
    return found


@pytest.mark.parametrize(("count", "early"), [(1, 0), (150, 50)])
def test_jobs_are_derived_when_no_event_waits_or_many_have_changed(tmp_path, commits, derived, count, early):
    async def post(client, first, number):
        answer = await client.post("/api/v1/lineage/batch", content=encode(events(first, number)), headers=JSON)
        assert answer.status_code == 200

    async def scenario(client):
        first = asyncio.create_task(post(client, 0, count))
        assert await asyncio.to_thread(commits.begun.wait, COMMIT_SECONDS)
        second = asyncio.create_task(post(client, count, 1))
        while (await client.get("/api/v1/stats")).json()["waiting"] < count + 1:
            await asyncio.sleep(0.01)
        commits.release()
        await first
        while len(derived) < early:
            await asyncio.sleep(0.01)
        assert len(derived) == early
        commits.release()
        await second
        while len(derived) < count + 1:
            await asyncio.sleep(0.01)
        assert set(derived) == {f"job{number}" for number in range(count + 1)}

    async def in_time(client):
        async with asyncio.timeout(COMMIT_SECONDS):
            await scenario(client)

    with_client(tmp_path, in_time)
