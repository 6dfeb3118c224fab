# SPDX-License-Identifier: Apache-2.0
"""Queries of past graphs by a subprocess: what they return, and what stays in memory."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lineage_events import dataset, event, originals

from lineage.api.responses import packed_response
from lineage.store import EventLog, as_of_queries
from lineage.store.as_of_queries import AsOfQueries
from lineage.store.compression import compress
from lineage.store.packed_answer import PackedAnswer


@pytest.fixture
def queries(tmp_path, monkeypatch):
    """Queries of a log of 3 jobs; `runs` has the times of those that a subprocess answered."""
    log = EventLog(tmp_path)
    made = [event("START", n, run=n, job=f"job{n}", outputs=[dataset(f"d{n}")]) for n in range(3)]
    log.append(originals(made))
    found = AsOfQueries(log, None, lambda: None)
    found.times = [item.order.time for item in made]
    found.runs = []
    run = found._run_subprocess

    async def counted(at, question):
        found.runs.append(at)
        return await run(at, question)

    monkeypatch.setattr(found, "_run_subprocess", counted)
    yield found
    log.close()


def jobs(answer):
    return [job["name"] for job in json.loads(answer.text)["jobs"]]


def test_results_are_cached(queries):
    async def ask():
        return [await queries.graph(time) for time in (*queries.times, *queries.times)]

    answers = asyncio.run(ask())
    assert [len(jobs(answer)) for answer in answers] == [1, 2, 3, 1, 2, 3]
    assert queries.runs == queries.times


def test_an_event_discards_the_results_of_its_time_and_later(queries):
    async def ask():
        for time in queries.times:
            await queries.graph(time)
        queries.invalidate(queries.times[1])
        for time in queries.times:
            await queries.graph(time)

    asyncio.run(ask())
    assert queries.runs == [*queries.times, *queries.times[1:]]


def test_a_result_that_is_too_large_displaces_no_other(queries, monkeypatch):
    async def ask():
        first = await queries.graph(queries.times[0])
        monkeypatch.setattr(as_of_queries, "MAX_CACHED_BYTES", len(first.body))
        await queries.graph(queries.times[2])
        await queries.graph(queries.times[0])

    asyncio.run(ask())
    assert queries.runs == [queries.times[0], queries.times[2]]


def test_large_results_displace_older_ones(queries, monkeypatch):
    earlier, later = queries.times[:2]

    async def ask():
        await queries.graph(earlier)
        second = await queries.graph(later)
        queries.clear()
        monkeypatch.setattr(as_of_queries, "MAX_CACHED_BYTES", len(second.body) + 10)
        return [await queries.graph(time) for time in (earlier, later, later, earlier)]

    assert [len(jobs(answer)) for answer in asyncio.run(ask())] == [1, 2, 2, 1]
    assert queries.runs == [earlier, later] * 2 + [earlier]
    assert sum(len(answer.body) for answer in queries._results.values()) <= as_of_queries.MAX_CACHED_BYTES


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
