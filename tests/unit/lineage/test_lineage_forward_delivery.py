# SPDX-License-Identifier: Apache-2.0
"""Delivery to one consumer: meaning of its responses, ordering of requests, and attribution of failures."""

import asyncio
import gc
import json
import sys
from email.utils import formatdate
from itertools import pairwise

import pytest
from lineage_events import body, encode, event
from lineage_recorder import recording

from lineage.forward import backend as backend_module
from lineage.forward import delivery as delivery_module
from lineage.forward import forward_url
from lineage.forward import responses as responses_module
from lineage.forward.backend import Backend, timeout_after
from lineage.forward.delivery import MAX_DELAY, Delivery, delay_before
from lineage.forward.responses import AttemptStatus


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
        (503, {"Retry-After": "999999"}, AttemptStatus.UNAVAILABLE, responses_module.MAX_RETRY_AFTER),
        (503, {"Retry-After": formatdate(0, usegmt=True)}, AttemptStatus.UNAVAILABLE, 0),
        (503, {"Retry-After": "soon"}, AttemptStatus.FAILED, None),
    ],
)
def test_response_status_determines_the_verdict(status, headers, verdict, retry_after):
    async def scenario(recorder):
        consumer = Backend(recorder.url, min_timeout=5)
        answer = await consumer.post(b'{"sent": true}')
        await consumer.close()
        return answer

    with recording() as recorder:
        recorder.rule = lambda _: (status, headers)
        answer = asyncio.run(scenario(recorder))
        assert recorder.encodings == {None}
    assert (answer.status, answer.retry_after) == (verdict, retry_after)
    assert str(status) in answer.text


def test_timeout_and_refused_connection_have_a_verdict():
    async def scenario(recorder):
        consumer = Backend(recorder.url.replace("//", "//user:secret@"), min_timeout=0.2)
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
    assert (hung.status, refused.status) == (AttemptStatus.FAILED, AttemptStatus.UNAVAILABLE)
    assert "did not respond" in hung.text
    assert "cannot connect" in refused.text
    assert "secret" not in hung.text + refused.text
    assert (healthy, gone) == (True, False)


def test_backoff_grows_to_a_maximum():
    for attempt in range(1, 2000):
        assert 0 < delay_before(attempt) <= MAX_DELAY
    assert delay_before(1) <= delivery_module.FIRST_DELAY


def test_requests_pause_for_longer_with_each_failure(monkeypatch):
    monkeypatch.setattr(delivery_module, "FIRST_DELAY", 0.01)

    async def scenario():
        delivery = Delivery(Backend("http://127.0.0.1:9"))
        now = asyncio.get_running_loop().time
        delivery._pause(None)
        delivery._pause(None)
        assert delivery._pauses == 1
        delivery._pause(1000)
        assert delivery._paused_until > now() + 900
        assert delivery._pauses == 2

    asyncio.run(scenario())


async def send(delivery, seq, content):
    async def compose():
        return json.dumps(content).encode()

    async def is_recognizable():
        return True

    return await delivery.send(event("RUNNING", seq), compose, is_recognizable)


def deliver(recorder, scenario):
    async def run():
        consumer = Backend(recorder.url, min_timeout=5)
        try:
            return await asyncio.wait_for(scenario(Delivery(consumer)), 60)
        finally:
            await consumer.close()

    return asyncio.run(run())


@pytest.fixture
def short_delays(monkeypatch):
    monkeypatch.setattr(delivery_module, "FIRST_DELAY", 0.01)
    monkeypatch.setattr(delivery_module, "MAX_DELAY", 0.05)


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
    assert min(tries) >= delivery_module.MAX_FAILURES_AMONG_OTHERS


def test_outage_gives_up_no_event(short_delays):
    """No event is given up however long all fail, even if one was accepted when the outage began."""

    async def scenario(delivery):
        sending = [asyncio.ensure_future(send(delivery, seq, body("RUNNING", seq))) for seq in range(20)]
        await asyncio.to_thread(recorder.wait_for, lambda: len(recorder.attempts) > 200, "attempts")
        assert sum(one.done() for one in sending) <= len(recorder.events), "completed sends were accepted"
        recorder.rule = lambda _: 201
        return await asyncio.gather(*sending)

    with recording() as recorder:
        recorder.rule = lambda _: 500 if recorder.events else 201
        recorder.healthy = False
        assert deliver(recorder, scenario) == [None] * 20
        assert recorder.most_at_once <= delivery_module.MAX_CONCURRENT


