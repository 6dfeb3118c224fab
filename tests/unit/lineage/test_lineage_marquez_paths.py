# SPDX-License-Identifier: Apache-2.0
"""Every path of Marquez 0.51's OpenAPI document, and every request of its web page: status and keys."""

import re
from urllib.parse import quote

import pytest
from lineage_events import NAMESPACE, body, dataset, run_id, schema, source
from test_lineage_api import post, with_client

WAREHOUSE = "s3://warehouse"
RUN = "id createdAt updatedAt nominalStartTime nominalEndTime state startedAt endedAt durationMs args jobVersion facets"
RUN += " inputDatasetVersions outputDatasetVersions"
JOB = "id type name simpleName parentJobName createdAt updatedAt namespace inputs outputs location description tags"
JOB += " latestRun latestRuns facets currentVersion labels"
DATASET = "id type name physicalName createdAt updatedAt namespace sourceName fields tags lastModifiedAt description"
DATASET += " lastLifecycleState facets currentVersion deleted columnLineage"
DATASET_VERSION = "id type name physicalName createdAt version namespace sourceName fields tags description facets"
DATASET_VERSION += " createdByRun lifecycleState currentSchemaVersion"
JOB_VERSION = "id name createdAt version namespace location inputs outputs latestRun"
NAMESPACE_KEYS = "name createdAt updatedAt ownerName description isHidden"
SOURCE = "type name createdAt updatedAt connectionUrl description"
COUNTS = "startInterval endInterval fail start complete abort"
COUNT = "startInterval endInterval count"
NODE = "id type data inEdges outEdges"
HITS = "hits highlights"

JOB_PATH = "/api/v1/namespaces/{namespace}/jobs/{job}"
DATASET_PATH = "/api/v1/namespaces/{warehouse}/datasets/{dataset}"
TABLE_BODY = {"type": "DB_TABLE", "physicalName": "orders", "sourceName": WAREHOUSE, "fields": [{"name": "price"}]}
JOB_BODY = {"type": "BATCH", "inputs": [], "outputs": []}
SOURCE_BODY = {"type": "KAFKA", "connectionUrl": "kafka://k:1"}

