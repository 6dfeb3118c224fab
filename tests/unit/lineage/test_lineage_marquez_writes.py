# SPDX-License-Identifier: Apache-2.0
"""Writes of Marquez's API: status, effect, and the events that they become."""

import json
import time
from pathlib import Path
from urllib.parse import quote

import jsonschema
import pytest
from lineage_events import NAMESPACE, body, dataset, read, run_id, schema
from test_lineage_api import get, post, with_client

from lineage.events import own_facets
from lineage.graph import Graph, export_graph, fold_events
from lineage.marquez.write_events import PRODUCER
from lineage.store import EventLog

WAREHOUSE = "s3://warehouse"
ORDERS = f"/namespaces/{quote(WAREHOUSE, safe='')}/datasets/sales%2Forders"
ETL = f"/namespaces/{NAMESPACE}/jobs/etl"
TABLE = {"type": "DB_TABLE", "physicalName": "orders", "sourceName": WAREHOUSE}
JOB = {"type": "BATCH", "inputs": [], "outputs": []}
TAGS = {"tags": [{"key": "GOLD", "value": "1"}, {"key": "PII", "value": "1", "field": "price"}]}


async def write(client, method, path, status=200, content=None):
    response = await client.request(method, f"/api/v1{path}", json=content)
    assert response.status_code == status, response.text
    return response.json()


async def send_events(client):
    orders = dataset("sales/orders", schema=schema("id", "price"), tags=TAGS)
    for second, state in enumerate(("START", "COMPLETE")):
        assert (await post(client, body(state, second, run=1, job="etl", outputs=[orders]))).status_code == 201


def writing(tmp_path, scenario):
    async def run(client):
        await send_events(client)
        await scenario(client)

    with_client(tmp_path, run)


def names(rows):
    return [row["name"] for row in rows]


def test_namespace_is_described_and_deleted_with_its_jobs(tmp_path):
    async def scenario(client):
        path = f"/namespaces/{NAMESPACE}"
        described = {"ownerName": "team", "description": "test jobs"}
        found = await write(client, "PUT", path, content=described)
        assert {key: found[key] for key in ("name", "isHidden", *described)} == {
            "name": NAMESPACE,
            "isHidden": False,
            **described,
        }
        assert await get(client, path) == found
        assert (await write(client, "DELETE", path))["isHidden"] is False
        assert (await get(client, path))["isHidden"] is True
        assert names((await get(client, "/namespaces"))["namespaces"]) == [WAREHOUSE]
        assert await get(client, "/jobs") == {"jobs": [], "totalCount": 0}
        await get(client, ETL, 404)
        # The next event of a job brings it and the namespace back, and no other job.
        event = body("START", run=2, job="other") | {
            "eventTime": time.strftime("%FT%TZ", time.gmtime(time.time() + 100))
        }
        assert (await post(client, event)).status_code == 201
        await write(client, "PUT", path, content=described)
        assert names((await get(client, "/jobs"))["jobs"]) == ["other"]
        await write(client, "PUT", ETL, content={"type": "BATCH", "inputs": [], "outputs": []})
        assert names((await get(client, "/jobs"))["jobs"]) == ["other", "etl"]
        assert (await get(client, path))["description"] == "test jobs"

    writing(tmp_path, scenario)


def test_deleted_job_leaves_graph_and_lists_until_its_next_event(tmp_path):
    async def scenario(client):
        before = await get(client, ETL)
        assert await write(client, "DELETE", ETL) == before
        await get(client, ETL, 404)
        await get(client, f"/lineage?nodeId=job:{NAMESPACE}:etl", 404)
        assert (await get(client, "/graph"))["jobs"] == []
        assert (await get(client, "/search?q=etl"))["results"] == []
        assert (await get(client, "/summaries"))["jobs"] == []
        await write(client, "DELETE", ETL, 404)
        later = time.time_ns() // 10**9 + 100
        event = {**body("START", run=2, job="etl"), "eventTime": time.strftime("%FT%TZ", time.gmtime(later))}
        await post(client, event)
        assert "lineageLab_deleted" not in (await get(client, ETL))["facets"]
        assert names((await get(client, "/jobs"))["jobs"]) == ["etl"]

    writing(tmp_path, scenario)


