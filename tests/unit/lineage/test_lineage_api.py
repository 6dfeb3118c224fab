# SPDX-License-Identifier: Apache-2.0
"""HTTP API of the real application with a real event log."""

import asyncio
import gzip
import json
import threading
from contextlib import asynccontextmanager
from pathlib import Path
from random import randbytes
from urllib.parse import quote

import httpx
import pytest
from lineage_client import JSON, admin_headers
from lineage_events import (
    NAMESPACE,
    RULES,
    body,
    dataset,
    dataset_event,
    encode,
    recorded_lines,
    run_id,
    schema,
    source,
)
from lineage_response_models import validate_responses

from lineage.api import create_app
from lineage.graph import Graph
from lineage.graph import adjacency as graph_module
from lineage.settings import Settings
from lineage.store import EventLog

KAFKA = "kafka://kafka:9092"


@asynccontextmanager
async def serving(directory, **changes):
    settings = Settings(host="127.0.0.1", port=0, data=directory, rules=None, **changes)
    app = create_app(settings, RULES, EventLog(directory, settings.max_store_bytes))
    async with app.router.lifespan_context(app):
        hooks = {"response": [validate_responses(app)]}
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        client = httpx.AsyncClient(
            transport=transport, base_url="http://lineage", headers=admin_headers(directory), event_hooks=hooks
        )
        async with client:
            yield client


def with_client(tmp_path, scenario, **changes):
    async def run():
        async with serving(tmp_path, **changes) as client:
            return await scenario(client)

    return asyncio.run(run())


async def post(client, content, **headers):
    data = content if isinstance(content, bytes) else encode(content)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await client.post("/api/v1/lineage", content=data, headers=JSON | named)


async def get(client, path, status=200, **parameters):
    response = await client.get(f"/api/v1{path}", params=parameters or None)
    assert response.status_code == status, response.text
    return response.json()


def pipeline_events():
    """orders (Kafka) -> etl -> sales/orders -> stats -> sales/stats, with columns."""
    topic = dataset("orders", KAFKA)
    value = {**source("orders", "value"), "namespace": KAFKA}
    orders = dataset(
        "sales/orders",
        schema=schema("id", "price"),
        columnLineage={"fields": {"price": {"inputFields": [value]}}},
    )
    stats = dataset(
        "sales/stats",
        schema=schema("total"),
        columnLineage={
            "fields": {"total": {"inputFields": [source("sales/orders", "price", "AGGREGATION")]}},
            "dataset": [source("sales/orders", "id", "FILTER", "INDIRECT")],
        },
    )
    events = []
    for run, (job, inputs, outputs) in enumerate([("etl", [topic], [orders]), ("stats", [orders], [stats])]):
        for second, state in enumerate(("START", "COMPLETE")):
            events.append(body(state, 10 * run + second, run=run, job=job, inputs=inputs, outputs=outputs))
    return events


async def send_pipeline(client):
    for event in pipeline_events():
        assert (await post(client, event)).status_code == 201


def test_accepted_event_is_readable_immediately_and_stored_once(tmp_path):
    async def scenario(client):
        for _ in range(3):
            response = await post(client, body())
            assert (response.status_code, response.content) == (201, b"")
        assert (await post(client, body(run=None))).status_code == 201
        assert (await post(client, dataset_event(0, dataset("t")))).status_code == 201
        stats = await get(client, "/stats")
        assert (stats["accepted"], stats["stored"], stats["duplicates"]) == (5, 3, 2)
        assert (await get(client, "/events/lineage"))["totalCount"] == 1
        assert (await client.get("/health")).json() == {"status": "UP"}

    with_client(tmp_path, scenario)


def test_concurrent_senders_all_receive_a_response(tmp_path):
    async def scenario(client):
        events = [body("RUNNING", i / 10, run=i % 7) for i in range(200)]
        responses = await asyncio.gather(*(post(client, event) for event in events))
        assert {response.status_code for response in responses} == {201}
        assert (await get(client, "/stats"))["stored"] == 200

    with_client(tmp_path, scenario)


