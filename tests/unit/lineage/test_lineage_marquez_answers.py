# SPDX-License-Identifier: Apache-2.0
"""Answers in which the service follows Marquez 0.51: status, order and keys."""

from urllib.parse import quote

import pytest
from lineage_events import CATALOG_URI, NAMESPACE, at, body, dataset, run_id, schema
from test_lineage_api import get, post, with_client

WAREHOUSE = "s3://warehouse"
ORDERS = f"/namespaces/{quote(WAREHOUSE, safe='')}/datasets/sales%2Forders"


def column_lineage(described="price of orders"):
    steps = [{"type": "DIRECT", "subtype": "TRANSFORMATION", "description": "rounded"}]
    source = {"namespace": WAREHOUSE, "name": "raw", "field": "value", "transformations": steps}
    plain = {"namespace": WAREHOUSE, "name": "raw", "field": "id"}
    field = {"inputFields": [source, plain], "transformationDescription": described, "transformationType": "MASKED"}
    return {"fields": {"price": field}}


def events():
    raw = dataset("raw", schema=schema("id", "value"))
    orders = dataset("sales/orders", schema=schema("price"), columnLineage=column_lineage())
    yield body("START", 0, run=1, job="dag.etl", parent=(9, "dag"), inputs=[raw], outputs=[orders])
    yield body("COMPLETE", 1, run=1, job="dag.etl", inputs=[raw], outputs=[orders])
    yield body("START", 50, run=2, job="later", inputs=[orders])
    yield body("FAIL", 20, run=3, job="between", inputs=[orders])


def asking(tmp_path, scenario):
    async def run(client):
        for event in events():
            assert (await post(client, event)).status_code == 201
        await scenario(client)

    with_client(tmp_path, run)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/jobs?lastRunStates=failed", 200),
        ("/stats/lineage-events?period=day", 200),
        ("/stats/jobs?period=week&timezone=Mars/Olympus", 200),
        ("/events/lineage?sortDirection=ASC&before=&after=", 200),
        ("/search?q=a&before=&after=&filter=job&sort=name", 200),
        (f"/jobs/runs/{run_id(1)}/facets?type=RUN", 200),
        (f"/jobs/runs/{run_id(1)}/facets?type=dataset", 200),
        (f"/lineage?nodeId=job:{NAMESPACE}:later&depth=-1", 200),
        ("/namespaces/none/jobs", 200),
        (f"/lineage?nodeId=datasetField:{WAREHOUSE}:sales/orders:price", 404),
        ("/jobs?limit=many", 404),
        ("/jobs?offset=1.5", 404),
        (f"/lineage?nodeId=job:{NAMESPACE}:later&depth=deep", 404),
        ("/stats/bogus?period=DAY", 404),
        ("/jobs?limit=-1", 400),
        ("/stats/jobs?period=YEAR", 400),
    ],
)
def test_parameters_are_read_as_marquez_reads_them(tmp_path, path, status):
    asking(tmp_path, lambda client: get(client, path, status))


def test_unknown_namespace_has_no_jobs(tmp_path):
    async def scenario(client):
        assert await get(client, "/namespaces/none/jobs") == {"jobs": [], "totalCount": 0}

    asking(tmp_path, scenario)


def test_facets_of_an_unsupported_kind_are_empty(tmp_path):
    async def scenario(client):
        path = f"/jobs/runs/{run_id(1)}/facets?type=DATASET"
        assert await get(client, path) == {"runId": run_id(1), "facets": {}}

    asking(tmp_path, scenario)


def test_negative_depth_is_zero(tmp_path):
    async def scenario(client):
        path = f"/lineage?nodeId=job:{NAMESPACE}:later&depth="
        assert await get(client, f"{path}-7") == await get(client, f"{path}0")

    asking(tmp_path, scenario)


def test_jobs_are_listed_by_their_last_event_latest_first(tmp_path):
    async def scenario(client):
        async def listed(path="/jobs", **parameters):
            return [job["name"] for job in (await get(client, path, **parameters))["jobs"]]

        assert await listed() == ["later", "between", "dag.etl"]
        assert await listed(f"/namespaces/{NAMESPACE}/jobs", limit=1, offset=1) == ["between"]
        await post(client, body("COMPLETE", 60, run=4, job="dag.etl"))
        assert await listed() == ["dag.etl", "later", "between"]
        # An older event that arrives late moves no job.
        await post(client, body("RUNNING", 10, run=3, job="between"))
        assert await listed() == ["dag.etl", "later", "between"]
        assert await listed(lastRunStates="running") == ["later"]

    asking(tmp_path, scenario)


