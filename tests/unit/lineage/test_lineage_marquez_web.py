# SPDX-License-Identifier: Apache-2.0
"""Requests of Marquez's web page 0.51, replayed with the fields that the page reads.

No package registry that tests reach has the page. The requests are those of `web/src/store/requests` in its sources,
the fields those of `web/src/types/api.ts`.
"""

from urllib.parse import quote

import pytest
from lineage_events import NAMESPACE, body, dataset, facet, run_id, schema
from test_lineage_api import post, with_client

WAREHOUSE, TABLE = "s3://warehouse", "sales/orders"
OF_WAREHOUSE = f"/api/v1/namespaces/{quote(WAREHOUSE, safe='')}"
ORDERS = f"{OF_WAREHOUSE}/datasets/{quote(TABLE, safe='')}"
OF_JOBS = f"/api/v1/namespaces/{NAMESPACE}"
RUN = f"/api/v1/jobs/runs/{run_id(1)}"


def keys(text):
    return set(text.split())


PAGE = keys("totalCount")
NAMESPACE_ROW = keys("name createdAt updatedAt ownerName description isHidden")
FIELD = keys("name type tags description")
DATASET = keys("id type name physicalName createdAt updatedAt namespace sourceName fields tags lastModifiedAt")
DATASET |= keys("description facets deleted columnLineage")
VERSION = keys("id type createdByRun name physicalName createdAt version namespace sourceName fields tags description")
VERSION |= keys("lifecycleState facets")
RUN_ROW = keys(
    "id createdAt updatedAt nominalStartTime nominalEndTime state jobVersion startedAt endedAt durationMs args"
)
RUN_ROW |= keys("facets")
JOB = keys("id type name createdAt updatedAt inputs outputs namespace location description latestRun latestRuns tags")
JOB |= keys("simpleName parentJobName parentJobUuid facets")
NODE = keys("id type data inEdges outEdges")
JOB_NODE = keys(
    "id type name simpleName parentJobName createdAt updatedAt inputs outputs namespace location description"
)
JOB_NODE |= keys("latestRun tags")
DATASET_NODE = keys("id type name physicalName createdAt updatedAt namespace sourceName fields tags lastModifiedAt")
DATASET_NODE |= keys("description")
COLUMN = keys(
    "namespace dataset datasetVersion field fieldType transformationDescription transformationType inputFields"
)
SOURCE_COLUMN = keys("namespace dataset field transformationDescription transformationType")
EVENT = keys("eventType eventTime producer schemaURL run job inputs outputs")
HIT = keys("name namespace type")
HIT_OF_DATASET = keys("run_id name namespace facets")

READS = [
    ("/api/v1/namespaces", {"namespaces": NAMESPACE_ROW}),
    ("/api/v1/tags", {"tags": keys("name description")}),
    ("/api/v1/jobs?limit=20&offset=0", {"": PAGE, "jobs": JOB, "jobs.latestRuns": RUN_ROW}),
    ("/api/v1/jobs?limit=10&offset=0&lastRunStates=COMPLETED", {"": PAGE, "jobs": JOB}),
    (f"{OF_JOBS}/jobs?limit=20&offset=0", {"": PAGE, "jobs": JOB, "jobs.latestRun": RUN_ROW}),
    (f"{OF_JOBS}/jobs/etl", {"": JOB, "inputs": keys("namespace name"), "latestRuns": RUN_ROW}),
    (f"{OF_JOBS}/jobs/etl/runs?limit=10&offset=0", {"": PAGE, "runs": RUN_ROW}),
    (f"{RUN}/facets?type=run", {"": keys("runId facets")}),
    (f"{RUN}/facets?type=job", {"": keys("runId facets")}),
    (f"{OF_WAREHOUSE}/datasets?limit=20&offset=0", {"": PAGE, "datasets": DATASET, "datasets.fields": FIELD}),
    (ORDERS, {"": DATASET, "fields": FIELD, "columnLineage.inputFields": SOURCE_COLUMN}),
    (ORDERS, {"facets.dataQualityAssertions.assertions": keys("assertion column success")}),
    (f"{ORDERS}/versions?limit=25&offset=0", {"": PAGE, "versions": VERSION, "versions.fields": FIELD}),
    (f"{ORDERS}/versions?limit=25&offset=0", {"versions.createdByRun": RUN_ROW}),
    (f"/api/v1/lineage?nodeId=job:{NAMESPACE}:etl&depth=2", {"graph": NODE}),
    (f"/api/v1/lineage/?nodeId=dataset:{WAREHOUSE}:{TABLE}&depth=2", {"graph": NODE}),
    (
        f"/api/v1/column-lineage?nodeId=dataset:{quote(WAREHOUSE, safe='')}:{quote(TABLE, safe='')}&depth=2"
        "&withDownstream=true",
        {"graph": NODE, "graph.data": COLUMN},
    ),
    (
        "/api/v1/search?q=orders&sort=NAME&limit=100",
        {"": PAGE, "results": keys("name namespace nodeId type updatedAt")},
    ),
    ("/api/v1/search/?q=etl&sort=UPDATE_AT&limit=100&filter=JOB", {"": PAGE, "results": keys("nodeId type updatedAt")}),
    ("/api/v2beta/search/jobs?q=etl", {"": keys("hits highlights"), "hits": HIT | keys("run_id eventType runFacets")}),
    (
        "/api/v2beta/search/datasets?q=orders",
        {"": keys("hits highlights"), "hits": keys("run_id name namespace facets")},
    ),
    (
        "/api/v1/events/lineage?limit=20&offset=0&before=2027-01-01T00:00:00.000Z&after=2025-01-01T00:00:00.000Z"
        "&sortDirection=desc",
        {"": PAGE, "events": EVENT, "events.job": keys("name namespace facets")},
    ),
    *(
        (
            f"/api/v1/stats/lineage-events?period={period}&timezone=Europe/Berlin",
            {"[]": keys("startInterval endInterval fail start complete abort")},
        )
        for period in ("DAY", "WEEK")
    ),
    *(
        (f"/api/v1/stats/{asset}?period=DAY&timezone=UTC", {"[]": keys("startInterval endInterval count")})
        for asset in ("jobs", "datasets", "sources")
    ),
]

