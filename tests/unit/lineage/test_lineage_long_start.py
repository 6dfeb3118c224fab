# SPDX-License-Identifier: Apache-2.0
"""Start on a long log: events are stored while the graph is made again, and nothing is answered from a part of it."""

import asyncio
import json
import logging
import signal
import time
from contextlib import asynccontextmanager, closing

import httpx
import pytest
from lineage_client import Client
from lineage_events import RULES, at, body, dataset, original, read, run_id
from lineage_run_histories import RunHistories

from lineage.api import app as lineage_app
from lineage.api import create_app
from lineage.events import canonical_json
from lineage.events.timestamps import parse_time
from lineage.graph import Graph, export_graph, fold_events
from lineage.rules.event_reader import EventReader
from lineage.store import EventLog, StoreError, reading_progress
from lineage.store.horizons import Horizon, Horizons
from lineage.store.postgres.log import PostgresLog
from lineage.store.projection import Projection
from lineage.store.state_file import open_state
from tests.bench.service_process import running_service

JSON = {"Content-Type": "application/json"}
WAIT_SECONDS = 60
BODIES = [event.original.body for event in RunHistories(3).make()]


@pytest.fixture(autouse=True)
def every_log_is_long(monkeypatch):
    monkeypatch.setattr(lineage_app, "MAX_EVENTS_AHEAD", 0)


class Hold:
    """Holds the build of a graph before its first step, or after its last one, until `release`."""

    def __init__(self, monkeypatch, place):
        self.released = False
        build = Projection.build

        def held(projection, checkpoints=False):
            if place == "before":
                yield from self._wait()
            yield from build(projection, checkpoints)
            if place == "after":
                yield from self._wait()

        monkeypatch.setattr(Projection, "build", held)

    def release(self):
        """Let the build go on."""
        self.released = True

    def _wait(self):
        while not self.released:
            yield


@asynccontextmanager
async def serving(store, environment=None, instance=None, **changes):
    log, settings = (
        (store.open(), store.settings(**changes))
        if instance is None
        else (store.open(instance), store.settings(instance))
    )
    app = create_app(settings, RULES, log, environment or {})
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost:5000") as client:
            yield app, client


def fill(store, bodies):
    with closing(store.open()) as log:
        log.append([read(content).original for content in bodies])


def saved_position(store):
    """Return the position of the saved state, and that of the log."""
    with closing(store.open()) as log:
        state = open_state(store.settings().data, RULES, 0, log.last(), log.identity)
        state.close()
        return state.position, log.last()


async def wait_until_ready(app):
    async with asyncio.timeout(WAIT_SECONDS):
        await app.state.service.wait_until_ready()


def expected_graph(bodies):
    lineage = fold_events(read(content) for content in bodies)
    return canonical_json(export_graph(lineage, Graph(lineage)))


async def post(client, content, path=""):
    return await client.post(f"/api/v1/lineage{path}", content=json.dumps(content), headers=JSON)


@pytest.mark.parametrize("place", ["before", "after"])
def test_events_are_stored_while_the_graph_is_made(store, monkeypatch, place):
    hold = Hold(monkeypatch, place)
    half = len(BODIES) // 2
    fill(store, BODIES[:half])

    async def scenario():
        async with serving(store) as (app, client):
            for content in BODIES[half : half + 10]:
                assert (await post(client, content)).status_code == 201
            batch = (await post(client, BODIES[half + 5 :], "/batch")).json()
            assert batch == {"received": len(BODIES) - half - 5, "stored": len(BODIES) - half - 10, "duplicates": 5}
            assert (await post(client, {"eventType": "START"})).status_code == 422
            assert (await client.get("/health")).json()["starting"].startswith("read")
            hold.release()
            await wait_until_ready(app)
            assert (await client.get("/health")).json() == {"status": "UP"}
            assert (await client.get("/api/v1/graph")).content == expected_graph(BODIES)
            stats = (await client.get("/api/v1/stats")).json()
            assert [stats[name] for name in ("stored", "duplicates", "logged")] == [len(BODIES) - half, 5, len(BODIES)]
            # What arrives from now on is in the graph at once.
            assert (await post(client, body("COMPLETE", 9_000, job="next"))).status_code == 201
            assert (await client.get("/api/v1/jobs/search", params={"q": "next"})).status_code in (200, 404)
            assert b'"next"' in (await client.get("/api/v1/graph")).content

    asyncio.run(scenario())
    # The next start has nothing to read.
    assert saved_position(store) == (len(BODIES) + 1, len(BODIES) + 1)


