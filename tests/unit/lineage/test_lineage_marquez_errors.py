# SPDX-License-Identifier: Apache-2.0
"""Refusals of Marquez's API: status and body are those that its clients read."""

import pytest
from lineage_events import NAMESPACE, run_id
from test_lineage_api import with_client
from test_lineage_marquez_writes import ETL, JOB, ORDERS, TABLE, writing

NONE = "/namespaces/none"
BAD_UUID = "seven"
META = {"content-type": "application/json"}


async def refused(client, method, path, status, **content):
    """Return the body of a refused request, whose parts agree with each other."""
    response = await client.request(method, f"/api/v1{path}", **content)
    assert response.status_code == status, (method, path, response.text)
    body = response.json()
    assert (body["code"], body["message"]) == (status, body["error"]["message"])
    assert body.keys() <= {"code", "message", "errors", "error"}
    return body


@pytest.mark.parametrize(
    ("method", "path", "content", "named"),
    [
        ("GET", NONE, None, "none"),
        ("GET", f"{NONE}/datasets", None, "none"),
        ("GET", f"{NONE}/datasets/orders", None, "none/orders"),
        ("GET", f"{ORDERS}-none", None, "sales/orders-none"),
        ("GET", f"{ORDERS}-none/versions", None, "sales/orders-none"),
        ("GET", f"{ORDERS}/versions/{run_id(9)}", None, run_id(9)),
        ("GET", f"{ORDERS}/versions/{BAD_UUID}", None, BAD_UUID),
        ("GET", f"{NONE}/jobs/etl", None, "none/etl"),
        ("GET", f"{ETL}-none", None, "etl-none"),
        ("GET", f"{ETL}-none/runs", None, "etl-none"),
        ("GET", f"{ETL}-none/versions", None, "etl-none"),
        ("GET", f"{ETL}/versions/{BAD_UUID}", None, BAD_UUID),
        ("GET", f"/jobs/runs/{run_id(9)}", None, run_id(9)),
        ("GET", f"/jobs/runs/{BAD_UUID}", None, BAD_UUID),
        ("GET", f"/jobs/runs/{BAD_UUID}/facets?type=run", None, BAD_UUID),
        ("GET", f"/runlineage/upstream?runId={BAD_UUID}", None, BAD_UUID),
        ("GET", "/sources/none", None, "none"),
        ("GET", "/lineage?nodeId=dataset:none:none", None, "dataset:none:none"),
        ("GET", "/lineage?nodeId=seven", None, "seven"),
        ("GET", "/column-lineage?nodeId=datasetField:none:none:none", None, "datasetField:none:none:none"),
        ("GET", "/jobs?limit=many", None, "many"),
        ("GET", "/nothing", None, ""),
        ("PUT", f"{NONE}/datasets/x", TABLE, "none"),
        ("PUT", f"{NONE}/jobs/x", JOB, "none"),
        ("PUT", ORDERS, {**TABLE, "sourceName": "other"}, "other"),
        ("PUT", ORDERS, {**TABLE, "runId": run_id(9)}, run_id(9)),
        ("POST", f"/jobs/runs/{BAD_UUID}/start", None, BAD_UUID),
        ("POST", f"/jobs/runs/{run_id(1)}/pause", None, "pause"),
        ("POST", f"{ETL}-none/runs", {}, "etl-none"),
        ("POST", f"{ETL}-none/tags/A", None, "etl-none"),
        ("POST", f"{ORDERS}/fields/none/tags/A", None, "none"),
        ("DELETE", NONE, None, "none"),
        ("DELETE", f"{ORDERS}-none", None, "sales/orders-none"),
        ("DELETE", f"{ETL}-none", None, "etl-none"),
    ],
)
def test_what_is_unknown_is_not_found(tmp_path, method, path, content, named):
    async def scenario(client):
        body = await refused(client, method, path, 404, **({} if content is None else {"json": content}))
        assert named in body["message"]
        assert "errors" not in body

    writing(tmp_path, scenario)


@pytest.mark.parametrize(
    ("path", "errors"),
    [
        ("/jobs?limit=-1", ["query param limit must be greater than or equal to 0"]),
        (
            f"/namespaces/{NAMESPACE}/jobs?limit=-1&offset=-2",
            [
                "query param limit must be greater than or equal to 0",
                "query param offset must be greater than or equal to 0",
            ],
        ),
        ("/lineage", ["query param nodeId must not be null"]),
        ("/column-lineage", ["query param nodeId must not be null"]),
        ("/search", ["query param q must not be null"]),
        ("/runlineage/upstream", ["query param runId must not be null"]),
        (f"/jobs/runs/{run_id(1)}/facets", ["query param type must not be null"]),
        ("/stats/jobs", ["query param period must not be null"]),
    ],
)
def test_violated_constraints_of_parameters_are_listed(tmp_path, path, errors):
    async def scenario(client):
        assert (await refused(client, "GET", path, 400))["errors"] == errors

    writing(tmp_path, scenario)


@pytest.mark.parametrize("path", ["/stats/jobs?period=YEAR", "/jobs?lastRunStates=DONE", "/events/lineage?before=noon"])
def test_values_that_do_not_exist_are_bad_requests(tmp_path, path):
    async def scenario(client):
        assert "errors" not in await refused(client, "GET", path, 400)

    with_client(tmp_path, scenario)


@pytest.mark.parametrize(
    ("method", "path"),
    [("PUT", "/namespaces/x"), ("PUT", "/sources/x"), ("PUT", "/tags/x"), ("PUT", ETL), ("POST", f"{ETL}/runs")],
)
@pytest.mark.parametrize("body", [b"{", b"[]", b'"text"', b'{"id": "seven", "ownerName": 7, "description": 7}'])
def test_malformed_bodies_are_bad_requests(tmp_path, method, path, body):
    async def scenario(client):
        await refused(client, method, path, 400, content=body, headers=META)

    writing(tmp_path, scenario)


def test_run_that_exists_and_malformed_events_are_bad_requests(tmp_path):
    async def scenario(client):
        body = await refused(client, "POST", f"{ETL}/runs", 400, json={"id": run_id(1)})
        assert run_id(1) in body["message"]
        await refused(client, "POST", "/lineage", 400, content=b"{", headers=META)

    writing(tmp_path, scenario)


def test_methods_that_a_path_does_not_have(tmp_path):
    async def scenario(client):
        await refused(client, "PATCH", "/namespaces", 405)

    with_client(tmp_path, scenario)
