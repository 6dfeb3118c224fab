# SPDX-License-Identifier: Apache-2.0
"""Queries of past graphs by a subprocess: what they return, and what stays in memory."""

import asyncio
import json
import signal
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lineage_events import dataset, event, originals

from lineage.api.responses import packed_response
from lineage.store import EventLog, as_of_queries, query_processes
from lineage.store.as_of_protocol import WAIT
from lineage.store.as_of_queries import AsOfQueries
from lineage.store.compression import compress
from lineage.store.packed_answer import PackedAnswer
from lineage.store.query_processes import QueryProcesses


@pytest.fixture
def queries(tmp_path, monkeypatch):
    """Queries of a log of 3 jobs, two at a time; `runs` has the times of those that a process answered."""
    log = EventLog(tmp_path)
    made = [event("START", n, run=n, job=f"job{n}", outputs=[dataset(f"d{n}")]) for n in range(3)]
    log.append(originals(made))
    processes = QueryProcesses(log)
    found = AsOfQueries(log, None, lambda: None, processes, parallel=2)
    found.processes = processes
    found.times = [item.order.time for item in made]
    found.runs = []
    run = found._run_process

    async def counted(at, question):
        found.runs.append(at)
        return await run(at, question)

    monkeypatch.setattr(found, "_run_process", counted)
    yield found
    log.close()


def run(queries, ask):
    """Return what a coroutine function returns; end the process that waits."""

    async def closing():
        try:
            return await ask()
        finally:
            await queries.processes.close()

    return asyncio.run(closing())


def jobs(answer):
    return [job["name"] for job in json.loads(answer.text)["jobs"]]


def test_results_are_cached(queries):
    async def ask():
        return [await queries.graph(time) for time in (*queries.times, *queries.times)]

    answers = run(queries, ask)
    assert [len(jobs(answer)) for answer in answers] == [1, 2, 3, 1, 2, 3]
    assert queries.runs == queries.times


def test_an_event_discards_the_results_of_its_time_and_later(queries):
    async def ask():
        for time in queries.times:
            await queries.graph(time)
        queries.invalidate(queries.times[1])
        for time in queries.times:
            await queries.graph(time)

    run(queries, ask)
    assert queries.runs == [*queries.times, *queries.times[1:]]


def test_a_result_that_is_too_large_displaces_no_other(queries, monkeypatch):
    async def ask():
        first = await queries.graph(queries.times[0])
        monkeypatch.setattr(as_of_queries, "MAX_CACHED_BYTES", len(first.body))
        await queries.graph(queries.times[2])
        await queries.graph(queries.times[0])

    run(queries, ask)
    assert queries.runs == [queries.times[0], queries.times[2]]


def test_large_results_displace_older_ones(queries, monkeypatch):
    earlier, later = queries.times[:2]

    async def ask():
        await queries.graph(earlier)
        second = await queries.graph(later)
        queries.clear()
        monkeypatch.setattr(as_of_queries, "MAX_CACHED_BYTES", len(second.body) + 10)
        return [await queries.graph(time) for time in (earlier, later, later, earlier)]

    assert [len(jobs(answer)) for answer in run(queries, ask)] == [1, 2, 2, 1]
    assert queries.runs == [earlier, later] * 2 + [earlier]
    assert sum(len(answer.body) for answer in queries._results.values()) <= as_of_queries.MAX_CACHED_BYTES


def test_equal_queries_run_once_and_others_side_by_side(queries, monkeypatch):
    run_process, running, most = queries._run_process, [], []

    async def watched(at, question):
        running.append(at)
        most.append(len(running))
        try:
            return await run_process(at, question)
        finally:
            running.remove(at)

    monkeypatch.setattr(queries, "_run_process", watched)
    asked = [*queries.times, queries.times[0]]

    async def ask():
        return await asyncio.gather(*map(queries.graph, asked))

    assert [len(jobs(answer)) for answer in run(queries, ask)] == [1, 2, 3, 1]
    assert sorted(queries.runs) == queries.times
    assert max(most) == 2


def test_a_process_waits_for_the_next_query(queries, monkeypatch):
    start, started = queries.processes._start, []

    async def noted():
        started.append(await start())
        return started[-1]

    monkeypatch.setattr(queries.processes, "_start", noted)

    async def ask():
        codes = []
        for number, time in enumerate(queries.times):
            await queries.graph(time)
            await queries.processes._starting
            assert len(started) == number + 2
            codes.append([process.returncode for process in started])
        return codes

    assert run(queries, ask) == [[0, None], [0, 0, None], [0, 0, 0, None]]
    assert started[-1].returncode == -signal.SIGKILL


def test_a_process_that_died_while_it_waited_is_replaced(queries):
    async def ask():
        first = await queries.graph(queries.times[0])
        await queries.processes._starting
        waiting = queries.processes._waiting
        waiting.kill()
        await waiting.wait()
        return [first, await queries.graph(queries.times[1])]

    assert [len(jobs(answer)) for answer in run(queries, ask)] == [1, 2]


def test_a_process_does_not_wait_forever(queries, monkeypatch):
    monkeypatch.setattr(query_processes, "IDLE_SECONDS", 0.2)

    async def ask():
        await queries.graph(queries.times[0])
        await queries.processes._starting
        waiting = queries.processes._waiting
        code = await waiting.wait()
        return code, queries.processes._waiting

    assert run(queries, ask) == (0, None)


def test_a_process_that_waits_ends_with_the_service(tmp_path):
    words = [sys.executable, "-m", "lineage.past", WAIT, str(tmp_path / "lineage.db")]
    ended = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


@given(st.binary(max_size=3000), st.integers(1, 1000))
def test_packed_text_is_the_same_in_blocks(text, size):
    answer = PackedAnswer(compress(text))
    blocks = list(answer.blocks(size))
    assert b"".join(blocks) == answer.text == text
    assert answer.size == len(text)
    assert all(len(block) <= size for block in blocks)


@pytest.mark.parametrize("length", [0, 2**18, 2**18 + 1, 2**20])
def test_responses_are_sent_in_blocks(length):
    text = bytes(number % 251 for number in range(length))
    response = packed_response(PackedAnswer(compress(text)))

    async def sent():
        if length <= 2**18:
            return [response.body]
        return [block async for block in response.body_iterator]

    blocks = asyncio.run(sent())
    assert b"".join(blocks) == text
    assert max(map(len, blocks)) <= 2**18
    assert response.headers["Content-Length"] == str(length)
