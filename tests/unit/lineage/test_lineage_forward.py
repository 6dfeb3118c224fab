# SPDX-License-Identifier: Apache-2.0
"""Forwarding by the service to a consumer that is available, down, failing, hanging or rejecting."""

import asyncio
import json
import logging
import threading
from contextlib import asynccontextmanager

import httpx
import pytest
from lineage_client import JSON, admin_headers
from lineage_events import RULES, body, dataset, encode, event, recorded_lines, run_id, schema, source
from lineage_recorder import WAIT_SECONDS, Recorder, assert_valid_stream, recording

from lineage.api import create_app
from lineage.forward import Forwarder
from lineage.forward import delivery as delivery_module
from lineage.forward import forwarder as forwarder_module
from lineage.rules.event_reader import EventReader
from lineage.settings import Settings
from lineage.store import DeadLetterKind, EventLog, StoreError

ATTEMPT_SECONDS = 0.5
"""Attempt timeout, short so that a hanging consumer is noticed soon."""


@pytest.fixture
def recorder():
    with recording() as found:
        yield found


@pytest.fixture(autouse=True)
def short_delays(monkeypatch):
    monkeypatch.setattr(delivery_module, "FIRST_DELAY", 0.01)
    monkeypatch.setattr(delivery_module, "MAX_DELAY", 0.1)
    monkeypatch.setattr(Forwarder.__init__, "__defaults__", (None, ATTEMPT_SECONDS))


@asynccontextmanager
async def serving(directory, recorder):
    """Provide a client and the service with forwarding."""
    settings = Settings(host="127.0.0.1", port=0, data=directory, rules=None, forward_to=recorder.url)
    app = create_app(settings, RULES, EventLog(directory, settings.max_store_bytes))
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        headers = admin_headers(directory)
        async with httpx.AsyncClient(transport=transport, base_url="http://lineage", headers=headers) as client:
            yield client, app.state.service


async def post(client, *contents):
    for content in contents:
        data = content if isinstance(content, bytes) else encode(content)
        assert (await client.post("/api/v1/lineage", content=data, headers=JSON)).status_code == 201


async def delivered(service, recorder, what="all delivered"):
    await asyncio.to_thread(recorder.wait_for, lambda: service.forwarder.status()["behind"] == 0, what)


def run(scenario):
    return asyncio.run(asyncio.wait_for(scenario, 2 * WAIT_SECONDS))


def whole_run(number, job="job"):
    """Return START, RUNNING and COMPLETE of a run, of which only START names datasets."""
    output = dataset(
        f"out-{job}", schema=schema("x"), columnLineage={"fields": {"x": {"inputFields": [source("in", "x")]}}}
    )
    start = body("START", 0, run=number, job=job, inputs=[dataset("in", schema=schema("x"))], outputs=[output])
    return [start, body("RUNNING", 1, run=number, job=job), body("COMPLETE", 2, run=number, job=job)]


def jobs(count):
    """Return the interleaved events of the runs of `count` jobs."""
    made = [whole_run(number, f"job{number}") for number in range(1, count + 1)]
    return [each[step] for step in range(3) for each in made]


def assert_in_order(recorder, count):
    """Assert that all events of `jobs` arrived complete and in order per run; duplicates are allowed."""
    assert_valid_stream_with_duplicates(recorder.events)
    for number in range(1, count + 1):
        found = recorder.of_run(run_id(number))
        types = [event["eventType"] for event in found]
        assert list(dict.fromkeys(types)) == ["START", "RUNNING", "COMPLETE"]
        for message in found:
            assert [ds["name"] for ds in message["inputs"]] == ["in"]
            assert [ds["name"] for ds in message["outputs"]] == [f"out-job{number}"]
            assert message["outputs"][0]["facets"]["columnLineage"]["fields"]["x"]["transformationType"] == "IDENTITY"


def assert_valid_stream_with_duplicates(events):
    """Assert a valid stream after removing duplicates that were sent because a response was lost."""
    seen = {json.dumps(event, sort_keys=True): event for event in events}
    assert_valid_stream(list(seen.values()))


def test_every_event_arrives_complete_and_in_order(tmp_path, recorder):
    async def scenario():
        async with serving(tmp_path, recorder) as (client, service):
            await post(client, *jobs(10))
            await delivered(service, recorder)
            return (await client.get("/api/v1/stats")).json()["forward"]

    status = run(scenario())
    assert status == {
        "to": f"{recorder.url}/api/v1/lineage",
        "delivered": 30,
        "behind": 0,
        "parked": 0,
        "lastError": None,
        "cursor": 30,
    }
    assert len(recorder.events) == 30
    assert_in_order(recorder, 10)
    assert recorder.most_at_once <= delivery_module.MAX_CONCURRENT
    assert recorder.encodings == {None}