@pytest.mark.parametrize(
    ("content", "headers", "status", "code", "details"),
    [
        (b'{"a": }', {}, 400, "malformed_json", {"position": 6}),
        (b"[" * 101 + b"]" * 101, {}, 400, "malformed_json", {"position": None}),
        (rb'{"\ud800": 1}', {}, 400, "malformed_json", {"position": None}),
        (b"[]", {}, 422, "invalid_event", {"field": ""}),
        (encode(body(inputs=[dataset("x", "")])), {}, 422, "invalid_event", {"field": "inputs[0].namespace"}),
        (b" " * 2000, {}, 413, "too_large", {"limit": 1500}),
        (gzip.compress(b" " * 2000, mtime=0), {"content-encoding": "gzip"}, 413, "too_large", {"limit": 1500}),
        (gzip.compress(b"{}", mtime=0)[:-4], {"content-encoding": "gzip"}, 400, "malformed_gzip", {}),
        (gzip.compress(b"{}", mtime=0) + b"x", {"content-encoding": "gzip"}, 400, "malformed_gzip", {}),
        (b"{}", {"content-encoding": "gzip"}, 400, "malformed_gzip", {}),
        (b"{}", {"content-encoding": "br"}, 415, "unsupported_encoding", {"encoding": "br"}),
    ],
)
def test_rejected_event_is_counted_named_and_not_stored(tmp_path, content, headers, status, code, details):
    async def scenario(client):
        response = await post(client, content, **headers)
        error = response.json()["error"]
        assert (response.status_code, error["code"], error["details"]) == (status, code, details)
        assert error["message"]
        stats = await get(client, "/stats")
        assert (stats["refused"], stats["logged"]) == ({code: 1}, 0)

    with_client(tmp_path, scenario, max_event_bytes=1500)


def test_chunked_body_is_rejected_at_the_size_limit(tmp_path):
    async def chunks():
        for _ in range(100):
            yield b" " * 100

    async def scenario(client):
        response = await client.post("/api/v1/lineage", content=chunks(), headers=JSON)
        assert response.status_code == 413

    with_client(tmp_path, scenario, max_event_bytes=1500)


def test_gzip_encoded_event_is_accepted(tmp_path):
    async def scenario(client):
        packed = gzip.compress(encode(body()))
        assert (await post(client, packed, **{"content-encoding": "gzip"})).status_code == 201
        assert (await get(client, "/stats"))["stored"] == 1

    with_client(tmp_path, scenario)


def test_full_store_responds_507_and_stays_readable(tmp_path):
    async def scenario(client):
        assert (await post(client, body())).status_code == 201
        response = await post(client, body("RUNNING", 1, run_facets={"big": {"text": randbytes(100_000).hex()}}))
        assert response.status_code == 507
        assert response.json()["error"]["code"] == "storage_full"
        assert (await get(client, f"/jobs/runs/{run_id(1)}"))["state"] == "RUNNING"

    with_client(tmp_path, scenario, max_store_bytes=100_000)


def test_full_queue_responds_503_with_retry_after(tmp_path):
    async def scenario(client):
        responses = await asyncio.gather(*(post(client, body("RUNNING", i)) for i in range(50)))
        refused = [response for response in responses if response.status_code == 503]
        assert refused
        assert refused[0].json()["error"]["code"] == "overloaded"
        assert refused[0].headers["retry-after"] == "1"
        accepted = sum(response.status_code == 201 for response in responses)
        assert accepted + len(refused) == 50
        assert (await get(client, "/stats"))["logged"] == accepted

    with_client(tmp_path, scenario, queue_size=1)


def test_graph_is_rebuilt_from_the_log(tmp_path):
    async def fill(client):
        await send_pipeline(client)
        return (await client.get("/api/v1/graph")).content

    async def read(client):
        return (await client.get("/api/v1/graph")).content

    assert with_client(tmp_path, fill) == with_client(tmp_path, read)