PATHS = [
    # method, path, status, key of the rows (or empty), keys of the answer or of a row, body
    ("PUT", "/api/v1/namespaces/{namespace}", 200, "", NAMESPACE_KEYS, {"ownerName": "me"}),
    ("GET", "/api/v1/namespaces/{namespace}", 200, "", NAMESPACE_KEYS, None),
    ("GET", "/api/v1/namespaces", 200, "namespaces", NAMESPACE_KEYS, None),
    ("PUT", "/api/v1/sources/{source}", 200, "", SOURCE, SOURCE_BODY),
    ("GET", "/api/v1/sources/{source}", 200, "", SOURCE, None),
    ("GET", "/api/v1/sources", 200, "sources", SOURCE, None),
    ("PUT", DATASET_PATH, 200, "", DATASET, TABLE_BODY),
    ("GET", DATASET_PATH, 200, "", DATASET, None),
    ("GET", f"{DATASET_PATH}/versions/{{datasetVersion}}", 200, "", DATASET_VERSION, None),
    ("GET", f"{DATASET_PATH}/versions", 200, "versions", DATASET_VERSION, None),
    ("GET", "/api/v1/namespaces/{warehouse}/datasets", 200, "datasets", DATASET, None),
    ("POST", f"{DATASET_PATH}/tags/GOLD", 200, "", DATASET, None),
    ("DELETE", f"{DATASET_PATH}/tags/GOLD", 200, "", DATASET, None),
    ("POST", f"{DATASET_PATH}/fields/price/tags/PII", 200, "", DATASET, None),
    ("DELETE", f"{DATASET_PATH}/fields/price/tags/PII", 200, "", DATASET, None),
    ("PUT", JOB_PATH, 200, "", JOB, JOB_BODY),
    ("GET", JOB_PATH, 200, "", JOB, None),
    ("GET", "/api/v1/namespaces/{namespace}/jobs", 200, "jobs", JOB, None),
    ("GET", "/api/v1/jobs", 200, "jobs", JOB, None),
    ("GET", f"{JOB_PATH}/versions/{{jobVersion}}", 200, "", JOB_VERSION, None),
    ("GET", f"{JOB_PATH}/versions", 200, "versions", JOB_VERSION, None),
    ("POST", f"{JOB_PATH}/tags/daily", 200, "", JOB, None),
    ("DELETE", f"{JOB_PATH}/tags/daily", 200, "", JOB, None),
    ("POST", f"{JOB_PATH}/runs", 201, "", RUN, {}),
    ("GET", f"{JOB_PATH}/runs", 200, "runs", RUN, None),
    ("GET", "/api/v1/jobs/runs/{run}", 200, "", RUN, None),
    ("GET", "/api/v1/jobs/runs/{run}/facets?type=run", 200, "", "runId facets", None),
    ("POST", "/api/v1/jobs/runs/{run}/start", 200, "", RUN, None),
    ("POST", "/api/v1/jobs/runs/{run}/complete", 200, "", RUN, None),
    ("POST", "/api/v1/jobs/runs/{run}/fail", 200, "", RUN, None),
    ("POST", "/api/v1/jobs/runs/{run}/abort", 200, "", RUN, None),
    ("GET", "/api/v1/lineage?nodeId=job:{namespace}:{job}", 200, "graph", NODE, None),
    ("GET", "/api/v1/column-lineage?nodeId=dataset:{warehouse}:{dataset}", 200, "graph", NODE, None),
    ("GET", "/api/v1/runlineage/upstream?runId={run}", 200, "runs", "job run inputs", None),
    ("GET", "/api/v1/events/lineage", 200, "events", "eventType eventTime run job inputs outputs producer", None),
    ("PUT", "/api/v1/tags/PII", 200, "", "name description", {"description": "personal"}),
    ("GET", "/api/v1/tags", 200, "tags", "name description", None),
    ("GET", "/api/v1/search?q=orders", 200, "results", "type name updatedAt namespace nodeId", None),
    ("GET", "/api/v2beta/search/jobs?q=etl", 200, "", HITS, None),
    ("GET", "/api/v2beta/search/datasets?q=orders", 200, "", HITS, None),
    ("GET", "/api/v1/stats/lineage-events?period=DAY", 200, "[]", COUNTS, None),
    ("GET", "/api/v1/stats/jobs?period=WEEK&timezone=UTC", 200, "[]", COUNT, None),
    ("GET", "/api/v1/stats/datasets?period=WEEK&timezone=UTC", 200, "[]", COUNT, None),
    ("GET", "/api/v1/stats/sources?period=DAY", 200, "[]", COUNT, None),
    ("DELETE", DATASET_PATH, 200, "", DATASET, None),
    ("DELETE", JOB_PATH, 200, "", JOB, None),
    ("DELETE", "/api/v1/namespaces/{namespace}", 200, "", NAMESPACE_KEYS, None),
]

WEB = [
    # As the page writes them: names of datasets and tags partly unencoded, a slash after `search`.
    ("GET", "/api/v1/namespaces", 200, "namespaces", NAMESPACE_KEYS, None),
    ("GET", "/api/v1/jobs?limit=25&offset=0&lastRunStates=COMPLETED", 200, "jobs", JOB, None),
    ("GET", "/api/v1/namespaces/{namespace}/jobs?limit=25&offset=0", 200, "jobs", JOB, None),
    ("GET", f"{JOB_PATH}/runs?limit=14&offset=0", 200, "runs", RUN, None),
    ("GET", "/api/v1/namespaces/{warehouse}/datasets?limit=20&offset=0", 200, "datasets", DATASET, None),
    ("GET", f"{DATASET_PATH}/versions?limit=100&offset=0", 200, "versions", DATASET_VERSION, None),
    ("GET", "/api/v1/jobs/runs/{run}/facets?type=job", 200, "", "runId facets", None),
    ("GET", "/api/v1/lineage?nodeId=dataset:{warehouse}:{dataset}&depth=2", 200, "graph", NODE, None),
    (
        *("GET", "/api/v1/column-lineage?nodeId=dataset:{warehouse}:{dataset}&depth=2&withDownstream=true"),
        *(200, "graph", NODE, None),
    ),
    ("GET", "/api/v1/search/?q=orders&sort=NAME&limit=100&filter=DATASET", 200, "results", "name nodeId", None),
    (
        *("GET", "/api/v1/events/lineage?limit=25&before=2200-01-01T00:00:00Z&after=2000-01-01T00:00:00Z&offset=0"),
        *(200, "events", "eventType inputs outputs", None),
    ),
    ("GET", "/api/v1/stats/lineage-events?period=DAY", 200, "[]", COUNTS, None),
    ("GET", "/api/v1/stats/datasets?period=WEEK&timezone=Europe/Berlin", 200, "[]", COUNT, None),
    ("GET", "/api/v1/tags", 200, "", "tags", None),
    ("PUT", "/api/v1/tags/new", 200, "", "name description", {"description": "a new tag"}),
    ("POST", "/api/v1/namespaces/{warehouse}/datasets/sales/orders/tags/new", 200, "", DATASET, None),
    ("POST", "/api/v1/namespaces/{warehouse}/datasets/sales/orders/fields/price/tags/new", 200, "", DATASET, None),
    ("DELETE", "/api/v1/namespaces/{warehouse}/datasets/sales/orders/fields/price/tags/NEW", 200, "", DATASET, None),
    ("DELETE", "/api/v1/namespaces/{warehouse}/datasets/sales/orders/tags/new", 200, "", DATASET, None),
    ("POST", f"{JOB_PATH}/tags/new", 200, "", JOB, None),
    ("DELETE", f"{JOB_PATH}/tags/new", 200, "", JOB, None),
    ("DELETE", "/api/v1/namespaces/{warehouse}/datasets/sales/orders", 200, "", DATASET, None),
    ("DELETE", JOB_PATH, 200, "", JOB, None),
]


