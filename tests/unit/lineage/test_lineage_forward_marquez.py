# SPDX-License-Identifier: Apache-2.0
"""Forwarding to Marquez as it was observed: each fault of an earlier feed, and random outages, kills and restarts."""

import asyncio
import random
from contextlib import asynccontextmanager

import httpx
import pytest
from lineage_client import JSON
from lineage_events import RULES, body, dataset, dataset_event, encode, facet, run_id, schema, source
from lineage_marquez_backend import MarquezBackend
from lineage_recorder import TERMINAL, WAIT_SECONDS, recording

from lineage.api import create_app
from lineage.events import canonical_json
from lineage.forward import Forwarder
from lineage.forward import delivery as delivery_module
from lineage.settings import Settings
from lineage.store import EventLog

TIMEOUT = 0.3
"""Smallest timeout of a request, short so that a stalled backend is noticed soon."""


@pytest.fixture
def marquez():
    with recording(MarquezBackend) as found:
        yield found


@pytest.fixture(autouse=True)
def short_delays(monkeypatch):
    monkeypatch.setattr(delivery_module, "FIRST_DELAY", 0.01)
    monkeypatch.setattr(delivery_module, "MAX_DELAY", 0.05)
    monkeypatch.setattr(Forwarder.__init__, "__defaults__", (None, TIMEOUT))


@asynccontextmanager
async def serving(directory, marquez):
    """Provide a client and the service with forwarding."""
    settings = Settings(host="127.0.0.1", port=0, data=directory, rules=None, forward_to=marquez.url)
    app = create_app(settings, RULES, EventLog(directory, settings.max_store_bytes))
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://lineage") as client:
            yield client, app.state.service


async def post(client, *contents):
    for content in contents:
        assert (await client.post("/api/v1/lineage", content=encode(content), headers=JSON)).status_code == 201


async def delivered(service, marquez):
    await asyncio.to_thread(marquez.wait_for, lambda: service.forwarder.status()["behind"] == 0, "all delivered")


def forward(directory, marquez, *contents):
    """Store the events, forward all of them, and return the forwarder's status."""

    async def scenario():
        async with serving(directory, marquez) as (client, service):
            await post(client, *contents)
            await delivered(service, marquez)
            return service.forwarder.status()

    return asyncio.run(asyncio.wait_for(scenario(), WAIT_SECONDS))


def step(second=0, run=1, job="job", event_type="START", **options):
    """Return an event of a job that reads `in`, without a schema, and writes `out`."""
    columns = {"fields": {"y": {"inputFields": [source("in", "x")]}}}
    output = dataset("out", schema=schema("y"), columnLineage=columns)
    return body(event_type, second, run=run, job=job, inputs=[dataset("in")], outputs=[output], **options)


def test_job_without_job_type_is_accepted(tmp_path, marquez):
    partial = {"jobType": {"processingType": "STREAMING", "integration": "FLINK"}}
    status = forward(tmp_path, marquez, step(), step(1, 2, "other", job_facets=partial))
    assert (status["delivered"], status["parked"], marquez.violations) == (2, 0, [])


def test_tombstones_are_not_refused(tmp_path, marquez):
    gone = {**facet(), "_deleted": True}
    deleting = step(5)
    deleting["job"]["facets"] = {"documentation": gone, "sql": gone}
    deleting["outputs"][0]["facets"]["documentation"] = gone
    described = dataset("out")
    described["facets"] = {"documentation": gone}
    status = forward(tmp_path, marquez, step(), deleting, dataset_event(6, described))
    assert (status["delivered"], marquez.violations) == (3, [])


def test_columns_of_an_input_without_schema_have_edges(tmp_path, marquez):
    forward(tmp_path, marquez, step())
    assert marquez.columns == {("in", "x", "out", "y")}


def test_aliases_are_not_datasets(tmp_path, marquez):
    aliased = step()
    identifiers = [{"namespace": "hive://metastore", "name": "db.out", "type": "TABLE"}]
    aliased["outputs"][0]["facets"]["symlinks"] = facet(identifiers=identifiers)
    forward(tmp_path, marquez, aliased)
    assert {name for _, name in marquez.fields} == {"in", "out"}


def test_sources_can_be_listed(tmp_path, marquez):
    forward(tmp_path, marquez, step())
    assert httpx.get(f"{marquez.url}/api/v1/sources").json() == [["s3://warehouse", "s3://warehouse"]]


