# SPDX-License-Identifier: Apache-2.0
"""Content of the answers to Marquez's Python client and web page, from a service process."""

import json
from urllib.error import HTTPError

import pytest
from lineage_events import NAMESPACE, body, dataset, facet, run_id, schema, source
from test_lineage_process import get, post, service

WAREHOUSE = "s3://warehouse"
KAFKA = "kafka://kafka:9092"
RUN = run_id(2)


def events():
    """Return a run that writes one schema, a later one that writes another, tags, and a reader."""
    topic = dataset("orders", KAFKA, schema=schema("value"))
    lineage = {"fields": {"price": {"inputFields": [{**source("orders", "value"), "namespace": KAFKA}]}}}
    tags = {"tags": [{"key": "GOLD", "value": "1"}, {"key": "PII", "value": "1", "field": "price"}]}
    for run, second, fields in ((1, 0, ["price"]), (2, 10, ["id", "price"])):
        table = dataset("sales/orders", schema=schema(*fields), columnLineage=lineage, tags=tags)
        for state, later in (("START", 0), ("COMPLETE", 1)):
            yield body(state, second + later, run=run, job="etl", inputs=[topic], outputs=[table])
    yield body("START", 20, run=3, job="stats", inputs=[dataset("sales/orders")], job_facets={"tags": tags})


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    client = pytest.importorskip("marquez_client", reason="marquez-python is not installed")
    with service(tmp_path_factory.mktemp("data")) as (_, url):
        for event in events():
            assert post(url, event) == 201
        yield url, client.MarquezClient(url)


@pytest.fixture
def url(running):
    return running[0]


@pytest.fixture
def client(running):
    return running[1]


def api_error():
    from marquez_client.errors import APIError

    return APIError


def names(rows):
    return [row["name"] for row in rows]


def test_namespaces(client):
    assert names(client.list_namespaces()["namespaces"]) == [KAFKA, WAREHOUSE, NAMESPACE]
    assert names(client.list_namespaces(limit=1, offset=1)["namespaces"]) == [WAREHOUSE]
    assert client.get_namespace(KAFKA)["ownerName"]


def test_sources(client):
    assert names(client.list_sources()["sources"]) == [KAFKA, WAREHOUSE]
    assert names(client.list_sources(limit=1, offset=1)["sources"]) == [WAREHOUSE]
    assert {key: client.get_source(KAFKA)[key] for key in ("type", "name", "connectionUrl")} == {
        "type": "KAFKA",
        "name": KAFKA,
        "connectionUrl": KAFKA,
    }


def test_tags(client):
    assert names(client.list_tags()["tags"]) == ["GOLD", "PII"]
    assert names(client.list_tags(limit=1, offset=1)["tags"]) == ["PII"]


def test_events(client):
    found = client.list_events(limit=2)
    assert (found["totalCount"], [event["job"]["name"] for event in found["events"]]) == (5, ["stats", "etl"])


def test_datasets_and_their_versions(client):
    assert names(client.list_datasets(WAREHOUSE)["datasets"]) == ["sales/orders"]
    found = client.get_dataset(WAREHOUSE, "sales/orders")
    assert found["tags"] == ["GOLD"]
    listed = client.list_dataset_versions(WAREHOUSE, "sales/orders")
    new, old = listed["versions"]
    assert [names(version["fields"]) for version in (old, new)] == [["price"], ["id", "price"]]
    assert [version["createdByRun"]["id"] for version in (old, new)] == [run_id(1), RUN]
    assert listed["totalCount"] == 2
    assert client.list_dataset_versions(WAREHOUSE, "sales/orders", limit=1, offset=1)["versions"] == [old]
    assert client.get_dataset_version(WAREHOUSE, "sales/orders", old["version"]) == old
    # Version ids are consistent across routes.
    assert found["currentVersion"] == new["version"] == new["id"]["version"]
    for run, version in ((1, old), (2, new)):
        shown = client.get_job_run(run_id(run))["outputDatasetVersions"]
        assert shown[0]["datasetVersionId"]["version"] == version["version"]
    read = client.get_job_run(run_id(3))["inputDatasetVersions"]
    assert read[0]["datasetVersionId"]["version"] == new["version"]
    for version in (old, new):
        required = {"id", "type", "name", "physicalName", "createdAt", "version", "namespace", "sourceName"}
        assert required | {"fields", "tags", "description", "lifecycleState", "facets"} <= set(version)
    assert (old["facets"], set(new["facets"])) == ({}, {"schema", "columnLineage", "tags"})


def test_jobs_and_runs(client):
    assert client.list_jobs(NAMESPACE)["totalCount"] == 2
    job = client.get_job(NAMESPACE, "etl")
    assert job["latestRun"]["id"] == RUN
    runs = client.list_job_runs(NAMESPACE, "etl", limit=1)
    assert ([run["id"] for run in runs["runs"]], runs["totalCount"]) == ([RUN], 2)
    assert client.get_job_run(RUN)["jobVersion"]["version"] == job["currentVersion"]