def test_four_requests_run_concurrently_but_one_per_job(tmp_path, recorder, monkeypatch):
    monkeypatch.setattr(Forwarder.__init__, "__defaults__", (None, float(WAIT_SECONDS)))
    together = threading.Barrier(delivery_module.MAX_CONCURRENT)
    under_way: set[str] = set()
    started: set[str] = set()
    doubled: list[str] = []

    def rule(event):
        job = event["job"]["name"]
        doubled.extend(under_way & {job})
        under_way.add(job)
        if job not in started:
            started.add(job)
            together.wait(WAIT_SECONDS)
        under_way.discard(job)
        return 201

    recorder.rule = rule
    made = jobs(4)

    async def scenario():
        async with serving(tmp_path, recorder) as (client, service):
            await asyncio.gather(*(post(client, *made[number::4]) for number in range(4)))
            await delivered(service, recorder)

    run(scenario())
    assert recorder.most_at_once == delivery_module.MAX_CONCURRENT
    assert doubled == []
    assert_in_order(recorder, 4)


def test_recorded_engine_events_arrive(tmp_path, recorder):
    async def scenario():
        async with serving(tmp_path, recorder) as (client, service):
            await post(client, *recorded_lines())
            await delivered(service, recorder)
            return service.forwarder.status()

    status = run(scenario())
    assert status["parked"] == 0
    # On a loaded machine an attempt can time out, and is repeated.
    assert status["lastError"] is None or "did not respond" in status["lastError"]
    assert status["delivered"] == status["cursor"] <= len(recorder.events)
    assert_valid_stream(recorder.events)


def test_consumer_started_later_receives_every_event(tmp_path, recorder):
    recorder.stop()

    async def scenario():
        async with serving(tmp_path, recorder) as (client, service):
            await post(client, *jobs(5))
            await asyncio.to_thread(
                recorder.wait_for,
                lambda: "cannot connect" in (service.forwarder.status()["lastError"] or ""),
                "refused",
            )
            assert service.forwarder.status()["behind"] == 15
            recorder.start()
            await delivered(service, recorder)

    run(scenario())
    assert_in_order(recorder, 5)


def test_outages_of_every_kind_lose_no_event(tmp_path, recorder):
    made = jobs(40)

    async def scenario():
        async with serving(tmp_path, recorder) as (client, service):
            await post(client, *made[:30])
            await asyncio.to_thread(recorder.stop)
            await post(client, *made[30:60])
            recorder.rule = lambda _: 500
            recorder.start()
            seen = len(recorder.attempts)
            await post(client, *made[60:90])
            await asyncio.to_thread(recorder.wait_for, lambda: len(recorder.attempts) > seen + 50, "refused attempts")
            recorder.hang = True
            seen = len(recorder.attempts)
            await post(client, *made[90:])
            await asyncio.to_thread(
                recorder.wait_for,
                lambda: "did not respond" in (service.forwarder.status()["lastError"] or ""),
                "attempts that hang",
            )
            recorder.rule = lambda _: (503, {"Retry-After": "0"})
            await asyncio.to_thread(recorder.release)
            await asyncio.to_thread(recorder.wait_for, lambda: len(recorder.attempts) > seen + 20, "refused attempts")
            recorder.rule = lambda _: 201
            await delivered(service, recorder)
            return service.forwarder.status()

    status = run(scenario())
    assert (status["delivered"], status["parked"], status["cursor"]) == (120, 0, 120)
    assert_in_order(recorder, 40)


@pytest.mark.parametrize("how", ["gone", "failing", "hanging"])
def test_unavailable_consumer_costs_no_event_and_bounded_memory(tmp_path, recorder, monkeypatch, how):
    monkeypatch.setattr(forwarder_module, "MAX_EVENTS", 20)
    if how == "gone":
        recorder.stop()
    recorder.rule = lambda _: 500
    recorder.hang = how == "hanging"

    async def scenario():
        async with serving(tmp_path, recorder) as (client, service):
            await post(
                client, *(body("RUNNING", second, run=second % 7, job=f"j{second % 7}") for second in range(300))
            )
            stats = (await client.get("/api/v1/stats")).json()
            assert (stats["stored"], stats["logged"]) == (300, 300)
            assert len(service.forwarder._in_flight) <= 20
            assert stats["forward"]["behind"] == 300

    run(scenario())
    assert recorder.events == []