READS = (
    "/graph",
    "/jobs",
    "/namespaces",
    f"/namespaces/{NAMESPACE}/jobs/job",
    "/lineage?nodeId=dataset:s3://warehouse:out",
    "/column-lineage?nodeId=dataset:s3://warehouse:out",
)


def test_input_and_output_facets_do_not_replace_dataset_facets(tmp_path):
    content = body(outputs=[dataset("out", columnLineage={"fields": {"a": {"inputFields": [source("in", "a")]}}})])
    content["outputs"][0]["outputFacets"] = {"columnLineage": {"fields": {"a": {}}}, "lineage": {"inputs": [1]}}

    async def fill(client):
        assert (await post(client, content)).status_code == 201
        return await read(client)

    async def read(client):
        return [await get(client, path) for path in READS]

    before = with_client(tmp_path, fill)
    assert with_client(tmp_path, read) == before
    assert before[0]["columns"][0]["input"]["name"] == "in"


def test_job_keeps_its_lineage_if_deriving_it_fails(tmp_path, monkeypatch):
    def failing(job, node_of):
        if job.id.name == "stats":
            raise RuntimeError("defect")
        return derive_job_lineage(job, node_of)

    derive_job_lineage = graph_module.derive_job_lineage

    async def scenario(client):
        await send_pipeline(client)
        before = await get(client, "/graph")
        monkeypatch.setattr(graph_module, "derive_job_lineage", failing)
        await post(client, body("START", 30, run=8, job="stats", outputs=[dataset("new")]))
        await post(client, body("START", 30, run=9, job="fine", outputs=[dataset("new")]))
        broken = await get(client, "/graph")
        assert [edge for edge in broken["edges"] if edge["job"]["name"] != "fine"] == before["edges"]
        assert len(broken["edges"]) == len(before["edges"]) + 1
        for path in ("/jobs", f"/namespaces/{NAMESPACE}/jobs/stats"):
            await get(client, path)
        assert (await get(client, "/stats"))["unapplied"] == [
            {"job": f"{NAMESPACE}/stats", "error": "RuntimeError('defect')"}
        ]
        monkeypatch.undo()
        await post(client, body("RUNNING", 31, run=8, job="stats"))
        names = {edge["dataset"]["name"] for edge in (await get(client, "/graph"))["edges"]}
        assert "new" in names
        assert (await get(client, "/stats"))["unapplied"] == []

    with_client(tmp_path, scenario)


def test_new_job_is_shown_without_lineage_if_deriving_it_fails(tmp_path, monkeypatch):
    def failing(job, node_of):
        raise RuntimeError("defect")

    monkeypatch.setattr(graph_module, "derive_job_lineage", failing)

    async def scenario(client):
        await post(client, body(outputs=[dataset("out")]))
        assert [await get(client, path) for path in READS]

    with_client(tmp_path, scenario)


def test_readers_and_writers_share_one_thread(tmp_path, monkeypatch):
    threads = set()
    refresh_some = Graph.refresh_some

    def watched(self, limit):
        threads.add(threading.get_ident())
        return refresh_some(self, limit)

    monkeypatch.setattr(Graph, "refresh_some", watched)

    async def write(client, writer):
        for number in range(40):
            output = dataset(f"t{number % 5}", columnLineage={"fields": {"a": {"inputFields": [source("in", "a")]}}})
            content = body("COMPLETE", number, run=100 * writer + number, job=f"job{writer}", outputs=[output])
            assert (await post(client, content)).status_code == 201

    async def read(client, done):
        while not done.is_set():
            for path in ("/graph", "/jobs", "/lineage?nodeId=dataset:s3://warehouse:t0"):
                response = await client.get(f"/api/v1{path}")
                assert response.status_code in (200, 404), response.text
                # The in-process transport never waits; without this sleep the writers would not be scheduled.
                await asyncio.sleep(0)

    async def scenario(client):
        done = asyncio.Event()
        readers = [asyncio.create_task(read(client, done)) for _ in range(3)]
        await asyncio.gather(*(write(client, writer) for writer in range(4)))
        done.set()
        await asyncio.gather(*readers)
        assert threads == {threading.get_ident()}
        outputs = {(edge["job"]["name"], edge["dataset"]["name"]) for edge in (await get(client, "/graph"))["edges"]}
        assert outputs == {(f"job{writer}", "t4") for writer in range(4)}

    with_client(tmp_path, scenario)