async def values_of(client):
    """Send a small pipeline; return the values of the names in paths."""
    raw = dataset("raw", schema=schema("value"))
    columns = {"fields": {"price": {"inputFields": [source("raw", "value")]}}}
    orders = dataset("sales/orders", schema=schema("price"), columnLineage=columns)
    for second, state in enumerate(("START", "COMPLETE")):
        await post(client, body(state, second, run=1, job="etl", inputs=[raw], outputs=[orders]))
    values = {"namespace": NAMESPACE, "job": "etl", "warehouse": WAREHOUSE, "dataset": "sales/orders", "run": run_id(1)}
    values["source"] = "kafka"
    quoted = {key: quote(value, safe="") for key, value in values.items()}
    for key, path in (("jobVersion", JOB_PATH), ("datasetVersion", DATASET_PATH)):
        quoted[key] = (await client.get(path.format(**quoted))).json()["currentVersion"]
    return quoted


@pytest.mark.parametrize("table", [PATHS, WEB], ids=["openapi", "web"])
def test_every_request_answers_in_the_shape_of_marquez(tmp_path, table):
    async def scenario(client):
        values = await values_of(client)
        for method, path, status, rows, keys, content in table:
            # Names in node ids are encoded as a whole.
            target = re.sub(r"\{(\w+)\}", lambda name: values[name.group(1)], path)
            response = await client.request(method, target, json=content)
            assert response.status_code == status, (method, target, response.text)
            found = response.json()
            for part in [] if rows in ("", "[]") else [rows]:
                found = found[part]
            if rows:
                assert found, (method, target)
                found = found[0]
            assert set(keys.split()) <= set(found), (method, target, set(keys.split()) - set(found))

    with_client(tmp_path, scenario)


def test_full_text_search_finds_columns_and_code(tmp_path):
    async def scenario(client):
        await values_of(client)
        code = {"sql": {"query": "SELECT upper(name) FROM people"}}
        await post(client, body("START", 10, run=2, job="people", job_facets=code))
        found = (await client.get("/api/v2beta/search/jobs?q=select upp")).json()
        assert [hit["name"] for hit in found["hits"]] == ["people"]
        assert found["highlights"] == [{"facets.sql.query": ["<em>SELECT upp</em>er(name) FROM people"]}]
        assert (found["hits"][0]["run_id"], found["hits"][0]["eventType"]) == (run_id(2), "RUNNING")
        found = (await client.get("/api/v2beta/search/datasets?q=price")).json()
        assert [(hit["name"], hit["eventType"]) for hit in found["hits"]] == [("sales/orders", "COMPLETE")]
        # Names rank before columns.
        await post(client, body("START", 11, run=3, job="more", outputs=[dataset("z/prices")]))
        found = (await client.get("/api/v2beta/search/datasets?q=PRICE")).json()
        assert [hit["name"] for hit in found["hits"]] == ["z/prices", "sales/orders"]
        # A word is matched from its start.
        assert (await client.get("/api/v2beta/search/datasets?q=rice")).json() == {"hits": [], "highlights": []}
        assert (await client.get("/api/v2beta/search/datasets?q=!")).json() == {"hits": [], "highlights": []}
        assert (await client.get("/api/v2beta/search/jobs?q=")).status_code == 400

    with_client(tmp_path, scenario)
