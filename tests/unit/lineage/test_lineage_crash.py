# SPDX-License-Identifier: Apache-2.0
"""Repeated `kill -9` under load: every acknowledged event is stored once, and the graph equals that of the log.

`LINEAGE_LAB_CRASH_EVENTS` sets the number of events, `LINEAGE_LAB_CRASH_SEED` the times of the kills.
"""

import json
import os
import random
import threading
import time
from contextlib import closing

import pytest
from lineage_events import body, dataset, encode, schema, source

from lineage.events import canonical_json
from lineage.graph import Graph, export_graph, fold_events
from lineage.rules import Rules
from lineage.rules.event_reader import read_event
from tests.bench.http_connection import HttpConnection, request_bytes
from tests.bench.load_generator import BATCH_PATH, EVENT_PATH
from tests.bench.service_process import running_service

pytestmark = pytest.mark.slow

EVENTS = int(os.environ.get("LINEAGE_LAB_CRASH_EVENTS", "8000"))
SEED = int(os.environ.get("LINEAGE_LAB_CRASH_SEED", "1"))
CLIENTS = 12
JOBS = 40
KILLS = 4
BATCH_SIZE = 50
PAGE = 5_000


class Sender(threading.Thread):
    """Sends its requests in order, each until it is acknowledged, some of them twice; ends after `give_up`.

    A request is a path and the numbers of the events posted there. `waiting` holds the unacknowledged requests.
    """

    def __init__(self, requests, bodies, target, chance):
        super().__init__()
        self.waiting = list(reversed(requests))
        self.acknowledged = []
        self.retried = 0
        self.failure = None
        self._bodies = bodies
        self._where = target
        self._chance = chance

    def run(self):
        try:
            while self.waiting:
                path, numbers = self.waiting[-1]
                for _ in range(2 if self._chance.random() < 0.05 else 1):
                    self._deliver(path, numbers)
                self.acknowledged += numbers
                self.waiting.pop()
        except SenderStoppedError:
            return
        except Exception as error:
            self.failure = error

    def _deliver(self, path, numbers):
        content = b",".join(self._bodies[number] for number in numbers)
        request = request_bytes("POST", path, content if path == EVENT_PATH else b"[" + content + b"]")
        while True:
            connection = self._where.connection()
            try:
                answer = connection.exchange(request)
            except OSError:
                self._where.lost(connection)
                self.retried += 1
                continue
            if answer.status == 503:
                time.sleep(int(answer.headers["retry-after"]))
                continue
            assert answer.status in (200, 201), answer
            return


class SenderStoppedError(Exception):
    """Raised when the test ends without another service."""


class ServiceAddress:
    """Address of the running service; senders wait for it while the service is down."""

    def __init__(self):
        self._condition = threading.Condition()
        self._address = None
        self._given_up = False
        self._connections = {}

    def moved(self, address):
        with self._condition:
            self._address = address
            self._condition.notify_all()

    def give_up(self):
        with self._condition:
            self._given_up = True
            self._condition.notify_all()

    def connection(self):
        """Return this thread's connection to the running service."""
        known = self._connections.get(threading.get_ident())
        while known is None:
            with self._condition:
                assert self._condition.wait_for(lambda: self._address or self._given_up, 300), "no service within 300 s"
                if self._given_up:
                    raise SenderStoppedError
                address = self._address
            try:
                known = self._connections[threading.get_ident()] = HttpConnection(*address)
            except OSError:
                with self._condition:  # killed since: wait for the next service
                    if self._address == address:
                        self._address = None
        return known

    def lost(self, connection):
        connection.close()
        self._connections.pop(threading.get_ident(), None)

    def close(self):
        for connection in self._connections.values():
            connection.close()


@pytest.fixture
def senders_for():
    """Return a function that starts senders; all of them and their connections are closed after the test."""
    addresses, made = [], []

    def start(requests, bodies, target):
        addresses.append(target)
        senders = [Sender(sent, bodies, target, random.Random(SEED + i)) for i, sent in enumerate(requests)]
        made.extend(senders)
        for sender in senders:
            sender.start()
        return senders

    yield start
    for address in addresses:
        address.moved(None)
        address.give_up()
    for sender in made:
        sender.join()
    for address in addresses:
        address.close()