def test_a_refused_end_is_kept_while_the_graph_is_made(store, monkeypatch):
    """Without a readable time it has that of the last event of its run."""
    fill(store, [body("START", 0, run=501), body("RUNNING", 70, run=501), *BODIES])

    async def start_once():
        async with serving(store) as (app, _):
            await wait_until_ready(app)

    async def scenario(hold):
        async with serving(store) as (app, client):
            for run in (501, 502):
                end = {**body("COMPLETE", 90, run=run, job="job" if run == 501 else "other"), "eventTime": "yesterday"}
                assert (await post(client, end)).status_code == 422
            hold.release()
            await wait_until_ready(app)
            known = (await client.get(f"/api/v1/jobs/runs/{run_id(501)}")).json()
            assert (known["state"], parse_time(known["endedAt"])) == ("COMPLETED", parse_time(at(70)))
            assert (await client.get(f"/api/v1/jobs/runs/{run_id(502)}")).json()["state"] == "COMPLETED"

    asyncio.run(start_once())
    fill(store, [body("START", 9_000, job="another")])
    asyncio.run(scenario(Hold(monkeypatch, "before")))


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v1/graph"),
        ("GET", "/api/v1/graph?asOf=2026-01-01T00:00:00Z"),
        ("GET", "/api/v1/namespaces"),
        ("GET", "/api/v1/changes"),
        ("GET", "/api/v2beta/search/jobs?q=a"),
        ("PUT", "/api/v1/namespaces/new"),
        ("POST", "/api/v1/rebuild"),
        ("GET", "/metrics"),
    ],
)
def test_what_needs_the_graph_is_refused_with_the_progress(store, monkeypatch, method, path):
    Hold(monkeypatch, "before")
    fill(store, BODIES)

    async def scenario():
        async with serving(store, require_keys=False) as (_, client):
            token = (store.settings().data / "admin-token").read_text().strip()
            headers = {**JSON, "Authorization": f"Bearer {token}"}
            answer = await client.request(method, path, headers=headers)
            assert (answer.status_code, answer.headers["Retry-After"]) == (503, "10")
            error = answer.json()["error"]
            assert error["code"] == "starting"
            assert f"reading {len(BODIES)} events of the log to make the graph again" in error["message"]
            foreign = await client.request(method, path, headers={**headers, "Host": "attacker.example"})
            assert foreign.status_code == 421

    asyncio.run(scenario())


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_start_that_is_stopped_goes_on_where_it_was(store, monkeypatch, place):
    first, stored = len(BODIES) // 3, 2 * len(BODIES) // 3
    fill(store, BODIES[:first])

    async def start(through_end):
        async with serving(store) as (app, client):
            if through_end:
                await wait_until_ready(app)
                return (await client.get("/api/v1/graph")).content
            for content in BODIES[stored:]:
                await post(client, content)
            for _ in range(500):
                await asyncio.sleep(0)
            return None

    asyncio.run(start(through_end=True))
    fill(store, BODIES[first:stored])
    with monkeypatch.context() as patched:
        Hold(patched, place)
        asyncio.run(start(through_end=False))
    position, last = saved_position(store)
    assert last == len(BODIES)
    assert position in (range(first, first + 1) if place == "before" else range(stored, len(BODIES)))
    assert asyncio.run(start(through_end=True)) == expected_graph(BODIES)


def test_what_reads_the_graph_starts_with_it(store, monkeypatch):
    hold = Hold(monkeypatch, "before")
    fill(store, BODIES)
    webhooks = {"LINEAGE_WEBHOOKS": json.dumps([{"name": "hook", "shape": "slack", "url": "http://127.0.0.1:9/hook"}])}

    async def scenario():
        async with serving(store, webhooks, forward_to="http://127.0.0.1:9") as (app, _):
            service = app.state.service
            for _ in range(20):
                await asyncio.sleep(0)
            assert (service.forwarder, app.state.watch) == (None, None)
            hold.release()
            await wait_until_ready(app)
            assert service.forwarder is not None
            async with asyncio.timeout(WAIT_SECONDS):
                while app.state.watch is None:
                    await asyncio.sleep(0.01)

    asyncio.run(scenario())


