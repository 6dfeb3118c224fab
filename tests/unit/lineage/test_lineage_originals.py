# SPDX-License-Identifier: Apache-2.0
"""The log holds events as they came: served unchanged, and named again under changed rules."""

import asyncio
import json
from contextlib import asynccontextmanager

import httpx
from lineage_events import body, dataset, encode, run_id

from lineage.api import create_app
from lineage.rules import NamespaceRule, Rules
from lineage.settings import Settings
from lineage.store import EventLog

OUTPUT = dataset("orders", namespace="kafka://broker-7:9092")
RENAMED = Rules(namespaces=(NamespaceRule("kafka://kafka:9092", hosts=("broker-7:9092",)),))


@asynccontextmanager
async def serving(directory, rules):
    settings = Settings(host="127.0.0.1", port=0, data=directory, rules=None)
    app = create_app(settings, rules, EventLog(directory))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://lineage") as client,
    ):
        yield client


async def datasets(client):
    graph = (await client.get("/api/v1/graph")).json()
    return [(found["namespace"], found["name"]) for found in graph["datasets"]]


async def post(client, data, path="/api/v1/lineage"):
    response = await client.post(path, content=data, headers={"content-type": "application/json"})
    assert response.status_code < 300, response.text


def test_changed_rules_name_stored_events_again(tmp_path):
    async def scenario():
        async with serving(tmp_path, Rules()) as client:
            await post(client, encode(body("COMPLETE", outputs=[OUTPUT])))
            assert await datasets(client) == [("kafka://broker-7:9092", "orders")]
        async with serving(tmp_path, RENAMED) as client:
            await post(client, encode(body("COMPLETE", 1, run=2, outputs=[OUTPUT])))
            assert await datasets(client) == [("kafka://kafka:9092", "orders")]

    asyncio.run(scenario())


def test_events_are_served_as_they_came(tmp_path):
    single = json.dumps(body("START", outputs=[OUTPUT]), indent=3).encode()
    batch = b"[\n" + single.replace(b"START", b"COMPLETE") + b" ]"

    async def scenario():
        async with serving(tmp_path, RENAMED) as client:
            await post(client, single)
            await post(client, encode(json.loads(single)))
            await post(client, batch, "/api/v1/lineage/batch")
            found = (await client.get("/api/v1/events/lineage", params={"sortDirection": "asc"})).content
        assert found.count(b"START") == 1, "other white space makes no other event"
        assert single in found
        assert batch[2:-2] in found

    asyncio.run(scenario())


def test_events_of_a_run_are_found_in_any_case_of_its_id(tmp_path):
    async def scenario():
        async with serving(tmp_path, Rules()) as client:
            for number in (10, 11):
                await post(client, encode(body("START", run=number)))
            found = await client.get("/api/v1/events/lineage", params={"run": run_id(10).upper()})
            assert [event["run"]["runId"] for event in found.json()["events"]] == [run_id(10)]

    asyncio.run(scenario())


def test_an_end_dated_in_the_far_future_counts_at_its_arrival(tmp_path):
    async def scenario():
        async with serving(tmp_path, Rules()) as client:
            wrong = {**body("COMPLETE", outputs=[dataset("old")]), "eventTime": "2199-01-01T00:00:00Z"}
            await post(client, encode(wrong))
            found = (await client.get(f"/api/v1/jobs/runs/{run_id(1)}")).json()
            assert found["state"] == "COMPLETED"
            assert not found["endedAt"].startswith("2199")
            events = (await client.get("/api/v1/events/lineage")).json()["events"]
            assert events[0]["eventTime"] == wrong["eventTime"]

    asyncio.run(scenario())


def test_events_are_served_under_the_names_of_the_graph_on_request(tmp_path):
    async def scenario():
        async with serving(tmp_path, RENAMED) as client:
            await post(client, encode(body("START", outputs=[OUTPUT])))
            for names, namespace in (("original", "kafka://broker-7:9092"), ("canonical", "kafka://kafka:9092")):
                found = (await client.get("/api/v1/events/lineage", params={"names": names})).json()["events"]
                assert [output["namespace"] for event in found for output in event["outputs"]] == [namespace]

    asyncio.run(scenario())