def test_column_lineage(client):
    ids = [f"datasetField:{KAFKA}:orders:value", f"datasetField:{WAREHOUSE}:sales/orders:price"]

    def nodes(answer):
        return [node["id"] for node in answer["graph"]]

    assert nodes(client.get_column_lineage_by_dataset(WAREHOUSE, "sales/orders")) == ids
    assert nodes(client.get_column_lineage_by_dataset_field(WAREHOUSE, "sales/orders", "price", depth=1)) == ids
    assert nodes(client.get_column_lineage_by_dataset_field(KAFKA, "orders", "value", with_downstream=True)) == ids
    assert nodes(client.get_column_lineage_by_job(NAMESPACE, "etl")) == ids


def test_column_lineage_is_of_the_current_version(client):
    current = client.get_dataset(WAREHOUSE, "sales/orders")["currentVersion"]
    assert client.get_column_lineage_by_dataset(WAREHOUSE, "sales/orders", version=current)["graph"]
    assert client.get_column_lineage_by_dataset_field(WAREHOUSE, "sales/orders", "price", version=current)["graph"]
    job = client.get_job(NAMESPACE, "etl")["currentVersion"]
    assert client.get_column_lineage_by_job(NAMESPACE, "etl", version=job)["graph"]
    old = client.list_dataset_versions(WAREHOUSE, "sales/orders")["versions"][1]["version"]
    with pytest.raises(api_error()) as error:
        client.get_column_lineage_by_dataset(WAREHOUSE, "sales/orders", version=old)
    response = error.value.__cause__.response
    assert response.status_code == 404
    assert response.json()["error"]["details"]["currentVersion"] == current


@pytest.fixture
def writing(tmp_path):
    """Yield a client of an empty service and its URL."""
    client = pytest.importorskip("marquez_client", reason="marquez-python is not installed")
    with service(tmp_path) as (_, url):
        yield client.MarquezClient(url)


@pytest.mark.filterwarnings("ignore:.* is (deprecated|unsupported) as of:DeprecationWarning")
def test_writes_of_the_client(writing):
    from marquez_client.models import DatasetId, DatasetType, JobType

    client = writing
    assert client.create_namespace("food", "me", "meals")["ownerName"] == "me"
    assert client.create_source("shop", "postgresql", "postgresql://db:5432/shop")["type"] == "POSTGRESQL"
    assert client.create_tag("PII", "personal")["description"] == "personal"
    fields = [{"name": "id", "type": "INTEGER"}, {"name": "email", "type": "VARCHAR", "tags": ["pii"]}]
    orders = client.create_dataset(
        "food",
        "public.orders",
        DatasetType.DB_TABLE,
        "public.orders",
        "shop",
        "all orders",
        fields=fields,
        tags=["GOLD"],
    )
    assert (orders["description"], orders["sourceName"], orders["tags"]) == ("all orders", "shop", ["GOLD"])
    assert [(field["name"], field["type"], field["tags"]) for field in orders["fields"]] == [
        ("id", "INTEGER", []),
        ("email", "VARCHAR", ["PII"]),
    ]
    client.create_dataset("food", "public.totals", DatasetType.DB_TABLE, "totals", "shop")
    job = client.create_job(
        "food",
        "etl",
        JobType.BATCH,
        location="https://example.org/etl.py",
        inputs=[DatasetId("food", "public.orders")],
        outputs=[DatasetId("food", "public.totals")],
        description="totals",
    )
    assert (job["type"], job["location"], job["description"]) == ("BATCH", "https://example.org/etl.py", "totals")
    assert (names(job["inputs"]), names(job["outputs"])) == (["public.orders"], ["public.totals"])
    run = client.create_job_run("food", "etl", nominal_start_time="2026-01-01T00:00:00Z", run_args={"size": "7"})
    assert (run["state"], run["args"], run["nominalStartTime"]) == ("NEW", {"size": "7"}, "2026-01-01T00:00:00Z")
    assert client.mark_job_run_as_started(run["id"])["state"] == "RUNNING"
    ended = client.mark_job_run_as_completed(run["id"])
    assert (ended["state"], ended["durationMs"] is not None) == ("COMPLETED", True)
    for mark, state in (("failed", "FAILED"), ("aborted", "ABORTED")):
        run = client.create_job_run("food", "etl", mark_as_running=True)
        assert run["state"] == "RUNNING"
        assert getattr(client, f"mark_job_run_as_{mark}")(run["id"])["state"] == state
    assert client.list_job_runs("food", "etl")["totalCount"] == 3
    assert client.tag_dataset("food", "public.orders", "NEW")["tags"] == ["GOLD", "NEW"]
    tagged = client.tag_dataset_field("food", "public.orders", "id", "key")
    assert [field["tags"] for field in tagged["fields"]] == [["KEY"], ["PII"]]
    assert names(client.list_tags()["tags"]) == ["GOLD", "KEY", "NEW", "PII"]
    assert client.get_job("food", "etl")["latestRun"]["state"] == "ABORTED"
    assert names(client.get_job("food", "etl")["inputs"]) == ["public.orders"]