def test_dataset_named_only_in_facets_is_found(tmp_path):
    lineage = {"fields": {"a": {"inputFields": [source("seen", "x")]}}}
    entry = {**dataset("target"), "type": "DATASET", "inputs": [{**dataset("fed"), "type": "DATASET"}]}

    async def scenario(client):
        await post(client, body(outputs=[dataset("out", columnLineage=lineage)]))
        await post(client, body(job="other", job_facets={"lineage": {"entries": [entry]}}))
        graph = await get(client, "/graph")
        named = {item["name"] for item in graph["datasets"]}
        assert named == {"out", "seen", "target", "fed"}
        for name in named:
            await get(client, "/lineage", nodeId=f"dataset:s3://warehouse:{name}")
            await get(client, f"/namespaces/s3://warehouse/datasets/{name}")
        await get(client, "/column-lineage", nodeId="datasetField:s3://warehouse:seen:x")

    with_client(tmp_path, scenario)


def test_runs_are_paged_latest_first(tmp_path):
    async def scenario(client):
        for second, run in ((0, 1), (20, 3), (10, 2)):
            await post(client, body("START", second, run=run))
        for limit, offset, expected in ((100, 0, [3, 2, 1]), (1, 1, [2]), (2, 2, [1]), (2, 3, []), (0, 0, [])):
            page = await get(client, f"/namespaces/{NAMESPACE}/jobs/job/runs", limit=limit, offset=offset)
            assert [found["id"] for found in page["runs"]] == [run_id(number) for number in expected]
            assert page["totalCount"] == 3

    with_client(tmp_path, scenario)


def test_namespaces_jobs_and_runs_are_listed(tmp_path):
    async def scenario(client):
        await send_pipeline(client)
        namespaces = (await get(client, "/namespaces"))["namespaces"]
        assert [item["name"] for item in namespaces] == [KAFKA, "s3://warehouse", NAMESPACE]
        assert (await get(client, "/namespaces", limit=1, offset=1))["namespaces"] == namespaces[1:2]
        assert await get(client, f"/namespaces/{quote(KAFKA, safe='')}") == namespaces[0]
        for path in ("/jobs", f"/namespaces/{NAMESPACE}/jobs"):
            page = await get(client, path)
            assert (page["totalCount"], [job["name"] for job in page["jobs"]]) == (2, ["stats", "etl"])
            assert [job["name"] for job in (await get(client, path, limit=1, offset=1))["jobs"]] == ["etl"]
        job = await get(client, f"/namespaces/{NAMESPACE}/jobs/etl")
        assert job["inputs"] == [{"namespace": KAFKA, "name": "orders"}]
        assert job["outputs"] == [{"namespace": "s3://warehouse", "name": "sales/orders"}]
        assert (job["type"], job["latestRun"]["state"]) == ("BATCH", "COMPLETED")
        runs = await get(client, f"/namespaces/{NAMESPACE}/jobs/etl/runs")
        assert runs == {"runs": [job["latestRun"]], "totalCount": 1}
        run = await get(client, f"/jobs/runs/{run_id(0)}")
        assert run == job["latestRun"]
        assert (run["startedAt"], run["endedAt"]) == (
            "2026-01-01T00:00:00.000000Z",
            "2026-01-01T00:00:01.000000Z",
        )
        assert run["durationMs"] == 1000

    with_client(tmp_path, scenario)


