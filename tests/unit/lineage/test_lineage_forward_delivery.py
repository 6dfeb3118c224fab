# SPDX-License-Identifier: Apache-2.0
"""Delivery to one consumer: meaning of its responses, ordering of requests, and attribution of failures."""

import asyncio
import json
from email.utils import formatdate

import pytest
from lineage_events import body, dataset, dataset_event, event, read
from lineage_recorder import recording

from lineage.forward import backend as backend_module
from lineage.forward import backoff as backoff_module
from lineage.forward import delivery as delivery_module
from lineage.forward import forward_url
from lineage.forward import ordering as ordering_module
from lineage.forward.backend import AttemptStatus, Backend
from lineage.forward.backoff import MAX_DELAY, CircuitBreaker, delay_before
from lineage.forward.delivery import Delivery
from lineage.forward.ordering import InFlightEvent, InFlightWindow
from lineage.forward.run_ends import ClosedRun


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://marquez:5000", "http://marquez:5000/api/v1/lineage"),
        ("http://marquez:5000/", "http://marquez:5000/api/v1/lineage"),
        ("https://u:p@host/api/v2/lineage", "https://u:p@host/api/v2/lineage"),
        ("http://[::1]:5000", "http://[::1]:5000/api/v1/lineage"),
    ],
)
def test_endpoint_url_is_derived(text, url):
    assert forward_url(text) == url


@pytest.mark.parametrize("text", ["", "marquez:5000", "ftp://host", "http://", "http://host?a=b", "http://host:x"])
def test_invalid_url_is_rejected_with_a_reason(text):
    with pytest.raises(ValueError, match=r"cannot forward to .*http://host:port"):
        forward_url(text)


@pytest.mark.parametrize(
    ("status", "headers", "verdict", "retry_after"),
    [
        (200, {}, AttemptStatus.ACCEPTED, None),
        (201, {}, AttemptStatus.ACCEPTED, None),
        (400, {}, AttemptStatus.REFUSED, None),
        (413, {}, AttemptStatus.REFUSED, None),
        (422, {}, AttemptStatus.REFUSED, None),
        (302, {"Location": "/elsewhere"}, AttemptStatus.UNAVAILABLE, None),
        (401, {}, AttemptStatus.UNAVAILABLE, None),
        (404, {}, AttemptStatus.UNAVAILABLE, None),
        (429, {}, AttemptStatus.UNAVAILABLE, None),
        (429, {"Retry-After": "7"}, AttemptStatus.UNAVAILABLE, 7),
        (500, {}, AttemptStatus.FAILED, None),
        (503, {}, AttemptStatus.FAILED, None),
        (503, {"Retry-After": "0"}, AttemptStatus.UNAVAILABLE, 0),
        (503, {"Retry-After": "999999"}, AttemptStatus.UNAVAILABLE, backend_module.MAX_RETRY_AFTER),
        (503, {"Retry-After": formatdate(0, usegmt=True)}, AttemptStatus.UNAVAILABLE, 0),
        (503, {"Retry-After": "soon"}, AttemptStatus.FAILED, None),
    ],
)
def test_response_status_determines_the_verdict(status, headers, verdict, retry_after):
    async def scenario(recorder):
        consumer = Backend(recorder.url, 5)
        answer = await consumer.post(b'{"sent": true}')
        await consumer.close()
        return answer

    with recording() as recorder:
        recorder.rule = lambda _: (status, headers)
        answer = asyncio.run(scenario(recorder))
        assert recorder.encodings == {None}
    assert (answer.verdict, answer.retry_after) == (verdict, retry_after)
    assert str(status) in answer.text


def test_timeout_and_refused_connection_have_a_verdict():
    async def scenario(recorder):
        consumer = Backend(recorder.url.replace("//", "//user:secret@"), 0.2)
        recorder.hang = True
        hung = await consumer.post(b"{}")
        healthy = await consumer.is_healthy()
        await asyncio.to_thread(recorder.release)
        await asyncio.to_thread(recorder.stop)
        refused = await consumer.post(b"{}")
        gone = await consumer.is_healthy()
        await consumer.close()
        return hung, refused, healthy, gone

    with recording() as recorder:
        recorder.healthy = True
        hung, refused, healthy, gone = asyncio.run(scenario(recorder))
    assert (hung.verdict, refused.verdict) == (AttemptStatus.FAILED, AttemptStatus.UNAVAILABLE)
    assert "did not respond" in hung.text
    assert "cannot connect" in refused.text
    assert "secret" not in hung.text + refused.text
    assert (healthy, gone) == (True, False)