def test_dataset_is_described_and_deleted(tmp_path):
    async def scenario(client):
        content = {
            **TABLE,
            "description": "all orders",
            "fields": [{"name": "id", "type": "INT", "description": "key"}],
        }
        found = await write(client, "PUT", ORDERS, content=content)
        assert (found["physicalName"], found["description"], found["type"]) == ("orders", "all orders", "DB_TABLE")
        assert found["fields"] == [{"name": "id", "type": "INT", "tags": [], "description": "key"}]
        assert (await get(client, f"{ORDERS}/versions"))["totalCount"] == 2
        assert await write(client, "DELETE", ORDERS) == found
        for path in (ORDERS, f"{ORDERS}/versions", f"/lineage?nodeId=dataset:{WAREHOUSE}:sales/orders"):
            await get(client, path, 404)
        listed = await get(client, f"/namespaces/{quote(WAREHOUSE, safe='')}/datasets")
        assert listed == {"datasets": [], "totalCount": 0}
        await write(client, "DELETE", ORDERS, 404)
        created = await write(client, "PUT", f"/sources/{quote(WAREHOUSE, safe='')}", content=S3)
        assert created["connectionUrl"] == "s3://warehouse/"
        again = await write(client, "PUT", ORDERS, content=content)
        assert (again["lastLifecycleState"], again["description"]) == ("CREATE", "all orders")

    writing(tmp_path, scenario)


S3 = {"type": "S3", "connectionUrl": "s3://warehouse/"}


def test_run_that_wrote_a_dataset_is_named_by_its_version(tmp_path):
    async def scenario(client):
        run = await write(client, "POST", f"{ETL}/runs", 201, {})
        content = {**TABLE, "fields": [{"name": "total", "type": "INT"}], "runId": run["id"]}
        await write(client, "PUT", ORDERS, content=content)
        versions = (await get(client, f"{ORDERS}/versions"))["versions"]
        assert versions[0]["createdByRun"]["id"] == run["id"]

    writing(tmp_path, scenario)


def test_tags_are_added_and_removed_whoever_added_them(tmp_path):
    async def scenario(client):
        async def tags(found):
            return found["tags"], [field["tags"] for field in found["fields"]]

        assert await tags(await get(client, ORDERS)) == (["GOLD"], [[], ["PII"]])
        assert await tags(await write(client, "POST", f"{ORDERS}/tags/new")) == (["GOLD", "new"], [[], ["PII"]])
        found = await write(client, "POST", f"{ORDERS}/fields/id/tags/key")
        assert await tags(found) == (["GOLD", "new"], [["KEY"], ["PII"]])
        assert await tags(await write(client, "DELETE", f"{ORDERS}/tags/GOLD")) == (["new"], [["KEY"], ["PII"]])
        assert await tags(await write(client, "DELETE", f"{ORDERS}/fields/price/tags/pii")) == (["new"], [["KEY"], []])
        # The emitter repeats its tags: the removal holds.
        orders = dataset("sales/orders", schema=schema("id", "price"), tags=TAGS)
        await post(client, body("START", 50, run=3, job="etl", outputs=[orders]))
        assert await tags(await get(client, ORDERS)) == (["new"], [["KEY"], []])
        assert await tags(await write(client, "POST", f"{ORDERS}/tags/GOLD")) == (["GOLD", "new"], [["KEY"], []])
        await write(client, "POST", f"{ORDERS}/fields/none/tags/key", 404)
        assert (await write(client, "POST", f"{ETL}/tags/daily"))["tags"] == ["daily"]
        assert (await write(client, "DELETE", f"{ETL}/tags/daily"))["tags"] == []
        await write(client, "PUT", "/tags/GOLD", content={"description": "checked"})
        assert (await get(client, "/tags"))["tags"] == [
            {"name": "GOLD", "description": "checked"},
            {"name": "KEY", "description": None},
            {"name": "new", "description": None},
        ]

    writing(tmp_path, scenario)


def test_tags_of_a_job_leave_its_datasets_unchanged(tmp_path):
    async def scenario(client):
        named = [{"namespace": WAREHOUSE, "name": "sales/orders"}]
        job = await write(client, "PUT", ETL, content={"type": "STREAM", "inputs": named, "outputs": []})
        assert (job["type"], job["inputs"]) == ("STREAM", named)
        assert (await write(client, "POST", f"{ETL}/tags/daily"))["inputs"] == named

    writing(tmp_path, scenario)


