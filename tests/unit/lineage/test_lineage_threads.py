# SPDX-License-Identifier: Apache-2.0
"""Calls in threads end before what they use is closed."""

import asyncio
import threading

import pytest
from lineage_events import RULES, body, encode

from lineage import service
from lineage.api import create_app
from lineage.graph import records
from lineage.settings import Settings
from lineage.store import EventLog, projection
from lineage.store.state_file import StateFile
from lineage.threads import run_to_end


def test_a_cancelled_call_ends_first():
    begun, released, ended = threading.Event(), threading.Event(), []

    def work():
        begun.set()
        released.wait(30)
        ended.append(True)

    async def check():
        call = asyncio.create_task(run_to_end(work))
        await asyncio.to_thread(begun.wait, 30)
        for _ in range(2):
            call.cancel()
            await asyncio.sleep(0)
        assert not call.done()
        released.set()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert ended

    asyncio.run(check())


def test_result_and_error_of_a_call_are_those_of_the_function():
    assert asyncio.run(run_to_end(divmod, 7, 2)) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        asyncio.run(run_to_end(divmod, 7, 0))


def test_a_stop_during_a_checkpoint_closes_the_state_after_it(tmp_path, monkeypatch):
    steps, begun, commit, close = [], threading.Event(), StateFile.commit, StateFile.close

    def slow_commit(state, position):
        steps.append("begun")
        begun.set()
        threading.Event().wait(0.3)
        commit(state, position)
        steps.append("ended")

    settings = Settings(host="127.0.0.1", port=0, data=tmp_path, rules=None, checkpoint_seconds=0.01)

    async def check():
        app = create_app(settings, RULES, EventLog(tmp_path))
        monkeypatch.setattr(StateFile, "commit", slow_commit)
        monkeypatch.setattr(StateFile, "close", lambda state: (steps.append("closed"), close(state)))
        async with app.router.lifespan_context(app):
            await app.state.service.ingest(encode(body("START", 0)))
            await asyncio.to_thread(begun.wait, 30)

    asyncio.run(check())
    assert steps[-1] == "closed"
    assert steps[:-1] == ["begun", "ended"] * (len(steps) // 2)


def test_what_requests_read_leaves_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "MAX_JOBS", 1)
    monkeypatch.setattr(service, "_RELEASE_PAUSE", 0.01)
    settings = Settings(host="127.0.0.1", port=0, data=tmp_path, rules=None, checkpoint_seconds=3600)

    async def check(events):
        app = create_app(settings, RULES, EventLog(tmp_path))
        async with app.router.lifespan_context(app):
            await app.state.service.ingest_batch(encode(events))
            jobs = app.state.service.lineage.jobs
            assert len(list(jobs.values())) == 8
            async with asyncio.timeout(60):
                while events == [] and jobs.size_in_memory > 1:
                    await asyncio.sleep(0.01)

    asyncio.run(check([body("START", 0, run=number, job=f"job {number}") for number in range(8)]))
    asyncio.run(check([]))


def test_many_changes_make_a_checkpoint_before_it_is_due(tmp_path, monkeypatch):
    monkeypatch.setattr(projection, "MAX_UNSAVED", 5)
    settings = Settings(host="127.0.0.1", port=0, data=tmp_path, rules=None, checkpoint_seconds=3600)

    async def check():
        app = create_app(settings, RULES, EventLog(tmp_path))
        async with app.router.lifespan_context(app):
            state = app.state.service._state.state
            before = state.position
            await app.state.service.ingest(encode(body("START", 0)))
            await app.state.service.ingest_batch(encode([body("START", 0, run=number) for number in range(2, 9)]))
            async with asyncio.timeout(60):
                while state.position == before:
                    await asyncio.sleep(0.01)

    asyncio.run(check())