def test_event_without_others_is_given_up_later_if_the_backend_is_healthy(short_delays, monkeypatch):
    async def scenario(delivery):
        recorder.healthy = False
        sending = asyncio.ensure_future(send(delivery, 1, body()))
        await asyncio.to_thread(recorder.wait_for, lambda: len(recorder.attempts) > 20, "attempts")
        assert not sending.done()
        seen = len(recorder.attempts)
        recorder.healthy = True
        return seen, await sending

    monkeypatch.setattr(delivery_module, "MAX_FAILURES_WHILE_HEALTHY", 10)
    with recording() as recorder:
        recorder.rule = lambda _: 500
        seen, refusal = deliver(recorder, scenario)
        assert "while the backend was healthy" in refusal
        # The health check after attempt number `seen` may already succeed; those of all earlier attempts failed.
        assert len(recorder.attempts) >= seen - 1 + 10


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


def test_credentials_are_sent_and_not_shown():
    async def scenario(recorder):
        url = recorder.url.replace("//", "//user:secret@")
        for backend in (Backend(url), Backend(recorder.url, api_key="key"), Backend(url, api_key="key")):
            assert (await backend.post(b"{}")).status is AttemptStatus.ACCEPTED
            assert backend.name == f"{recorder.url}/api/v1/lineage"
            await backend.close()

    with recording() as recorder:
        asyncio.run(scenario(recorder))
    assert recorder.authorizations == {"Basic dXNlcjpzZWNyZXQ=", "Bearer key"}


def test_redirect_is_not_followed_and_its_target_is_reported():
    """A followed redirect would send the credentials elsewhere, or turn the POST into a GET that answers 200."""

    async def scenario(recorder, target):
        backend = Backend(recorder.url, api_key="key")
        recorder.rule = lambda _: (301, {"Location": target.url})
        answer = await backend.post(b"{}")
        await backend.close()
        return answer

    with recording() as recorder, recording() as target:
        answer = asyncio.run(scenario(recorder, target))
        assert answer.status is AttemptStatus.UNAVAILABLE
        assert f"redirects to {target.url}" in answer.text
        assert target.authorizations == set()


def test_timeout_grows_at_once_and_shrinks_slowly():
    slow = timeout_after(10, took=6, minimum=10)
    assert slow == 24
    fast = [slow]
    for _ in range(9):
        fast.append(timeout_after(fast[-1], took=0.01, minimum=10))
    assert all(0.85 * before < after < before for before, after in pairwise(fast[:9]))
    assert fast[9] == 10
    assert timeout_after(10, took=1000, minimum=10) == backend_module.MAX_TIMEOUT


def test_timeout_adapts_to_response_times(monkeypatch):
    monkeypatch.setattr(backend_module, "MAX_TIMEOUT", 0.7)

    async def scenario(recorder):
        backend = Backend(recorder.url, min_timeout=0.1)
        recorder.hang = True
        hung = await asyncio.gather(*(backend.post(b"{}") for _ in range(4)))
        assert {one.status for one in hung} == {AttemptStatus.FAILED}
        assert backend.timeout == 0.2
        for _ in range(2):
            await backend.post(b"{}")
        assert backend.timeout == 0.7
        await asyncio.to_thread(recorder.release)
        # Fast responses, as many as it takes on a machine on which some are slow.
        while backend.timeout >= 0.2:
            await backend.post(b"{}")
        await backend.close()

    with recording() as recorder:
        asyncio.run(asyncio.wait_for(scenario(recorder), 60))


def test_no_connection_is_left_open_by_a_cancelled_request(monkeypatch):
    """A cancelled request of a client whose idle connections the backend has closed, whichever await it reaches."""
    unclosed = []
    monkeypatch.setattr(sys, "unraisablehook", lambda raised: unclosed.append(repr(raised.exc_value)))
    gc.collect()
    unclosed.clear()  # what another test left open, if it failed

    async def cancelled_after(steps):
        with recording() as backend:
            client = Backend(backend.url)
            accepted = await together(client, 5)
            assert {result.status for result in accepted} == {AttemptStatus.ACCEPTED}
            await asyncio.to_thread(backend.stop)
            backend.start()
            request = asyncio.create_task(client.post(encode(body())))
            for _ in range(steps):
                await asyncio.sleep(0)
            request.cancel()
            await asyncio.wait([request])
            await client.close()

    async def together(client, count):
        return await asyncio.gather(*(client.post(encode(body(run=number))) for number in range(1, count + 1)))

    for steps in range(12):
        asyncio.run(cancelled_after(steps))
    gc.collect()
    assert unclosed == []