def test_runs_are_created_started_and_ended(tmp_path):
    async def scenario(client):
        chosen = run_id(77)
        response = await client.post(f"/api/v1{ETL}/runs", json={"id": chosen, "args": {"rows": 7}})
        assert (response.status_code, response.headers["location"]) == (201, f"/api/v1/jobs/runs/{chosen}")
        assert (response.json()["state"], response.json()["args"]) == ("NEW", {"rows": "7"})
        # A run that names no dataset changes none of its job.
        assert names((await get(client, ETL))["outputs"]) == ["sales/orders"]
        await write(client, "POST", f"{ETL}/runs", 400, {"id": chosen})
        path = f"/jobs/runs/{chosen}"
        at = "2026-02-01T00:00:00Z"
        started = await write(client, "POST", f"{path}/start?at={at}")
        assert (started["state"], started["startedAt"]) == ("RUNNING", "2026-02-01T00:00:00.000000Z")
        ended = await write(client, "POST", f"{path}/fail?at=2026-02-01T00:00:05Z")
        assert (ended["state"], ended["durationMs"]) == ("FAILED", 5000)
        assert (await write(client, "POST", f"{path}/complete"))["state"] == "FAILED"
        assert (await write(client, "POST", f"{path}/start"))["state"] == "FAILED"

    writing(tmp_path, scenario)


@pytest.mark.parametrize(
    ("method", "path", "content", "status"),
    [
        ("PUT", "/namespaces/x", {}, 400),
        ("PUT", "/namespaces/x", {"ownerName": 7}, 400),
        ("PUT", "/sources/x", {"type": "KAFKA"}, 400),
        ("PUT", ORDERS, {**TABLE, "type": "FILE"}, 400),
        ("PUT", ORDERS, {**TABLE, "sourceName": "none"}, 404),
        ("PUT", ORDERS, {**TABLE, "runId": run_id(9)}, 404),
        ("PUT", "/namespaces/none/datasets/x", TABLE, 404),
        ("PUT", ETL, {"type": "BATCH", "inputs": []}, 400),
        ("PUT", ETL, {"type": "BATCH", "inputs": [{"namespace": "a", "name": "b"}], "outputs": []}, 404),
        (
            "PUT",
            f"/namespaces/{NAMESPACE}/jobs/x",
            {"type": "BATCH", "inputs": [], "outputs": [], "runId": run_id(1)},
            404,
        ),
        ("PUT", "/namespaces/none/jobs/x", {"type": "BATCH", "inputs": [], "outputs": []}, 404),
        ("POST", f"{ETL}/runs", {"id": "seven"}, 400),
        ("POST", f"{ETL}/runs", {"nominalStartTime": "noon"}, 400),
        ("POST", f"/namespaces/{NAMESPACE}/jobs/none/runs", {}, 404),
        ("POST", f"/jobs/runs/{run_id(9)}/start", None, 404),
        ("POST", f"/jobs/runs/{run_id(1)}/start?at=noon", None, 400),
        ("POST", f"/jobs/runs/{run_id(1)}/pause", None, 404),
        ("POST", f"/namespaces/{NAMESPACE}/jobs/none/tags/A", None, 404),
        ("DELETE", "/namespaces/none", None, 404),
        ("DELETE", f"/namespaces/{NAMESPACE}/jobs/none", None, 404),
        ("DELETE", f"{ORDERS}x", None, 404),
        ("PUT", f"/namespaces/{NAMESPACE}/jobs/{'x' * 2000}", JOB, 422),
    ],
)
def test_invalid_writes_are_refused_without_effect(tmp_path, method, path, content, status):
    async def scenario(client):
        before = await get(client, "/stats")
        await write(client, method, path, status, content)
        assert (await get(client, "/stats"))["logged"] == before["logged"]

    writing(tmp_path, scenario)