def test_rejected_event_is_parked_and_others_continue(tmp_path, recorder, caplog):
    recorder.rule = lambda event: 422 if event["run"]["runId"] == run_id(2) else 201

    async def scenario():
        async with serving(tmp_path, recorder) as (client, service):
            await post(client, *jobs(3))
            await delivered(service, recorder)
            letters = (await client.get("/api/v1/dead-letters?kind=forward")).json()["deadLetters"]
            return service.forwarder.status(), letters

    with caplog.at_level(logging.ERROR, "lineage.forward"):
        status, letters = run(scenario())
    assert (status["delivered"], status["parked"], status["cursor"]) == (6, 3, 9)
    assert status["lastError"] == "HTTP 422 refused by the recorder"
    assert [letter["event"]["run"]["runId"] for letter in letters] == [run_id(2)] * 3
    assert {letter["error"] for letter in letters} == {"HTTP 422 refused by the recorder"}
    assert len([record for record in caplog.records if "is not forwarded" in record.message]) == 3
    assert [event["eventType"] for event in recorder.of_run(run_id(3))] == ["START", "RUNNING", "COMPLETE"]


def test_event_that_fails_the_consumer_is_parked_and_its_job_continues(tmp_path, recorder):
    poison = body("RUNNING", 1, run=1, job="job1", run_facets={"poison": {}})
    recorder.rule = lambda event: 500 if "poison" in event.get("run", {}).get("facets", {}) else 201

    async def scenario():
        async with serving(tmp_path, recorder) as (client, service):
            first, second = jobs(2)[:2]
            await post(client, first, second, poison, body("COMPLETE", 2, run=1, job="job1"))
            number = 0
            while not service.forwarder.status()["parked"]:
                number += 1
                await post(client, body("RUNNING", 10 + number / 10, run=2, job="job2"))
            await delivered(service, recorder)
            letters = (await client.get("/api/v1/dead-letters?kind=forward")).json()["deadLetters"]
            return service.forwarder.status(), letters

    status, letters = run(scenario())
    assert status["parked"] == 1
    assert [letter["event"]["run"]["facets"].keys() for letter in letters] == [{"poison"}]
    assert "failed" in letters[0]["error"]
    assert [event["eventType"] for event in recorder.of_run(run_id(1))] == ["START", "COMPLETE"]


def test_parked_event_is_replayed(tmp_path, recorder):
    recorder.rule = lambda event: 422 if "odd" in event["run"]["facets"] else 201
    start = body("START", run_facets={"odd": {}})

    async def scenario():
        async with serving(tmp_path, recorder) as (client, service):
            await post(client, start, *whole_run(1)[1:])
            await delivered(service, recorder)
            again = (await client.post("/api/v1/dead-letters/replay?kind=forward")).json()
            recorder.rule = lambda _: 201
            at_last = (await client.post("/api/v1/dead-letters/replay?kind=forward")).json()
            return again, at_last, (await client.get("/api/v1/dead-letters")).json()["totalCount"]

    assert run(scenario()) == ({"replayed": 0, "failed": 1}, {"replayed": 1, "failed": 0}, 0)
    # It now follows the end of its run and must not reopen the run.
    assert [event["eventType"] for event in recorder.events] == ["RUNNING", "COMPLETE", "COMPLETE"]


def test_replay_waits_for_earlier_events_with_a_timeout(tmp_path, recorder, monkeypatch):
    monkeypatch.setattr(forwarder_module, "REPLAY_TIMEOUT", 0.2)
    recorder.rule = lambda _: 422

    async def scenario():
        async with serving(tmp_path, recorder) as (client, service):
            start, running, complete = whole_run(1)
            await post(client, start)
            await delivered(service, recorder)
            recorder.rule = lambda _: 500
            await post(client, running)
            await asyncio.to_thread(recorder.wait_for, lambda: len(recorder.attempts) > 2, "attempts")
            failed = (await client.post("/api/v1/dead-letters/replay?kind=forward")).json()
            letters = (await client.get("/api/v1/dead-letters")).json()["deadLetters"]
            await post(client, complete)
            recorder.rule = lambda _: 201
            await delivered(service, recorder)
            return failed, letters

    failed, letters = run(scenario())
    assert failed == {"replayed": 0, "failed": 1}
    assert letters[0]["error"].startswith("not sent within 0.2 s: HTTP 500")
    assert [event["eventType"] for event in recorder.events] == ["RUNNING", "COMPLETE"]


def test_restart_resumes_at_the_last_position(tmp_path, recorder):
    async def scenario():
        async with serving(tmp_path, recorder) as (client, service):
            await post(client, *jobs(5)[:5])
            await delivered(service, recorder)
        async with serving(tmp_path, recorder) as (client, service):
            await post(client, *jobs(5)[5:])
            await delivered(service, recorder)
            return service.forwarder.status()

    status = run(scenario())
    assert (status["delivered"], status["cursor"]) == (10, 15)
    assert len(recorder.events) == 15
    assert_in_order(recorder, 5)


