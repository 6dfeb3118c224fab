# SPDX-License-Identifier: Apache-2.0
"""Two processes share a log in Postgres: repeated `kill -9` of the writing one under load, and a stopped one."""

import json
import os
import random
import signal
import time
from contextlib import closing

import pytest
from lineage_client import Client
from lineage_events import encode
from test_lineage_crash import (
    EVENTS,
    SEED,
    ServiceAddress,
    acknowledged_count,
    acknowledged_numbers,
    content_of,
    requests_of,
    senders_for,  # noqa: F401
    stored_numbers,
    wait_until,
)

from lineage.rules import Rules
from lineage.rules.event_reader import read_event
from lineage.store.postgres.address import PASSWORD
from lineage.store.postgres.connections import SILENCE_SECONDS
from tests.bench.service_process import running_service

pytestmark = pytest.mark.slow

KILLS = 4
TAKE_OVER_SECONDS = 300


@pytest.fixture
def instance(database, tmp_path, monkeypatch):
    """Return a function that runs an instance of a name."""
    monkeypatch.setenv(PASSWORD, database.server.password)
    return lambda name: running_service(tmp_path / name, "--store", database.url)


def writes(service):
    with closing(Client(service)) as client:
        return client.json("/stats")["instance"]["writes"]


def await_true(condition, seconds=TAKE_OVER_SECONDS):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.05)


def graph(service):
    with closing(Client(service)) as client:
        return client.json("/graph")


def test_kills_of_the_writer_neither_lose_nor_duplicate_events(instance, senders_for):  # noqa: F811
    chance = random.Random(SEED)
    bodies = [encode(content_of(number)) for number in range(EVENTS)]
    events = [read_event(body, Rules()) for body in bodies]
    target = ServiceAddress()
    names = ["a", "b"]
    running = [instance(name) for name in names]
    services = [starting.__enter__() for starting in running]
    try:
        assert [writes(service) for service in services] == [True, False]
        target.moved((services[0].host, services[0].port))
        senders = senders_for(requests_of(chance), bodies, target)
        for moment in sorted(chance.randrange(EVENTS // 20, EVENTS * 9 // 10) for _ in range(KILLS)):
            wait_until(lambda moment=moment: acknowledged_count(senders) >= moment, senders)
            target.moved(None)
            services[0].kill()
            running[0].__exit__(None, None, None)
            # The other one takes over, and the killed one starts again as the reader.
            for each in (names, running, services):
                each.reverse()
            target.moved((services[0].host, services[0].port))
            await_true(lambda: writes(services[0]))
            running[1] = instance(names[1])
            services[1] = running[1].__enter__()
            assert not writes(services[1])
        assert acknowledged_numbers(senders, finished=True) == set(range(EVENTS))
        assert sum(sender.retried for sender in senders) > 0
        assert stored_numbers(services[0], events) == set(range(EVENTS))
        await_true(lambda: graph(services[1]) == graph(services[0]))
        assert stored_numbers(services[1], events) == set(range(EVENTS))
    finally:
        for starting in running:
            starting.__exit__(None, None, None)


def test_a_writer_that_was_stopped_continues_as_a_reader(instance):
    with instance("a") as first, instance("b") as second, closing(Client(first)) as client:
        assert client.post(content_of(0)).status == 201
        os.kill(first.process.pid, signal.SIGSTOP)
        try:
            await_true(lambda: writes(second), SILENCE_SECONDS + TAKE_OVER_SECONDS)
        finally:
            os.kill(first.process.pid, signal.SIGCONT)
        refused = client.post(content_of(1))
        assert refused.status == 503
        assert json.loads(refused.body)["error"]["code"] in ("not_writer", "storage_failed")
        with closing(Client(second)) as other:
            assert other.post(content_of(1)).status == 201
        await_true(lambda: not writes(first))
        await_true(lambda: graph(first) == graph(second))