@pytest.mark.parametrize("encoding", [lambda text: quote(text, safe=""), lambda text: text])
def test_names_with_slashes_and_colons_are_found_in_any_encoding(tmp_path, encoding):
    async def scenario(client):
        await send_pipeline(client)
        for namespace, name in ((KAFKA, "orders"), ("s3://warehouse", "sales/orders")):
            found = await get(client, f"/namespaces/{encoding(namespace)}/datasets/{encoding(name)}")
            assert found["id"] == {"namespace": namespace, "name": name}
        page = await get(client, f"/namespaces/{encoding('s3://warehouse')}/datasets")
        assert [item["name"] for item in page["datasets"]] == ["sales/orders", "sales/stats"]

    with_client(tmp_path, scenario)


def test_job_name_may_equal_a_route(tmp_path):
    async def scenario(client):
        await post(client, body(job="a/jobs/b/runs"))
        found = await get(client, f"/namespaces/{NAMESPACE}/jobs/{quote('a/jobs/b/runs', safe='')}")
        assert found["name"] == "a/jobs/b/runs"

    with_client(tmp_path, scenario)


def test_dataset_has_fields_and_column_lineage(tmp_path):
    async def scenario(client):
        await send_pipeline(client)
        found = await get(client, "/namespaces/s3://warehouse/datasets/sales/stats")
        assert [(field["name"], field["type"]) for field in found["fields"]] == [("total", "string")]
        assert found["columnLineage"] == [
            {
                "name": "total",
                "inputFields": [
                    {
                        "namespace": "s3://warehouse",
                        "dataset": "sales/orders",
                        "field": "price",
                        "transformationDescription": None,
                        "transformationType": "AGGREGATION",
                    }
                ],
                "transformationDescription": None,
                "transformationType": "AGGREGATION",
            }
        ]

    with_client(tmp_path, scenario)


def test_lineage_of_a_node(tmp_path):
    topic, orders, stats = f"dataset:{KAFKA}:orders", "dataset:s3://warehouse:sales/orders", "sales/stats"
    etl, statistics = f"job:{NAMESPACE}:etl", f"job:{NAMESPACE}:stats"

    async def scenario(client):
        await send_pipeline(client)
        whole = (await get(client, "/lineage", nodeId=topic))["graph"]
        assert [node["id"] for node in whole] == sorted(
            [topic, orders, f"dataset:s3://warehouse:{stats}", etl, statistics]
        )
        near = (await get(client, "/lineage", nodeId=topic, depth=0))["graph"]
        assert [node["id"] for node in near] == sorted([topic, orders, etl])
        nodes = {node["id"]: node for node in whole}
        assert nodes[etl]["inEdges"] == [{"origin": topic, "destination": etl}]
        assert nodes[etl]["outEdges"] == [{"origin": etl, "destination": orders}]
        assert nodes[orders]["inEdges"] == [{"origin": etl, "destination": orders}]
        assert nodes[orders]["outEdges"] == [{"origin": orders, "destination": statistics}]
        assert (nodes[etl]["type"], nodes[orders]["type"]) == ("JOB", "DATASET")
        assert [node["id"] for node in (await get(client, "/lineage", nodeId=statistics, depth=0))["graph"]] == [
            orders,
            f"dataset:s3://warehouse:{stats}",
            statistics,
        ]

    with_client(tmp_path, scenario)