def test_a_log_that_cannot_be_read_stops_the_service(store, monkeypatch, caplog):
    fill(store, BODIES)
    signals = []
    monkeypatch.setattr(signal, "raise_signal", signals.append)

    def unreadable(*_):
        raise StoreError("disk I/O error")

    for log in (EventLog, PostgresLog):
        monkeypatch.setattr(log, "events", unreadable)

    async def scenario():
        async with serving(store) as (app, client):
            async with asyncio.timeout(WAIT_SECONDS):
                while not signals:
                    await asyncio.sleep(0.01)
            assert (await client.get("/api/v1/graph")).status_code == 503
            assert app.state.service.starting is not None

    asyncio.run(scenario())
    assert signals == [signal.SIGTERM]
    assert "the graph cannot be made from the log: the service stops" in caplog.text


@pytest.mark.parametrize("compacted", [0, 60])
def test_the_log_of_the_service_has_the_progress(store, caplog, monkeypatch, compacted):
    monkeypatch.setattr(reading_progress, "REPORT_SECONDS", 0)
    with closing(store.open()) as log:
        log.append([original("COMPLETE", 0, run=number) for number in range(1, compacted + 1)])
        while log.compact(EventReader(RULES), Horizons(Horizon(2**62))):
            pass
        assert (log.count(), log.compacted_through()) == (0, compacted)
        log.append([original("COMPLETE", 1, run=number) for number in range(1, 102)])

    async def scenario():
        async with serving(store) as (app, _):
            await wait_until_ready(app)

    with caplog.at_level(logging.INFO, "lineage.service"):
        asyncio.run(scenario())
    found = [record.message.partition(" events")[0] for record in caplog.records if record.message.startswith("read ")]
    assert found[:2] == ["read 25 of 101", "read 50 of 101"]


def test_an_instance_that_only_reads_follows_the_log_once_its_graph_is_made(postgres_store, monkeypatch):
    fill(postgres_store, BODIES[:-1])

    async def scenario():
        async with serving(postgres_store) as (writer, client):
            await wait_until_ready(writer)
            hold = Hold(monkeypatch, "before")
            async with serving(postgres_store, instance="two") as (reader, other):
                assert (await post(other, BODIES[-1])).json()["error"]["code"] == "not_writer"
                assert (await other.get("/api/v1/graph")).json()["error"]["code"] == "starting"
                assert (await post(client, BODIES[-1])).status_code == 201
                hold.release()
                await wait_until_ready(reader)
                async with asyncio.timeout(WAIT_SECONDS):
                    while (await other.get("/api/v1/graph")).content != expected_graph(BODIES):
                        await asyncio.sleep(0.05)

    asyncio.run(scenario())


@pytest.mark.slow
def test_a_killed_service_takes_events_at_once_and_loses_none(tmp_path):
    """A real process, which is killed while it makes the graph of 25,000 events again."""
    data = tmp_path / "data"
    contents = [
        body("COMPLETE", number, run=number, job=f"job {number % 50}", outputs=[dataset(f"table {number % 70}")])
        for number in range(25_000)
    ]
    data.mkdir()
    with closing(EventLog(data)) as log:
        log.append([read(content).original for content in contents])
    late = [body("COMPLETE", 30_000 + number, run=30_000 + number, job=f"late {number}") for number in range(6)]
    for attempt in range(2):
        with running_service(data) as service:
            assert service.ready_seconds < WAIT_SECONDS
            client = Client(service)
            for content in late[3 * attempt :][:3]:
                assert client.post(content).status == 201
            if attempt == 0:
                assert httpx.get(f"{service.url}/health").json().get("starting") is not None
                assert client.get("/graph").status == 503
                service.kill()
            else:
                while httpx.get(f"{service.url}/health").json().get("starting") is not None:
                    time.sleep(0.05)
                assert client.get("/graph").body == expected_graph([*contents, *late])
            client.close()