def test_job_has_labels_and_the_id_of_its_parent(tmp_path):
    async def scenario(client):
        job = await get(client, f"/namespaces/{NAMESPACE}/jobs/dag.etl")
        assert (job["labels"], job["parentJobName"], job["simpleName"]) == ([], "dag", "etl")
        assert len(job["parentJobUuid"]) == 36
        assert (await get(client, f"/namespaces/{NAMESPACE}/jobs/later"))["parentJobUuid"] is None

    asking(tmp_path, scenario)


def test_lineage_names_the_current_run_of_a_job(tmp_path):
    async def scenario(client):
        graph = (await get(client, f"/lineage?nodeId=job:{NAMESPACE}:later&depth=0"))["graph"]
        jobs = [node["data"] for node in graph if node["type"] == "JOB"]
        assert [(job["name"], job["currentRunUuid"]) for job in jobs] == [("later", run_id(2))]
        assert "currentRunUuid" not in await get(client, f"/namespaces/{NAMESPACE}/jobs/later")

    asking(tmp_path, scenario)


def test_column_lineage_has_versions_and_descriptions(tmp_path):
    async def scenario(client):
        node = f"datasetField:{WAREHOUSE}:sales/orders:price"
        graph = (await get(client, "/column-lineage", nodeId=node))["graph"]
        price = next(found["data"] for found in graph if found["id"] == node)
        assert price["datasetVersion"] == (await get(client, ORDERS))["currentVersion"]
        assert (price["transformationType"], price["transformationDescription"]) == ("MASKED", "price of orders")
        raw = await get(client, f"/namespaces/{quote(WAREHOUSE, safe='')}/datasets/raw")
        assert [
            (row["field"], row["transformationType"], row["transformationDescription"], row["datasetVersion"])
            for row in price["inputFields"]
        ] == [
            ("id", "TRANSFORMATION", "price of orders", raw["currentVersion"]),
            ("value", "TRANSFORMATION", "rounded", raw["currentVersion"]),
        ]
        (column,) = (await get(client, ORDERS))["columnLineage"]
        assert "datasetVersion" not in column["inputFields"][0]
        assert (column["transformationType"], column["transformationDescription"]) == ("MASKED", "price of orders")

    asking(tmp_path, scenario)


def test_job_versions_have_the_keys_of_marquez(tmp_path):
    async def scenario(client):
        found = await get(client, f"/namespaces/{NAMESPACE}/jobs/dag.etl/versions")
        assert set(found) == {"versions"}
        assert found["versions"][0]["id"] == {"namespace": NAMESPACE, "name": "dag.etl"}

    asking(tmp_path, scenario)


def test_events_have_inputs_and_outputs(tmp_path):
    async def scenario(client):
        bare = body("RUNNING", 70, run=2, job="later")
        del bare["inputs"], bare["outputs"]
        await post(client, bare)
        (event,) = (await get(client, "/events/lineage?limit=1"))["events"]
        assert event == {**bare, "inputs": [], "outputs": []}
        (event,) = (await get(client, "/events/lineage?limit=1&offset=1"))["events"]
        assert event["eventTime"] == at(50)

    asking(tmp_path, scenario)


def test_dataset_is_found_by_its_aliases(tmp_path):
    async def scenario(client):
        by_name = await get(client, f"/lineage?nodeId=dataset:{WAREHOUSE}:sales/orders")
        # By the naming rules: as SQL or the catalog names the table.
        for alias in (":lake.sales.orders", f"{CATALOG_URI}:sales.orders"):
            assert await get(client, f"/lineage?nodeId={quote(f'dataset:{alias}', safe='')}") == by_name
        # By the symlink that the service gives a table which an event names so.
        await post(client, body("RUNNING", 51, run=2, job="later", inputs=[dataset("sales.orders", CATALOG_URI)]))
        by_name = await get(client, f"/lineage?nodeId=dataset:{WAREHOUSE}:sales/orders")
        assert await get(client, f"/lineage?nodeId=dataset:{WAREHOUSE}:lake.sales.orders") == by_name
        # By a symlinks facet.
        links = {"identifiers": [{"namespace": "hive://metastore", "name": "db.orders", "type": "TABLE"}]}
        await post(client, body("RUNNING", 52, run=2, job="later", inputs=[dataset("sales/orders", symlinks=links)]))
        by_name = await get(client, f"/lineage?nodeId=dataset:{WAREHOUSE}:sales/orders")
        assert await get(client, "/lineage?nodeId=dataset:hive://metastore:db.orders") == by_name
        column = "/column-lineage?nodeId=datasetField:"
        price = await get(client, f"{column}{WAREHOUSE}:sales/orders:price")
        assert await get(client, f"{column}hive://metastore:db.orders:price") == price
        await get(client, "/lineage?nodeId=dataset:hive://metastore:db.none", 404)

    asking(tmp_path, scenario)