async def write_everything(client):
    """Make every kind of write."""
    await send_events(client)
    await write(client, "PUT", "/namespaces/food", content={"ownerName": "me"})
    await write(client, "PUT", "/sources/shop", content={"type": "POSTGRESQL", "connectionUrl": "postgresql://db/shop"})
    await write(client, "PUT", "/tags/PII", content={"description": "personal"})
    content = {
        **TABLE,
        "sourceName": "shop",
        "description": "x",
        "fields": [{"name": "a", "tags": ["b"]}],
        "tags": ["C"],
    }
    for name in ("one", "two"):
        await write(client, "PUT", f"/namespaces/food/datasets/{name}", content=content)
    job = {"type": "SERVICE", "description": "d", "location": "https://example.org/x", "context": {"sql": "SELECT 1"}}
    job |= {"inputs": [{"namespace": "food", "name": "one"}], "outputs": [{"namespace": "food", "name": "two"}]}
    await write(client, "PUT", "/namespaces/food/jobs/etl", content=job)
    nominal = {"nominalStartTime": "2026-01-01T00:00:00Z", "nominalEndTime": "2026-01-01T01:00:00Z", "args": {"a": 1}}
    run = await write(client, "POST", "/namespaces/food/jobs/etl/runs", 201, nominal)
    await write(client, "PUT", "/namespaces/food/jobs/etl", content={**job, "runId": run["id"]})
    for transition in ("start", "complete"):
        await write(client, "POST", f"/jobs/runs/{run['id']}/{transition}")
    await write(client, "POST", "/namespaces/food/jobs/etl/tags/A")
    await write(client, "DELETE", "/namespaces/food/datasets/one/tags/C")
    await write(client, "DELETE", "/namespaces/food/datasets/two")
    await write(client, "PUT", "/namespaces/gone", content={"ownerName": "me"})
    await write(client, "DELETE", "/namespaces/gone")
    await write(client, "DELETE", ETL)


READS = (
    *("/namespaces", "/sources", "/tags", "/jobs", "/namespaces/food/datasets", "/namespaces/food/jobs/etl"),
    *("/namespaces/food/jobs/etl/runs", "/namespaces/gone", "/namespaces/food/datasets/one", "/graph", "/summaries"),
)


def test_writes_survive_rebuild_and_restart(tmp_path):
    async def reads(client):
        return [await get(client, path) for path in READS]

    async def first(client):
        await write_everything(client)
        before = await reads(client)
        response = await client.post("/api/v1/rebuild")
        assert response.json()["equal"] is True
        assert await reads(client) == before
        return before

    before = with_client(tmp_path, first)
    assert with_client(tmp_path, reads) == before


def test_writes_survive_retention(tmp_path):
    async def scenario(client):
        await write_everything(client)
        before = [await get(client, path) for path in READS]
        response = await client.post("/api/v1/compact", params={"before": "2200-01-01T00:00:00Z"})
        assert response.json()["removed"] > 15
        await client.post("/api/v1/rebuild")
        assert [await get(client, path) for path in READS] == before

    with_client(tmp_path, scenario)


def test_every_write_is_an_event_of_its_own_producer_that_follows_the_schemas(tmp_path):
    with_client(tmp_path, write_everything)
    bodies = stored_bodies(tmp_path)
    own = [event for event in bodies if event["producer"] == PRODUCER]
    assert len(own) == len(bodies) - 2
    definitions = json.loads(Path(own_facets.__file__).with_suffix(".json").read_text())
    seen = set()
    for name, facet in facets_of(own):
        if not name.startswith("lineageLab_"):
            continue
        seen.add(name)
        assert facet["_schemaURL"].startswith(f"{definitions['$id']}#/$defs/")
        schema_of_facet = {**definitions, "$ref": f"#{facet['_schemaURL'].partition('#')[2]}"}
        jsonschema.Draft202012Validator(schema_of_facet).validate(facet)
    assert seen == {"lineageLab_catalog", "lineageLab_deleted", "lineageLab_removedTags", "lineageLab_dataset"}


def stored_bodies(folder):
    """Return the bodies of all events in the log of a folder, in order of arrival."""
    log = EventLog(folder, 0)
    try:
        return [stored.original.body for stored in log.events(pytest.fail)]
    finally:
        log.close()


def facets_of(content):
    """Yield name and content of every facet in a JSON value."""
    for value in content.values() if isinstance(content, dict) else content if isinstance(content, list) else ():
        yield from facets_of(value)
    yield from (content.get("facets") or {}).items() if isinstance(content, dict) else ()


def test_writes_are_independent_of_order_and_duplicates(tmp_path):
    with_client(tmp_path, write_everything)
    events = [read(event) for event in stored_bodies(tmp_path)]
    expected = fold_events(events)
    for shuffled in (events[::-1], events[1::2] + events[::2] + events):
        lineage = type(expected)()
        for event in shuffled:
            lineage.apply(event)
        assert lineage.catalog == expected.catalog
        assert lineage.namespaces == expected.namespaces
        assert export_graph(lineage, Graph(lineage)) == export_graph(expected, Graph(expected))