TAGS = f"{ORDERS}/tags"
COLUMN_TAGS = f"{ORDERS}/fields/price/tags"
WRITES = [
    ("PUT", "/api/v1/tags/PII", {"description": "personal"}, keys("name description")),
    ("POST", f"{TAGS}/PII", None, DATASET),
    ("DELETE", f"{TAGS}/PII", None, DATASET),
    ("POST", f"{COLUMN_TAGS}/PII", None, DATASET),
    ("DELETE", f"{COLUMN_TAGS}/PII", None, DATASET),
    ("POST", f"{OF_JOBS}/jobs/etl/tags/PII", None, JOB),
    ("DELETE", f"{OF_JOBS}/jobs/etl/tags/PII", None, JOB),
    ("DELETE", ORDERS, None, DATASET),
    ("DELETE", f"{OF_JOBS}/jobs/etl", None, JOB),
]


async def send_events(client):
    source = {"namespace": WAREHOUSE, "name": "raw/orders", "field": "value"}
    columns = {"fields": {"price": {"inputFields": [source]}}}
    raw = dataset("raw/orders", schema=schema("value"))
    orders = dataset(TABLE, schema=schema("price"), columnLineage=columns, tags={"tags": [{"key": "T", "value": "1"}]})
    assertions = facet(assertions=[{"assertion": "not_null", "success": True, "column": "price"}])
    checked = {**dataset(TABLE), "inputFacets": {"dataQualityAssertions": assertions}}
    for event in (
        body("START", 0, run=1, job="etl", inputs=[raw], outputs=[orders]),
        body("COMPLETE", 1, run=1, job="etl", inputs=[raw], outputs=[orders]),
        body("COMPLETE", 2, run=2, job="check", inputs=[checked]),
    ):
        assert (await post(client, event)).status_code == 201


def rows_at(answer, path):
    """Return the objects at a dotted path; of a list all its elements."""
    found = answer if path == "[]" else [answer]
    for name in () if path in ("", "[]") else path.split("."):
        parts = [one[name] for one in found if one.get(name) is not None]
        found = [row for part in parts for row in (part if isinstance(part, list) else [part])]
    return found


@pytest.mark.parametrize(("path", "read"), READS, ids=[path for path, _ in READS])
def test_read_of_the_page(tmp_path, path, read):
    async def scenario(client):
        await send_events(client)
        response = await client.get(path)
        assert response.status_code == 200, response.text
        for place, fields in read.items():
            rows = rows_at(response.json(), place)
            assert rows, place
            for row in rows:
                assert fields <= row.keys(), place

    with_client(tmp_path, scenario)


def test_nodes_of_the_graph_have_what_the_page_draws(tmp_path):
    async def scenario(client):
        await send_events(client)
        response = await client.get("/api/v1/lineage", params={"nodeId": f"job:{NAMESPACE}:etl", "depth": 2})
        graph = response.json()["graph"]
        for node in graph:
            assert (JOB_NODE if node["type"] == "JOB" else DATASET_NODE) <= node["data"].keys()
            for edge in (*node["inEdges"], *node["outEdges"]):
                assert edge.keys() == {"origin", "destination"}
        assert {node["type"] for node in graph} == {"JOB", "DATASET"}

    with_client(tmp_path, scenario)


def test_writes_of_the_page(tmp_path):
    async def scenario(client):
        await send_events(client)
        for method, path, content, fields in WRITES:
            response = await client.request(method, path, **({} if content is None else {"json": content}))
            assert response.status_code == 200, (method, path, response.text)
            assert fields <= response.json().keys()
        assert (await client.get(ORDERS)).status_code == 404

    with_client(tmp_path, scenario)