def test_reads_of_marquez_web(url):
    found = get(url, "/namespaces/s3%3A%2F%2Fwarehouse/datasets/sales%2Forders/versions?limit=100&offset=0")
    assert found["totalCount"] == 2
    for kind, keys in (("run", set()), ("job", {"tags"})):
        facets = get(url, f"/jobs/runs/{run_id(3)}/facets?type={kind}")
        assert (facets["runId"], set(facets["facets"])) == (run_id(3), keys)
    for lasting in ("COMPLETED", "RUNNING", "COMPLETED&lastRunStates=RUNNING", "FAILED"):
        page = get(url, f"/jobs?limit=25&offset=0&lastRunStates={lasting}")
        expected = {"stats": "RUNNING", "etl": "COMPLETED"}
        assert names(page["jobs"]) == [name for name, state in expected.items() if state in lasting]
        assert page["totalCount"] == 2
    found = get(url, f"/search?q=o&filter=DATASET&sort=UPDATE_AT&limit=5&namespace={KAFKA}")
    assert names(found["results"]) == ["orders"]
    counts = get(url, "/stats/lineage-events?period=DAY")
    assert (len(counts), set(counts[0])) == (
        24,
        {"startInterval", "endInterval", "start", "fail", "complete", "abort"},
    )
    for kind, expected in (("jobs", 2), ("datasets", 2), ("sources", 2)):
        rows = get(url, f"/stats/{kind}?period=WEEK&timezone=Europe/Berlin")
        assert (len(rows), rows[-1]["count"]) == (7, expected)


def test_job_versions(url):
    found = get(url, f"/namespaces/{NAMESPACE}/jobs/etl/versions")
    assert [version["latestRun"]["id"] for version in found["versions"]] == [RUN]
    version = found["versions"][0]
    assert version["outputs"] == [{"namespace": WAREHOUSE, "name": "sales/orders"}]
    assert version["version"] == get(url, f"/namespaces/{NAMESPACE}/jobs/etl")["currentVersion"]
    assert get(url, f"/namespaces/{NAMESPACE}/jobs/etl/versions/{version['version']}") == version


def test_upstream_runs(url):
    found = get(url, f"/runlineage/upstream?runId={run_id(3)}")["runs"]
    assert [row["run"]["id"] for row in found] == [run_id(3), RUN]
    assert found[0]["inputs"][0]["producedByRunId"] == RUN
    assert (found[1]["job"]["name"], found[1]["run"]["status"]) == ("etl", "COMPLETED")
    assert found[1]["inputs"][0]["producedByRunId"] is None
    assert len(get(url, f"/runlineage/upstream?runId={run_id(3)}&depth=0")["runs"]) == 1


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/sources/none", 404, "source 'none'"),
        (f"/sources/{NAMESPACE}", 404, "source"),
        ("/namespaces/s3%3A%2F%2Fwarehouse/datasets/none/versions", 404, "dataset"),
        ("/namespaces/s3%3A%2F%2Fwarehouse/datasets/sales%2Forders/versions/none", 404, "dataset version 'none'"),
        (f"/namespaces/{NAMESPACE}/jobs/etl/versions/none", 404, "job version 'none'"),
        (f"/jobs/runs/{run_id(9)}/facets?type=run", 404, "run"),
        (f"/jobs/runs/{RUN}/facets", 400, "type"),
        ("/jobs?lastRunStates=DONE", 400, "lastRunStates: 'DONE'"),
        (f"/runlineage/upstream?runId={run_id(9)}", 404, "run"),
        ("/runlineage/upstream", 400, "runId"),
        ("/search?q=a&before=noon", 400, "before: 'noon' is not a date"),
        ("/stats/lineage-events", 400, "period"),
        ("/stats/jobs?period=YEAR", 400, "period"),
        ("/stats/none?period=DAY", 404, "none"),
        ("/jobs?limit=many", 404, "whole number"),
        (f"/lineage?nodeId=datasetField:{WAREHOUSE}:sales/orders:price", 404, "no event names job or dataset"),
        ("/lineage?nodeId=dataset:s3://warehouse:sales/orders%23none", 404, "is at version"),
        ("/lineage?nodeId=dataset:no:such%23none", 404, "no event names"),
    ],
)
def test_invalid_reads_return_an_error_with_the_cause(url, path, status, words):
    with pytest.raises(HTTPError) as error:
        get(url, path)
    with error.value as response:
        message = json.load(response)["error"]["message"]
    assert response.code == status
    assert words in message


def test_facets_of_unexpected_types_do_not_break_reads(url):
    strange = dataset(
        "strange", **{"tags": {"tags": [7, {"key": 7}, {"key": "ODD"}]}, "version": {"datasetVersion": 7}}
    )
    strange["facets"]["schema"] = facet(fields=[])
    assert post(url, body("START", 30, run=4, job="odd", outputs=[strange])) == 201
    assert "ODD" in names(get(url, "/tags")["tags"])
    versions = get(url, "/namespaces/s3%3A%2F%2Fwarehouse/datasets/strange/versions")["versions"]
    assert len(versions) == 1
    assert get(url, "/namespaces/s3%3A%2F%2Fwarehouse/datasets/strange")["currentVersion"] == versions[0]["version"]
