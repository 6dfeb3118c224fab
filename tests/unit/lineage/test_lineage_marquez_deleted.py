# SPDX-License-Identifier: Apache-2.0
"""Deleted datasets are in no list, graph or search, as in Marquez."""

from itertools import permutations

import pytest
from lineage_events import NAMESPACE, at, body, dataset, dataset_event, read, run_id, schema
from test_lineage_api import get, post, with_client
from test_lineage_marquez_writes import write

from lineage.events import DatasetId
from lineage.events.own_facets import CatalogKey, EntryKind
from lineage.events.timestamps import parse_time
from lineage.graph import Graph, LineageRecords, export_graph, fold_events
from lineage.marquez.write_events import catalog_event

EPOCH = parse_time(at(0))
WAREHOUSE = "s3://warehouse"
OF_WAREHOUSE = "/namespaces/s3%3A%2F%2Fwarehouse"
KAFKA = "kafka://kafka:9092"
ORDERS = f"dataset:{WAREHOUSE}:orders"
JOB = f"job:{NAMESPACE}:etl"
TOPIC = f"dataset:{KAFKA}:topic"
TAGS = {"tags": [{"key": "GONE", "value": "1"}]}


def topic():
    source = {"namespace": WAREHOUSE, "name": "orders", "field": "price"}
    return dataset(
        "topic", KAFKA, schema=schema("value"), columnLineage={"fields": {"value": {"inputFields": [source]}}}
    )


def event(state="COMPLETE", second=1, **options):
    orders = dataset("orders", schema=schema("price"), tags=TAGS)
    return body(state, second, run=1, job="etl", inputs=[orders], outputs=[topic()], **options)


async def delete_by_request(client):
    await write(client, "DELETE", f"{OF_WAREHOUSE}/datasets/orders")


async def drop_by_event(client):
    dropped = dataset("orders", lifecycleStateChange={"lifecycleStateChange": "DROP"})
    assert (await post(client, dataset_event(10, dropped))).status_code == 201


async def delete_with_namespace(client):
    await write(client, "DELETE", OF_WAREHOUSE)


DELETIONS = [delete_by_request, drop_by_event, delete_with_namespace]


def nodes(answer):
    return {node["id"]: node for node in answer["graph"]}


@pytest.mark.parametrize("delete", DELETIONS)
def test_deleted_dataset_is_not_drawn(tmp_path, delete):
    async def scenario(client):
        assert (await post(client, event())).status_code == 201
        assert nodes(await get(client, f"/lineage?nodeId={JOB}")).keys() == {ORDERS, JOB, TOPIC}
        await delete(client)
        for start in (JOB, TOPIC):
            found = nodes(await get(client, f"/lineage?nodeId={start}"))
            assert found.keys() == {JOB, TOPIC}
            assert found[JOB]["inEdges"] == []
            assert found[JOB]["data"]["inputs"] == []
        await get(client, f"/lineage?nodeId={ORDERS}", 404)
        job = await get(client, f"/namespaces/{NAMESPACE}/jobs/etl")
        assert (job["inputs"], [named["name"] for named in job["outputs"]]) == ([], ["topic"])

    with_client(tmp_path, scenario)


@pytest.mark.parametrize("delete", DELETIONS)
def test_columns_of_a_deleted_dataset_are_not_drawn(tmp_path, delete):
    async def scenario(client):
        await post(client, event())
        column = f"/column-lineage?nodeId=datasetField:{KAFKA}:topic:value"
        assert len((await get(client, column))["graph"]) == 2
        await delete(client)
        (node,) = (await get(client, column))["graph"]
        assert (node["id"], node["data"]["inputFields"]) == (f"datasetField:{KAFKA}:topic:value", [])
        (shown,) = (await get(client, "/namespaces/kafka%3A%2F%2Fkafka%3A9092/datasets"))["datasets"]
        assert shown["columnLineage"] == []

    with_client(tmp_path, scenario)


@pytest.mark.parametrize("delete", DELETIONS)
def test_deleted_dataset_is_in_no_list_and_no_search(tmp_path, delete):
    async def scenario(client):
        await post(client, event())
        assert [row["name"] for row in (await get(client, "/search?q=orders"))["results"]] == ["orders"]
        await delete(client)
        assert await get(client, "/search?q=orders") == {"totalCount": 0, "results": []}
        assert await get(client, f"{OF_WAREHOUSE}/datasets") == {"datasets": [], "totalCount": 0}
        assert [row["name"] for row in (await get(client, "/sources"))["sources"]] == [KAFKA]
        assert (await get(client, "/tags"))["tags"] == []
        found = await client.get("/api/v2beta/search/datasets", params={"q": "orders"})
        assert [hit["name"] for hit in found.json()["hits"] if hit["name"] == "orders"] == []
        for path in ("", "/versions"):
            await get(client, f"{OF_WAREHOUSE}/datasets/orders{path}", 404)
        # The run keeps what it read.
        (read,) = (await get(client, f"/jobs/runs/{run_id(1)}"))["inputDatasetVersions"]
        assert read["datasetVersionId"]["name"] == "orders"

    with_client(tmp_path, scenario)


@pytest.mark.parametrize("delete", DELETIONS)
def test_deletion_is_the_same_after_a_rebuild_and_void_after_the_next_write(tmp_path, delete):
    async def scenario(client):
        await post(client, event())
        await delete(client)
        before = await get(client, f"/lineage?nodeId={JOB}")
        assert (await client.post("/api/v1/rebuild")).json()["equal"] is True
        assert await get(client, f"/lineage?nodeId={JOB}") == before
        content = {"type": "DB_TABLE", "physicalName": "orders", "sourceName": KAFKA}
        await write(client, "PUT", f"{OF_WAREHOUSE}/datasets/orders", content=content)
        assert nodes(await get(client, f"/lineage?nodeId={JOB}")).keys() == {ORDERS, JOB, TOPIC}

    with_client(tmp_path, scenario)


def test_deletion_of_a_namespace_is_order_independent():
    deletions = [
        catalog_event(second * 10**9 + EPOCH, CatalogKey(EntryKind.NAMESPACE, WAREHOUSE), {"deleted": True})
        for second in (20, 40)
    ]
    events = [read(one) for one in (event(), event("START", 30), *deletions, body("START", 50, run=2, job="etl"))]
    expected = None
    for order in permutations(events):
        lineage = LineageRecords()
        graph = Graph(lineage)
        for one in order:
            lineage.apply(one)
            graph.refresh()
        shown = export_graph(lineage, graph), [view.vanished for view in graph.job_lineages.values()]
        expected = expected or shown
        assert shown == expected
    assert expected[0] == export_graph(fold_events(events), Graph(fold_events(events)))
    assert lineage.catalog.dropped == {DatasetId(WAREHOUSE, "orders")}