def content_of(number):
    """Return event `number`: three per run; each run of a job reads one more table, up to five."""
    run, step = divmod(number, 3)
    job, round_of_job = run % JOBS, run // JOBS
    columns = {"columnLineage": {"fields": {"c": {"inputFields": [source(f"in{job}", "c")]}}}}
    return body(
        ("START", "RUNNING", "ABORT" if run % 7 == 0 else "COMPLETE")[step],
        number / 10,
        run=run,
        job=f"job{job}",
        inputs=[dataset(f"in{job + near}") for near in range(1 + round_of_job % 5)],
        outputs=[dataset(f"out{job}", schema=schema("c", f"c{round_of_job % 3}"), **columns)],
    )


def requests_of(chance):
    """Return the requests, (path, event numbers), single and in batches; about one in fifty is sent by two senders."""
    todo = [*range(EVENTS), *chance.sample(range(EVENTS), EVENTS // 50)]
    requests = [[] for _ in range(CLIENTS)]
    at = 0
    while at < len(todo):
        size = chance.randint(2, BATCH_SIZE) if chance.random() < 0.1 else 1
        requests[chance.randrange(CLIENTS)].append((BATCH_PATH if size > 1 else EVENT_PATH, todo[at : at + size]))
        at += size
    return requests


def stored_numbers(service, events):
    """Return the numbers of the stored events by paging; assert that graph and counts equal those of these events."""
    number_of = {canonical_json(event.original.body): number for number, event in enumerate(events)}
    found = []
    with closing(HttpConnection(service.host, service.port)) as connection:
        while True:
            target = f"/api/v1/events/lineage?limit={PAGE}&offset={len(found)}&sortDirection=asc"
            page = json.loads(connection.exchange(request_bytes("GET", target)).body)
            found += [number_of[canonical_json(event)] for event in page["events"]]
            if len(found) >= page["totalCount"] or not page["events"]:
                break
        graph = json.loads(connection.exchange(request_bytes("GET", "/api/v1/graph")).body)
        stats = json.loads(connection.exchange(request_bytes("GET", "/api/v1/stats")).body)
    assert len(found) == len(set(found)) == page["totalCount"] == stats["logged"]
    assert stats["unapplied"] == []
    lineage = fold_events(events[number] for number in found)
    assert graph == export_graph(lineage, Graph(lineage))
    return set(found)


def test_kills_neither_lose_nor_duplicate_events(tmp_path, senders_for):
    chance = random.Random(SEED)
    bodies = [encode(content_of(number)) for number in range(EVENTS)]
    events = [read_event(body, Rules()) for body in bodies]
    data = tmp_path / "data"
    requests = requests_of(chance)
    target = ServiceAddress()
    senders = senders_for(requests, bodies, target)
    for moment in sorted(chance.randrange(EVENTS // 20, EVENTS * 9 // 10) for _ in range(KILLS)):
        with running_service(data, "--checkpoint-every", "0.2s") as service:
            target.moved((service.host, service.port))
            wait_until(lambda moment=moment: acknowledged_count(senders) >= moment, senders)
            target.moved(None)
            service.kill()
    target.give_up()
    first = acknowledged_numbers(senders, finished=True)
    assert sum(sender.retried for sender in senders) > 0
    assert len(first) < EVENTS

    with running_service(data) as service:
        stored = stored_numbers(service, events)
        assert first <= stored, f"{len(first - stored)} acknowledged events lost"
        target = ServiceAddress()
        target.moved((service.host, service.port))
        rest = senders_for([sender.waiting[::-1] for sender in senders], bodies, target)
        second = acknowledged_numbers(rest, finished=True)
        service.kill()
    assert first | second == set(range(EVENTS))

    with running_service(data) as service:
        assert stored_numbers(service, events) == set(range(EVENTS))


def acknowledged_numbers(senders, finished=False):
    """Return the numbers of the events acknowledged so far, or of all after the end."""
    for sender in senders if finished else ():
        sender.join()
        if sender.failure:
            raise sender.failure
    return {number for sender in senders for number in tuple(sender.acknowledged)}


def acknowledged_count(senders):
    """Return about how many events are acknowledged so far; those of two senders may count twice."""
    return sum(len(sender.acknowledged) for sender in senders)


def wait_until(reached, senders):
    deadline = time.monotonic() + 120
    while not reached():
        assert not [sender.failure for sender in senders if sender.failure]
        assert time.monotonic() < deadline, f"only {acknowledged_count(senders)} events acknowledged"
        time.sleep(0.01)
