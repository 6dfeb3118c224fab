# SPDX-License-Identifier: Apache-2.0
"""`kill -9` again and again under load: what was acknowledged is there once, and the graph is that of what is there.

`LINEAGE_LAB_CRASH_EVENTS` and `LINEAGE_LAB_CRASH_SEED` ask for other sizes and other moments.
"""

import json
import os
import random
import threading
import time

import pytest
from lineage_events import body, dataset, encode, schema, source

from lineage.events import canonical_json
from lineage.graph import Graph, export_graph, fold_events
from lineage.rules import Rules
from lineage.rules.event_reader import read_event
from tests.bench.http_connection import HttpConnection, request_bytes
from tests.bench.lineage_ingest import has_batches
from tests.bench.load import BATCH, SINGLE
from tests.bench.service_process import running_service

pytestmark = pytest.mark.slow

EVENTS = int(os.environ.get("LINEAGE_LAB_CRASH_EVENTS", "20000"))
SEED = int(os.environ.get("LINEAGE_LAB_CRASH_SEED", "1"))
CLIENTS = 12
JOBS = 40
KILLS = 4
BATCH_SIZE = 50
PAGE = 5_000


class Sender(threading.Thread):
    """Sends its parcels in order, each until it is acknowledged, now and then one twice; ends when told to give up.

    A parcel is a path and the numbers of the events that go there in one request. `waiting` is what was not
    acknowledged when it ended.
    """

    def __init__(self, parcels, bodies, where, chance):
        super().__init__()
        self.waiting = list(reversed(parcels))
        self.acknowledged = []
        self.retried = 0
        self.failure = None
        self._bodies = bodies
        self._where = where
        self._chance = chance

    def run(self):
        try:
            while self.waiting:
                path, numbers = self.waiting[-1]
                for _ in range(2 if self._chance.random() < 0.05 else 1):
                    self._deliver(path, numbers)
                self.acknowledged += numbers
                self.waiting.pop()
        except GaveUp:
            return
        except Exception as error:
            self.failure = error

    def _deliver(self, path, numbers):
        content = b",".join(self._bodies[number] for number in numbers)
        request = request_bytes("POST", path, content if path == SINGLE else b"[" + content + b"]")
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


class GaveUp(Exception):
    """No service will come back."""


class Where:
    """Where the service is just now: senders wait here while it is down."""

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
        """This thread's connection to the service that is up."""
        known = self._connections.get(threading.get_ident())
        while known is None:
            with self._condition:
                assert self._condition.wait_for(lambda: self._address or self._given_up, 120), "no service came back"
                if self._given_up:
                    raise GaveUp
                address = self._address
            try:
                known = self._connections[threading.get_ident()] = HttpConnection(*address)
            except OSError:
                with self._condition:  # it was killed since: wait for the next one
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
    """Makes senders and starts them; at the end of the test none of them, nor a connection of theirs, is left."""
    places, made = [], []

    def start(parcels, bodies, where):
        places.append(where)
        senders = [Sender(sent, bodies, where, random.Random(SEED + i)) for i, sent in enumerate(parcels)]
        made.extend(senders)
        for sender in senders:
            sender.start()
        return senders

    yield start
    for place in places:
        place.moved(None)
        place.give_up()
    for sender in made:
        sender.join()
    for place in places:
        place.close()


def content_of(number):
    """Event `number`: three for each run; every run of a job reads one table more, up to five."""
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


def parcels_of(batches, chance):
    """Numbers of events as they are sent, one by one and in batches; about one in fifty by two senders."""
    todo = [*range(EVENTS), *chance.sample(range(EVENTS), EVENTS // 50)]
    parcels = [[] for _ in range(CLIENTS)]
    at = 0
    while at < len(todo):
        size = chance.randint(2, BATCH_SIZE) if batches and chance.random() < 0.1 else 1
        parcels[chance.randrange(CLIENTS)].append((BATCH if size > 1 else SINGLE, todo[at : at + size]))
        at += size
    return parcels


def look(service, events):
    """Numbers of the stored events by paging; the graph must be the fold of just these, the counts theirs."""
    connection = HttpConnection(service.host, service.port)
    number_of = {event.encoded: number for number, event in enumerate(events)}
    found = []
    while True:
        target = f"/api/v1/events/lineage?limit={PAGE}&offset={len(found)}&sortDirection=asc"
        page = json.loads(connection.exchange(request_bytes("GET", target)).body)
        found += [number_of[canonical_json(event)] for event in page["events"]]
        if len(found) >= page["totalCount"] or not page["events"]:
            break
    graph = json.loads(connection.exchange(request_bytes("GET", "/api/v1/graph")).body)
    stats = json.loads(connection.exchange(request_bytes("GET", "/api/v1/stats")).body)
    connection.close()
    assert len(found) == len(set(found)) == page["totalCount"] == stats["logged"]
    assert stats["unapplied"] == []
    lineage = fold_events(events[number] for number in found)
    assert graph == export_graph(lineage, Graph(lineage))
    return set(found)


def test_kills_at_any_moment_lose_and_double_nothing(tmp_path, senders_for):
    chance = random.Random(SEED)
    bodies = [encode(content_of(number)) for number in range(EVENTS)]
    events = [read_event(body, Rules()) for body in bodies]
    data = tmp_path / "data"
    with running_service(data) as service:
        parcels = parcels_of(has_batches(service), chance)
    where = Where()
    senders = senders_for(parcels, bodies, where)
    for moment in sorted(chance.randrange(EVENTS // 20, EVENTS * 9 // 10) for _ in range(KILLS)):
        with running_service(data) as service:
            where.moved((service.host, service.port))
            wait_until(lambda moment=moment: count_of(senders) >= moment, senders)
            where.moved(None)
            service.kill()
    where.give_up()
    first = acknowledged_by(senders, finished=True)
    assert sum(sender.retried for sender in senders) > 0
    assert len(first) < EVENTS

    with running_service(data) as service:
        stored = look(service, events)
        assert first <= stored, f"{len(first - stored)} acknowledged events are lost"
        where = Where()
        where.moved((service.host, service.port))
        rest = senders_for([sender.waiting[::-1] for sender in senders], bodies, where)
        second = acknowledged_by(rest, finished=True)
        service.kill()
    assert first | second == set(range(EVENTS))

    with running_service(data) as service:
        assert look(service, events) == set(range(EVENTS))


def acknowledged_by(senders, finished=False):
    """Numbers of the events that were acknowledged so far, or in all."""
    for sender in senders if finished else ():
        sender.join()
        if sender.failure:
            raise sender.failure
    return {number for sender in senders for number in tuple(sender.acknowledged)}


def count_of(senders):
    """About how many events were acknowledged so far; one that two senders sent may count twice."""
    return sum(len(sender.acknowledged) for sender in senders)


def wait_until(reached, senders):
    deadline = time.monotonic() + 120
    while not reached():
        assert not [sender.failure for sender in senders if sender.failure]
        assert time.monotonic() < deadline, f"only {count_of(senders)} events were acknowledged"
        time.sleep(0.01)