def test_backoff_grows_to_a_maximum():
    for attempt in range(1, 2000):
        assert 0 < delay_before(attempt) <= MAX_DELAY
    assert delay_before(1) <= backoff_module.FIRST_DELAY


def test_consecutive_failures_pause_sending_for_longer(monkeypatch):
    monkeypatch.setattr(backoff_module, "FIRST_DELAY", 0.01)

    async def scenario():
        gate = CircuitBreaker()
        await gate.wait()
        gate.trip()
        gate.trip()
        assert gate.is_tripped
        assert gate._failures == 1
        await gate.wait()
        assert not gate.is_tripped
        gate.trip(1000)
        assert gate.is_tripped
        gate.reset()
        await gate.wait()
        assert gate._failures == 0

    asyncio.run(scenario())


def test_event_waits_for_earlier_events_of_its_job_run_dataset_or_parent():
    events = {
        1: event("START", 0, job="app"),
        2: event("START", 1, run=2, job="app.a", parent=(1, "app")),
        3: event("START", 1, run=3, job="app.b", parent=(1, "app")),
        4: event("RUNNING", 2, run=2, job="app.a", parent=(1, "app")),
        5: event("START", 3, run=2, job="other"),
        6: read(dataset_event(0, dataset("d"))),
        7: read(dataset_event(1, dataset("d"))),
        8: event(None, 0, run=None, job="app.a"),
    }

    async def scenario():
        window = InFlightWindow(0)
        entries = {seq: InFlightEvent(seq, made) for seq, made in events.items()}
        entries[5].closes = [ClosedRun(events[3].run, events[5].order)]
        for entry in entries.values():
            window.add(entry)
        waiting = {seq: asyncio.ensure_future(entry.turn()) for seq, entry in entries.items()}

        async def ready():
            for _ in range(5):
                await asyncio.sleep(0)
            return {seq for seq, turn in waiting.items() if turn.done()}

        assert await ready() == {1, 6}
        assert not window.finish(entries[6])
        assert window.finish(entries[1])
        assert window.cursor == 1
        assert await ready() == {1, 2, 3, 6, 7}
        window.finish(entries[3])
        assert window.cursor == 1
        assert await ready() == {1, 2, 3, 6, 7}
        window.finish(entries[2])
        assert window.cursor == 3
        assert await ready() == {1, 2, 3, 4, 6, 7}
        for seq in (4, 5, 7, 8):
            window.finish(entries[seq])
        assert (window.cursor, len(window)) == (8, 0)
        assert await ready() == set(events)
        assert not any(entry._before for entry in entries.values())
        assert window._last == {}

    asyncio.run(scenario())


def test_window_is_bounded_by_events_and_bytes(monkeypatch):
    async def scenario():
        window = InFlightWindow(0)
        made = [InFlightEvent(seq, event("RUNNING", seq)) for seq in (1, 2, 3)]
        for entry in made:
            assert window._room.is_set()
            window.add(entry)
        assert not window._room.is_set()
        window.finish(made[0])
        assert window._room.is_set()

    monkeypatch.setattr(ordering_module, "MAX_EVENTS", 3)
    asyncio.run(scenario())
    monkeypatch.setattr(ordering_module, "MAX_EVENTS", 256)
    monkeypatch.setattr(ordering_module, "MAX_BYTES", 2 * len(event("RUNNING", 1).original.data) + 1)
    asyncio.run(scenario())


async def send(delivery, seq, content):
    async def make_body():
        return None if content is None else json.dumps(content).encode()

    return await delivery.send(seq, make_body)


def deliver(recorder, scenario):
    async def run():
        consumer = Backend(recorder.url, 5)
        try:
            return await asyncio.wait_for(scenario(Delivery(consumer)), 60)
        finally:
            await consumer.close()

    return asyncio.run(run())