def test_events_after_the_end_of_a_run_are_forwarded_as_its_end_after_a_restart(tmp_path, recorder):
    async def scenario():
        async with serving(tmp_path, recorder) as (client, service):
            await post(client, body("START", 0), body("COMPLETE", 1))
            await delivered(service, recorder)
        recorder.stop()
        async with serving(tmp_path, recorder) as (client, service):
            await post(client, body("RUNNING", 0.5), body("FAIL", 9), body("OTHER", 0.7))
            recorder.start()
            await delivered(service, recorder)

    run(scenario())
    types = [event["eventType"] for event in recorder.of_run(run_id(1))]
    assert types[:2] == ["START", "COMPLETE"]
    assert types[-2:] == ["FAIL", "FAIL"]


def test_shutdown_does_not_wait_for_a_hanging_consumer(tmp_path, recorder, monkeypatch):
    monkeypatch.setattr(forwarder_module, "GRACE_SECONDS", 0.1)
    monkeypatch.setattr(Forwarder.__init__, "__defaults__", (None, 1000.0))
    recorder.hang = True

    async def hanging():
        async with serving(tmp_path, recorder) as (client, _):
            await post(client, *jobs(3))
            await asyncio.to_thread(recorder.wait_for, lambda: recorder.most_at_once == 3, "requests that hang")

    async def again():
        async with serving(tmp_path, recorder) as (_, service):
            await delivered(service, recorder)

    run(hanging())
    recorder.release()
    run(again())
    assert_in_order(recorder, 3)


def test_internal_error_parks_only_its_event(tmp_path, recorder, monkeypatch):
    enrich = forwarder_module.enrich

    def broken(event, *arguments):
        if event.run.run == run_id(1):
            raise LookupError("no such thing")
        return enrich(event, *arguments)

    monkeypatch.setattr(forwarder_module, "enrich", broken)

    async def scenario():
        async with serving(tmp_path, recorder) as (client, service):
            await post(client, body(run=1), body(run=2))
            await delivered(service, recorder)
            again = (await client.post("/api/v1/dead-letters/replay")).json()
            assert again == {"replayed": 0, "failed": 1}
            return service.log.dead_letters.page(10)

    [letter] = run(scenario())
    assert (letter.trouble, letter.error) == (
        DeadLetterKind.FORWARD,
        "cannot be enriched: LookupError('no such thing')",
    )
    assert [event["run"]["runId"] for event in recorder.events] == [run_id(2)]


def test_temporary_log_errors_do_not_stop_forwarding(tmp_path, recorder, monkeypatch):
    store, read = EventLog.set_position, EventLog.after
    failures = {"read": 2, "write": 1}

    def broken_after(self, seq, limit):
        if seq and failures["read"]:
            failures["read"] -= 1
            raise OSError("disk trouble")
        return read(self, seq, limit)

    def broken_store(self, name, seq):
        if seq and failures["write"]:
            failures["write"] -= 1
            raise StoreError("disk trouble")
        store(self, name, seq)

    monkeypatch.setattr(EventLog, "after", broken_after)
    monkeypatch.setattr(EventLog, "set_position", broken_store)

    async def scenario():
        async with serving(tmp_path, recorder) as (client, service):
            await post(client, *jobs(5))
            await delivered(service, recorder)
            assert "disk trouble" in service.forwarder.status()["lastError"]

    run(scenario())
    log = EventLog(tmp_path)
    assert log.position(f"forward to {recorder.url}/api/v1/lineage") == 15
    log.close()
    assert_in_order(recorder, 5)


def test_unstarted_forwarder_can_be_closed(tmp_path):
    async def scenario():
        log = EventLog(tmp_path)
        forwarder = Forwarder(None, log, EventReader(RULES), "http://127.0.0.1:9")
        assert forwarder.status()["behind"] == 0
        await forwarder.close()
        log.append([event().original])
        assert log.position(forwarder.position) == 0
        log.close()

    run(scenario())


def test_recorder_stops_cleanly():
    found = Recorder()
    found.stop()
    found.start()
    found.stop()
    assert found.events == []


def test_events_about_the_catalog_and_deletions_of_jobs_are_not_forwarded(tmp_path, recorder):
    async def scenario():
        async with serving(tmp_path, recorder) as (client, service):
            await post(client, body("START", 0, job="etl"))
            for method, path, content in (
                ("PUT", "/namespaces/new", {"ownerName": "me"}),
                ("PUT", "/tags/PII", {"description": "personal"}),
                ("POST", "/namespaces/test-jobs/jobs/etl/tags/PII", None),
                ("DELETE", "/namespaces/test-jobs/jobs/etl", None),
            ):
                response = await client.request(method, f"/api/v1{path}", json=content)
                assert response.status_code == 200, response.text
            await delivered(service, recorder)
            assert service.forwarder.status()["parked"] == 0

    run(scenario())
    assert [event["job"]["name"] for event in recorder.events] == ["etl", "etl"]