def test_fields_of_a_dataset_do_not_flap(tmp_path, marquez):
    """The events of a run state no, one and both columns; all are forwarded when the last one is known."""
    stated = [[], ["x"], ["x", "y"], []]
    outputs = [dataset("out", **({"schema": schema(*columns)} if columns else {})) for columns in stated]
    types = ("START", "RUNNING", "RUNNING", "COMPLETE")
    made = [body(kind, second, outputs=[outputs[second]]) for second, kind in enumerate(types)]

    async def scenario():
        await asyncio.to_thread(marquez.stop)
        async with serving(tmp_path, marquez) as (client, service):
            await post(client, *made, body("START", 9, run=2, outputs=[dataset("out")]))
            marquez.start()
            await delivered(service, marquez)

    asyncio.run(asyncio.wait_for(scenario(), WAIT_SECONDS))
    assert marquez.field_history["s3://warehouse", "out"] == [["x", "y"]] * 5


def test_readers_do_not_add_fields(tmp_path, marquez):
    reader = {"fields": [{"name": "Y", "type": "STRING"}, {"name": "z", "type": "INT"}]}
    reading = body("START", 1, run=2, job="reader", inputs=[dataset("out", schema=reader)])
    forward(tmp_path, marquez, step(), reading)
    assert marquez.fields["s3://warehouse", "out"] == ["y"]


@pytest.mark.parametrize("event_type", ["START", "COMPLETE", "FAIL", "ABORT"])
def test_event_that_was_stored_without_a_response_is_not_sent_again(tmp_path, marquez, event_type):
    marquez.stall = lambda event: event["eventType"] == event_type

    async def scenario():
        async with serving(tmp_path, marquez) as (client, service):
            await post(client, step(event_type=event_type))
            await delivered(service, marquez)
            await asyncio.to_thread(marquez.release)
            return service.forwarder.status()

    status = asyncio.run(asyncio.wait_for(scenario(), WAIT_SECONDS))
    assert (status["delivered"], status["parked"]) == (1, 0)
    marquez.stop()
    assert [event["eventType"] for event, _ in marquez.attempts] == [event_type]


def test_end_that_a_weaker_end_announced_is_sent(tmp_path, marquez):
    """COMPLETE is sent as the FAIL that follows it; the FAIL itself, whose first attempt fails, brings its facets."""
    failures = iter([500])

    def rule(event):
        told = "reason" in event["run"]["facets"]
        return (next(failures, None) if told else None) or marquez.store(event)

    made = [step(0), step(5, event_type="COMPLETE"), step(9, event_type="FAIL", run_facets={"reason": facet()})]

    async def scenario():
        await asyncio.to_thread(marquez.stop)
        async with serving(tmp_path, marquez) as (client, service):
            await post(client, *made)
            marquez.rule = rule
            marquez.start()
            await delivered(service, marquez)

    asyncio.run(asyncio.wait_for(scenario(), WAIT_SECONDS))
    assert [sorted(event["run"]["facets"]) == ["reason"] for event in marquez.stored] == [False, False, True]


def test_event_that_cannot_be_recognized_is_sent_until_it_is_answered(tmp_path, marquez):
    marquez.stall = lambda event: event["eventType"] == "RUNNING"

    async def scenario():
        async with serving(tmp_path, marquez) as (client, service):
            await post(client, step(event_type="RUNNING"))
            await asyncio.to_thread(marquez.wait_for, lambda: len(marquez.stored) > 1, "a second request")
            marquez.stall = lambda _: False
            await delivered(service, marquez)
            await asyncio.to_thread(marquez.release)

    asyncio.run(asyncio.wait_for(scenario(), WAIT_SECONDS))
    assert len(marquez.stored) > 2


def test_no_inferred_end_is_forwarded(tmp_path, marquez):
    """Two instances of a streaming job that both emit events, and a child that outlives its application."""
    streaming = {"job": "query", "streaming": True}
    child = {"run": 4, "job": "app.a", "parent": (3, "app")}
    made = [
        body("START", 0, run=1, **streaming),
        body("START", 1, run=2, **streaming),
        body("RUNNING", 2, run=1, **streaming),
        body("RUNNING", 3, run=2, **streaming),
        body("START", 0, run=3, job="app"),
        body("START", 1, **child),
        body("COMPLETE", 9, run=3, job="app"),
        body("RUNNING", 10, **child),
    ]
    forward(tmp_path, marquez, *made)
    states = {number: marquez.runs[run_id(number)]["state"] for number in (1, 2, 3, 4)}
    assert states == {1: "RUNNING", 2: "RUNNING", 3: "COMPLETED", 4: "RUNNING"}
    # Delivery is at least once: an answer that comes too late repeats an event.
    assert len({canonical_json(event) for event in marquez.events}) == len(made)


def test_late_events_do_not_change_the_end_of_a_run(tmp_path, marquez):
    made = [step(0), step(5, event_type="COMPLETE"), step(2, event_type="RUNNING"), step(3, event_type="FAIL")]
    forward(tmp_path, marquez, *made, step(4, event_type="OTHER"))
    run = marquez.runs[run_id(1)]
    assert (run["state"], run["endedAt"][:19]) == ("FAILED", "2026-01-01T00:00:03")