@pytest.fixture
def short_delays(monkeypatch):
    monkeypatch.setattr(backoff_module, "FIRST_DELAY", 0.01)
    monkeypatch.setattr(backoff_module, "MAX_DELAY", 0.05)


def test_event_that_fails_while_others_succeed_is_given_up(short_delays):
    async def scenario(delivery):
        poison = [asyncio.ensure_future(send(delivery, seq, {"poison": seq})) for seq in (1, 2)]
        seq = 3
        while not all(one.done() for one in poison):
            assert await send(delivery, seq, body("RUNNING", seq)) is None
            seq += 1
        return [one.result() for one in poison]

    with recording() as recorder:
        recorder.rule = lambda content: 500 if "poison" in content else 201
        refusals = deliver(recorder, scenario)
        tries = [sum(1 for content, _ in recorder.attempts if content == {"poison": seq}) for seq in (1, 2)]
    assert all("while the backend was healthy: HTTP 500 refused by the recorder" in refusal for refusal in refusals)
    assert min(tries) >= delivery_module.MIN_TRIES


def test_outage_gives_up_no_event(short_delays):
    """No event is given up however long all fail, even if one was accepted when the outage began."""

    async def scenario(delivery):
        sending = [asyncio.ensure_future(send(delivery, seq, body("RUNNING", seq))) for seq in range(20)]
        await asyncio.to_thread(recorder.wait_for, lambda: len(recorder.attempts) > 200, "attempts")
        assert sum(one.done() for one in sending) <= len(recorder.events), "completed sends were accepted"
        recorder.rule = lambda _: 201
        return await asyncio.gather(*sending)

    with recording() as recorder:
        recorder.healthy = True
        recorder.rule = lambda _: 500 if recorder.events else 201
        assert deliver(recorder, scenario) == [None] * 20
        assert recorder.most_at_once <= delivery_module.MAX_CONCURRENT


def test_single_event_is_given_up_if_the_consumer_is_healthy_but_not_a_second_one(short_delays, monkeypatch):
    async def scenario(delivery):
        recorder.healthy = False
        first = asyncio.ensure_future(send(delivery, 1, body()))
        await asyncio.to_thread(recorder.wait_for, lambda: len(recorder.attempts) > 20, "attempts")
        assert not first.done()
        recorder.healthy = True
        assert "while the backend was healthy" in await first
        second = asyncio.ensure_future(send(delivery, 2, body()))
        await asyncio.to_thread(recorder.wait_for, lambda: len(recorder.attempts) > 60, "attempts")
        assert not second.done()
        recorder.rule = lambda _: 201
        return await second

    monkeypatch.setattr(delivery_module, "LONE_FAILURE_SECONDS", 0.05)
    with recording() as recorder:
        recorder.rule = lambda _: 500
        assert deliver(recorder, scenario) is None


def test_wrong_address_and_retry_after_give_up_no_event(short_delays):
    async def scenario(delivery):
        sending = asyncio.ensure_future(send(delivery, 1, body()))
        for status in (404, 401, 429):
            recorder.rule = lambda _, status=status: status
            seen = len(recorder.attempts)
            await asyncio.to_thread(recorder.wait_for, lambda seen=seen: len(recorder.attempts) > seen + 8, "attempts")
        recorder.rule = lambda _: 201
        return await sending

    with recording() as recorder:
        assert deliver(recorder, scenario) is None


def test_empty_message_is_not_sent():
    with recording() as recorder:
        assert deliver(recorder, lambda delivery: send(delivery, 1, None)) is None
        assert recorder.attempts == []


def test_rejection_is_final_and_has_a_reason():
    with recording() as recorder:
        recorder.rule = lambda _: 422
        refusal = deliver(recorder, lambda delivery: send(delivery, 1, body()))
        assert len(recorder.attempts) == 1
    assert refusal == "HTTP 422 refused by the recorder"


def test_http_client_ignores_proxy_variables(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with recording() as recorder:
        assert deliver(recorder, lambda delivery: send(delivery, 1, body())) is None
    assert recorder.attempts[0][1] == 201