def test_column_lineage_of_a_node(tmp_path):
    value = f"datasetField:{KAFKA}:orders:value"
    price, total = (f"datasetField:s3://warehouse:sales/{name}" for name in ("orders:price", "stats:total"))

    async def scenario(client):
        await send_pipeline(client)

        async def nodes(**parameters):
            return [node["id"] for node in (await get(client, "/column-lineage", **parameters))["graph"]]

        assert await nodes(nodeId=total) == [value, price, total]
        assert await nodes(nodeId=total, depth=1) == [price, total]
        assert await nodes(nodeId=price) == [value, price]
        assert await nodes(nodeId=price, withDownstream="true") == [value, price, total]
        assert await nodes(nodeId="dataset:s3://warehouse:sales/stats") == [value, price, total]
        assert await nodes(nodeId=f"job:{NAMESPACE}:etl") == [value, price]
        graph = (await get(client, "/column-lineage", nodeId=total))["graph"]
        assert graph[-1]["inEdges"] == [{"origin": total, "destination": price}]
        assert graph[-2]["outEdges"] == [{"origin": price, "destination": total}]
        assert graph[-1]["data"]["inputFields"][0]["field"] == "price"

    with_client(tmp_path, scenario)


def test_search_and_event_listing(tmp_path):
    async def scenario(client):
        await send_pipeline(client)
        found = await get(client, "/search", q="STAT")
        assert found["totalCount"] == 2
        assert [hit["nodeId"] for hit in found["results"]] == [
            "dataset:s3://warehouse:sales/stats",
            f"job:{NAMESPACE}:stats",
        ]
        assert (await get(client, "/search", q="stat", filter="JOB"))["totalCount"] == 1
        events = await get(client, "/events/lineage", limit=2, sortDirection="asc")
        assert (events["totalCount"], [event["eventType"] for event in events["events"]]) == (
            4,
            ["START", "COMPLETE"],
        )
        window = {"after": "2026-01-01T00:00:01Z", "before": "2026-01-01T00:00:11Z"}
        assert (await get(client, "/events/lineage", **window))["totalCount"] == 2

    with_client(tmp_path, scenario)


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/api/v1/namespaces/none", 404, "not_found"),
        ("/api/v1/namespaces/none/jobs/x", 404, "not_found"),
        ("/api/v1/namespaces/none/jobs/x/runs", 404, "not_found"),
        ("/api/v1/namespaces/none/datasets/x", 404, "not_found"),
        ("/api/v1/namespaces/%ff", 400, "invalid_parameter"),
        ("/api/v1/jobs/runs/x", 404, "not_found"),
        ("/api/v1/lineage?nodeId=dataset:a:b", 404, "not_found"),
        ("/api/v1/lineage?nodeId=" + ":" * 4000, 404, "not_found"),
        ("/api/v1/lineage", 400, "invalid_parameter"),
        ("/api/v1/jobs?limit=-1", 400, "invalid_parameter"),
        ("/api/v1/jobs?limit=x", 404, "not_found"),
        ("/api/v1/events/lineage?before=noon", 400, "invalid_parameter"),
        ("/nowhere", 404, "not_found"),
    ],
)
def test_bad_requests_return_the_common_error_model(tmp_path, path, status, code):
    async def scenario(client):
        response = await client.get(path)
        assert (response.status_code, response.json()["error"]["code"]) == (status, code)

    with_client(tmp_path, scenario)


def test_every_route_responds_after_every_recorded_event(tmp_path):
    lines = recorded_lines()

    async def scenario(client):
        for line in lines:
            assert (await post(client, line)).status_code == 201
        graph = json.loads((await client.get("/api/v1/graph")).content)
        for kind in ("jobs", "datasets"):
            for item in graph[kind]:
                path = f"/namespaces/{quote(item['namespace'], safe='')}/{kind}/{quote(item['name'], safe='')}"
                assert (await get(client, path))["id"] == {key: item[key] for key in ("namespace", "name")}
                node = f"{kind[:-1]}:{item['namespace']}:{item['name']}"
                assert node in {found["id"] for found in (await get(client, "/lineage", nodeId=node))["graph"]}
                await get(client, "/column-lineage", nodeId=node, withDownstream=True)
        assert (await get(client, "/stats"))["unapplied"] == []

    with_client(Path(tmp_path), scenario)
