# SPDX-License-Identifier: Apache-2.0
"""Refused terminal events end their runs; events from the future are marked."""

import asyncio
import gzip
import json

import pytest
from lineage_client import JSON
from lineage_events import NAMESPACE, body, dataset, encode, run_id
from test_lineage_operations import Api

LIMIT = 4_096
JOB_PATH = f"/api/v1/namespaces/{NAMESPACE}/jobs/job"


def bad_name(event_type, second=5):
    return body(event_type, second, outputs=[dataset("")])


def bad_facet(event_type):
    return body(event_type, 5, outputs=[{**dataset("x"), "facets": {"schema": {"fields": "none"}}}])


def too_large(event_type):
    return body(event_type, 5, outputs=[dataset("x")], run_facets={"plan": {"text": "p" * LIMIT}})


def bad_time(event_type):
    return {**body(event_type, 5), "eventTime": "yesterday"}


def check(tmp_path, scenario, **settings):
    async def started():
        async with Api(tmp_path, max_event_bytes=LIMIT, max_batch_bytes=4 * LIMIT, **settings) as api:
            await scenario(api)

    asyncio.run(asyncio.wait_for(started(), 30))


async def run_of(api):
    return await api.read(f"/api/v1/jobs/runs/{run_id(1)}")


@pytest.mark.parametrize("end", ["COMPLETE", "FAIL", "ABORT"])
@pytest.mark.parametrize(("refused", "status"), [(bad_name, 422), (bad_facet, 422), (bad_time, 422), (too_large, 413)])
def test_refused_terminal_event_ends_its_run(tmp_path, refused, status, end):
    async def scenario(api):
        await api.post(content=body("START", 0, inputs=[dataset("a")]))
        content = encode(refused(end))
        for _ in range(2):
            answer = await api.post(content=content)
            assert answer.status_code == status, answer.text
        run = await run_of(api)
        assert run["state"] == {"COMPLETE": "COMPLETED", "FAIL": "FAILED", "ABORT": "ABORTED"}[end]
        assert run["durationMs"] == (0 if refused is bad_time else 5_000)
        assert run["facets"]["lineageLab_refused"]["bytes"] == len(content)
        stats = await api.read("/api/v1/stats")
        assert (stats["logged"], stats["deadLetters"]["refused"]) == (2, 1)
        letters = await api.read("/api/v1/dead-letters", kind="refused")
        assert letters["deadLetters"][0]["event"] == json.loads(content)
        assert letters["deadLetters"][0]["hash"] == run["facets"]["lineageLab_refused"]["hash"]

    check(tmp_path, scenario)


def test_refused_complete_event_removes_no_edge(tmp_path):
    async def scenario(api):
        await api.post(content=body("COMPLETE", 0, run=2, inputs=[dataset("a")]))
        await api.post(content=body("START", 1, inputs=[dataset("b")]))
        assert (await api.post(content=bad_name("COMPLETE"))).status_code == 422
        assert [found["name"] for found in (await api.read(JOB_PATH))["inputs"]] == ["a", "b"]
        await api.post(content=body("COMPLETE", 5, inputs=[dataset("b")]))
        assert [found["name"] for found in (await api.read(JOB_PATH))["inputs"]] == ["b"]

    check(tmp_path, scenario)


@pytest.mark.parametrize(
    "content",
    [
        encode(bad_name("RUNNING")),
        encode({**bad_name("COMPLETE"), "run": {"runId": "none"}}),
        encode({**bad_name("COMPLETE"), "job": {"namespace": NAMESPACE}}),
        encode({**bad_name("COMPLETE"), "job": {"namespace": NAMESPACE, "name": "\x01"}}),
        encode(bad_name("COMPLETE"))[:-9],
        b"[" * 4_000,
    ],
)
def test_other_refused_events_are_not_kept(tmp_path, content):
    async def scenario(api):
        assert (await api.post(content=content)).status_code in (400, 422)
        stats = await api.read("/api/v1/stats")
        assert (stats["logged"], stats["deadLetters"]) == (0, {})

    check(tmp_path, scenario)


def test_refused_ends_of_a_batch_and_of_packed_events_are_kept(tmp_path):
    async def scenario(api):
        answer = await api.post(
            "/api/v1/lineage/batch", content=[body("START", 0), bad_name("FAIL"), too_large("FAIL")]
        )
        assert (answer.status_code, answer.json()["error"]["details"]["stored"]) == (422, 1)
        assert (await run_of(api))["state"] == "FAILED"
        packed = gzip.compress(encode(too_large("ABORT")))
        answer = await api._client.post("/api/v1/lineage", content=packed, headers={**JSON, "Content-Encoding": "gzip"})
        assert (answer.status_code, answer.json()["error"]["details"]) == (413, {"limit": LIMIT})
        assert (await api.read("/api/v1/stats"))["deadLetters"] == {"refused": 3}

    check(tmp_path, scenario)


def test_refused_event_is_replayed_under_a_larger_limit(tmp_path):
    async def refuse(api):
        assert (await api.post(content=too_large("COMPLETE"))).status_code == 413
        assert (await api.post("/api/v1/dead-letters/replay")).json() == {"replayed": 0, "failed": 1}

    check(tmp_path, refuse)

    async def replay():
        async with Api(tmp_path) as api:
            assert (await run_of(api))["state"] == "COMPLETED"
            assert (await api.post("/api/v1/dead-letters/replay")).json() == {"replayed": 1, "failed": 0}
            assert [found["name"] for found in (await api.read(JOB_PATH))["outputs"]] == ["x"]
            assert (await api.read("/api/v1/stats"))["deadLetters"] == {}

    asyncio.run(asyncio.wait_for(replay(), 30))


def test_end_from_the_future_is_marked_counted_and_freezes_nothing(tmp_path):
    async def scenario(api):
        await api.post(content={**body("COMPLETE", 0, inputs=[dataset("a")]), "eventTime": "2199-01-01T00:00:00Z"})
        run = await run_of(api)
        assert (run["state"], run["claimedTime"]) == ("COMPLETED", "2199-01-01T00:00:00.000000Z")
        assert run["endedAt"] < "2190"
        assert (await api.read("/api/v1/stats"))["clamped"] == 1
        later = {**body("COMPLETE", 0, run=2, inputs=[dataset("b")]), "eventTime": "2198-01-01T00:00:00Z"}
        await api.post(content=later)
        assert [found["name"] for found in (await api.read(JOB_PATH))["inputs"]] == ["b"]
        assert (await run_of(api))["claimedTime"] == "2199-01-01T00:00:00.000000Z"

    check(tmp_path, scenario)