class Chaos:
    """Seeded history of runs, outages of the backend, and kills of the service."""

    def __init__(self, seed, marquez):
        self.random = random.Random(seed)
        self.marquez = marquez
        marquez.rule = self.rule
        self.stored = {}
        self.number = 0

    async def play(self, directory):
        for _ in range(self.random.randint(2, 4)):
            async with serving(directory, self.marquez) as (client, service):
                for _ in range(self.random.randint(2, 6)):
                    await self.post_some(client)
                    await self.random.choice((self.cut, self.fail, self.stall, self.wait))()
                if self.random.random() < 0.7:
                    await self.kill(service)
        await self.recover()
        async with serving(directory, self.marquez) as (_, service):
            await delivered(service, self.marquez)
            return {letter.hash for letter in service.log.dead_letters.page(1000)}

    async def post_some(self, client):
        for _ in range(self.random.randint(1, 15)):
            run = self.random.randint(1, 12)
            # Runs 1 to 4 are instances of one streaming job, 5 to 8 children of run 9, which is of a third job.
            options = {"job": "query", "streaming": True} if run <= 4 else {"job": f"job{run}"}
            if 5 <= run <= 8:
                options["parent"] = (9, "job9")
            event_type = self.random.choice(("START", "RUNNING", "RUNNING", "OTHER", "COMPLETE", "FAIL"))
            if run <= 6 and event_type in TERMINAL:
                event_type = "RUNNING"
            poison = self.random.random() < 0.05
            self.number += 1
            facets = {"number": {"value": self.number}, **({"poison": {}} if poison else {})}
            await post(client, body(event_type, self.number, run=run, run_facets=facets, **options))
            self.stored[self.number] = (run, event_type, poison)

    async def cut(self):
        await asyncio.to_thread(self.marquez.release)
        await asyncio.to_thread(self.marquez.stop)
        await asyncio.sleep(self.random.uniform(0, 0.1))
        self.marquez.start()

    async def fail(self):
        self.marquez.rule = lambda _: self.random.choice((500, 503, 401, 429))

    async def stall(self):
        self.marquez.rule = self.rule
        self.marquez.stall = lambda _: self.random.random() < 0.1

    async def wait(self):
        self.marquez.rule = self.rule
        await asyncio.sleep(self.random.uniform(0, 0.2))

    async def recover(self):
        self.marquez.stall = lambda _: False
        self.marquez.rule = self.rule
        await asyncio.to_thread(self.marquez.release)
        await asyncio.to_thread(self.marquez.stop)
        self.marquez.start()

    def rule(self, event):
        return 400 if "poison" in event["run"]["facets"] else self.marquez.store(event)

    async def kill(self, service):
        """End forwarding without draining requests or storing the position, as SIGKILL does."""
        forwarder = service.forwarder
        forwarder._task.cancel()
        await asyncio.wait([forwarder._task])
        forwarder._task = None


@pytest.mark.parametrize("seed", range(12))
def test_random_outages_kills_and_restarts(tmp_path, marquez, seed):
    chaos = Chaos(seed, marquez)
    letters = asyncio.run(asyncio.wait_for(chaos.play(tmp_path), 2 * WAIT_SECONDS))
    stored, poison = chaos.stored, {number for number, (_, _, poison) in chaos.stored.items() if poison}
    numbers = [number_of(event) for event in marquez.stored]
    assert set(numbers) == stored.keys() - poison
    assert len(letters) == len(poison)
    assert_first_arrivals_in_order(numbers, stored)
    assert_states(marquez.stored, stored)


def number_of(event):
    return event["run"]["facets"]["number"]["value"]


def assert_first_arrivals_in_order(numbers, stored):
    """Assert that the first arrivals of each run are in the order in which the events were posted."""
    for run in {run for run, _, _ in stored.values()}:
        first = list(dict.fromkeys(number for number in numbers if stored[number][0] == run))
        assert first == sorted(first)


def assert_states(received, stored):
    """Assert that a run has ended if and only if its emitter ended it; no other end was sent."""
    for run in {run for run, _, _ in stored.values()}:
        posted = {event_type for one, event_type, _ in stored.values() if one == run} & TERMINAL
        sent = [event["eventType"] for event in received if event["run"]["runId"] == run_id(run)]
        assert set(sent) & TERMINAL <= posted
        ends = [number for number, (one, event_type, _) in stored.items() if one == run and event_type in TERMINAL]
        refused = [number for number in ends if stored[number][2]]
        if ends and not refused:
            assert sent[-1] == ("FAIL" if "FAIL" in posted else "COMPLETE")
