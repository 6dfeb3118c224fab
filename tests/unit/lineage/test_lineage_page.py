# SPDX-License-Identifier: Apache-2.0
"""Files of the lineage page and the routes that it reads."""

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import quote

import pytest
from lineage_events import body, dataset, facet, run_id, schema, source
from test_lineage_operations import Api, run

from lineage.api.lab import LabError, read_lab
from lineage.api.page_files import POLICY

SALES = "s3%3A%2F%2Fwarehouse/datasets/sales"


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "site"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html>" + "page " * 100)
    (folder / "assets" / "index-1a2b.js").write_text("let a;")
    (folder / "assets" / "odd.exe").write_text("no type that is served")
    return folder


def test_page_has_a_strict_content_security_policy(tmp_path, site):
    async def scenario():
        async with Api(tmp_path / "data", page=site) as api:
            return await api.get("/")

    page = run(scenario())
    assert page.text.startswith("<!doctype html>page")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-security-policy"] == POLICY
    assert "default-src 'self'" in POLICY
    assert "unsafe" not in POLICY
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["cache-control"] == "no-cache"
    assert page.headers["content-encoding"] == "gzip"


def test_hashed_files_are_immutable_and_others_are_revalidated(tmp_path, site):
    async def scenario():
        async with Api(tmp_path / "data", page=site) as api:
            asset = await api.get("/assets/index-1a2b.js")
            page = await api.get("/")
            again = await api._client.get("/", headers={"If-None-Match": page.headers["etag"]})
            return asset, again, await api.get("/assets/odd.exe"), await api.get("/assets/..%2f..%2fdata")

    asset, again, odd, outside = run(scenario())
    assert asset.text == "let a;"
    assert "immutable" in asset.headers["cache-control"]
    assert (again.status_code, again.content) == (304, b"")
    assert (odd.status_code, outside.status_code) == (404, 404)


def test_service_without_a_page_names_the_command_that_builds_it(tmp_path):
    async def scenario():
        async with Api(tmp_path / "data") as api:
            return await api.get("/"), await api.get("/health")

    page, health = run(scenario())
    assert page.status_code == 503
    assert page.headers["content-type"] == "text/plain; charset=utf-8"
    assert "bin/lab setup" in page.text
    assert health.status_code == 200


def test_folder_without_a_page_is_rejected_at_start(tmp_path):
    async def scenario():
        async with Api(tmp_path / "data", page=tmp_path):
            pass

    with pytest.raises(OSError, match=r"no index\.html there; build the page with `npm run build`"):
        run(scenario())


def test_summaries_describe_nodes_and_edges(tmp_path):
    masked = {**source("raw", "card"), "transformations": [{"type": "DIRECT", "subtype": "HASH", "masking": True}]}
    output = dataset(
        "sales",
        schema=schema("card", "price"),
        columnLineage={"fields": {"card": {"inputFields": [masked]}}},
        tags={"tags": [{"key": "gold", "value": ""}, {"key": "pii", "value": "", "field": "card"}]},
        ownership={"owners": [{"name": "team-data"}]},
        symlinks={"identifiers": [{"namespace": "http://c", "name": "lake.sales", "type": "TABLE"}]},
    )
    event = body("START", inputs=[dataset("raw")], outputs=[output])
    event["job"]["facets"] = {"jobType": facet(processingType="STREAMING", integration="FLINK", jobType="JOB")}

    async def scenario():
        async with Api(tmp_path) as api:
            await api.store(event)
            return await api.read("/api/v1/summaries")

    found = run(scenario())
    (job,) = found["jobs"]
    names = [row["name"] for row in found["datasets"]]
    # The event is of January: a streaming job silent since then is stale.
    expected = {"engine": "FLINK", "processing": "STREAMING", "state": "RUNNING", "stale": True, "runs": 1}
    assert expected.items() <= job.items()
    assert job["startedAt"].startswith("2026-01-01T00:00:00")
    assert [names[place] for place in (*job["inputs"], *job["outputs"])] == ["raw", "sales"]
    sales = found["datasets"][names.index("sales")]
    assert sales["tags"] == ["gold"]
    assert sales["columnTags"] == {"card": ["pii"]}
    assert sales["owners"] == ["team-data"]
    assert (sales["columns"], sales["masked"]) == (2, ["card"])
    assert sales["symlinks"] == [{"namespace": "http://c", "name": "lake.sales", "type": "TABLE"}]


def test_summaries_list_the_failed_checks_of_the_latest_run(tmp_path):
    def checked(*results):
        rows = [{"assertion": name, "column": column, "success": ok} for name, column, ok in results]
        return {**dataset("orders"), "inputFacets": {"dataQualityAssertions": facet(assertions=rows)}}

    async def scenario():
        async with Api(tmp_path) as api:
            await api.store(body("COMPLETE", 1, run=1, job="checks", inputs=[checked(("unique", "id", False))]))
            before = await api.read("/api/v1/summaries")
            later = checked(("unique", "id", True), ("not_null", "price", False), ("odd", 1, False))
            await api.store(body("COMPLETE", 2, run=2, job="checks", inputs=[later]))
            return before, await api.read("/api/v1/summaries")

    before, after = ([job["failedChecks"] for job in found["jobs"]] for found in run(scenario()))
    named = {"namespace": dataset("orders")["namespace"], "name": "orders"}
    assert before == [[{**named, "assertion": "unique", "column": "id"}]]
    assert after == [
        [{**named, "assertion": "not_null", "column": "price"}, {**named, "assertion": "odd", "column": None}]
    ]


def test_summaries_name_the_latest_run_and_the_run_that_it_belongs_to(tmp_path):
    async def scenario():
        async with Api(tmp_path) as api:
            await api.store(body("START", run=1, job="dag"))
            await api.store(body("START", 1, run=2, job="task", parent=(1, "dag")))
            await api.store(body("COMPLETE", 2, run=2, job="task", parent=(1, "dag")))
            return await api.read("/api/v1/summaries")

    dag, task = run(scenario())["jobs"]
    assert (dag["name"], dag["run"], dag["parent"], dag["endedAt"]) == ("dag", run_id(1), None, None)
    assert (task["run"], task["parent"]) == (
        run_id(2),
        {"namespace": dag["namespace"], "name": "dag", "run": run_id(1)},
    )
    assert (task["endedAt"][:19], task["endedBecause"]) == ("2026-01-01T00:00:02", None)


@pytest.mark.parametrize(
    "odd",
    [{"tags": "x"}, {"tags": [1, {"key": 2}, {"field": "a"}]}],
)
def test_summaries_tolerate_unexpected_facet_content(tmp_path, odd):
    strange = dataset("odd", tags=odd, ownership={"owners": [{"name": 1}, "x"]}, documentation={"description": None})

    async def scenario():
        async with Api(tmp_path) as api:
            await api.store(body(outputs=[strange]))
            return (await api.read("/api/v1/summaries"))["datasets"]

    (row,) = run(scenario())
    assert (row["tags"], row["owners"], row["columnTags"]) == ([], [], {})


def test_activity_lists_row_counts_and_quality_checks_newest_first(tmp_path):
    def write(second, rows, number):
        output = dataset("sales")
        output["outputFacets"] = {"outputStatistics": facet(rowCount=rows, size=10)}
        return body("COMPLETE", second, run=number, outputs=[output, dataset("sales_old")])

    checked = dataset("sales")
    checks = [{"assertion": "not_null", "column": "id", "success": False}]
    checked["inputFacets"] = {"dataQualityAssertions": facet(assertions=checks)}
    check = body("COMPLETE", 9, run=9, job="check", inputs=[checked])

    async def scenario():
        async with Api(tmp_path) as api:
            await api.store(write(1, 5, 1), write(2, 7, 2), check)
            path = f"/api/v1/namespaces/{SALES}"
            return (
                await api.read(f"{path}/activity"),
                await api.read(f"{path}/activity", limit=1),
                await api.get(f"{path}_none/activity"),
            )

    found, one, none = run(scenario())
    assert [(write["rowCount"], write["size"], write["run"]) for write in found["writes"]] == [
        (7, 10, run_id(2)),
        (5, 10, run_id(1)),
    ]
    (quality,) = found["quality"]
    assert (quality["assertion"], quality["column"], quality["success"], quality["job"]) == (
        "not_null",
        "id",
        False,
        "check",
    )
    assert len(one["writes"]) == 1
    assert none.status_code == 404


def test_events_can_be_filtered_by_run(tmp_path):
    async def scenario():
        async with Api(tmp_path) as api:
            await api.store(body("START", 1, run=1), body("START", 2, run=2), body("COMPLETE", 3, run=1))
            return await api.read("/api/v1/events/lineage", run=run_id(1)), await api.read(
                "/api/v1/events/lineage", run="' OR 1"
            )

    found, none = run(scenario())
    assert [event["eventType"] for event in found["events"]] == ["COMPLETE", "START"]
    assert (found["totalCount"], none["totalCount"]) == (2, 0)


class HealthServer(BaseHTTPRequestHandler):
    """Responds 200 under /good and 503 elsewhere."""

    def do_GET(self):
        self.send_response(200 if self.path == "/good" else 503)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def lab_file(tmp_path):
    """Return the file that describes a lab with one service of each kind."""
    server = HTTPServer(("127.0.0.1", 0), HealthServer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    address = f"127.0.0.1:{server.server_port}"
    with socket.create_server(("127.0.0.1", 0)) as mute:
        checks = {
            "good": f"http://{address}/good",
            "ill": f"http://{address}/ill",
            "port": address,
            "gone": "127.0.0.1:1",
            "mute": f"http://127.0.0.1:{mute.getsockname()[1]}/",
        }
        services = [{"name": name, "title": name.title(), "check": check, "ui": ""} for name, check in checks.items()]
        contract = tmp_path / "contract.yaml"
        contract.write_text("version: 1\nnamespace: test-jobs\njobs:\n  - job: wanted\n    inputs: [s3://a/b]\n")
        file = tmp_path / "lab.json"
        file.write_text(json.dumps({"name": "mine", "services": services, "contract": str(contract)}))
        yield file
    server.shutdown()
    server.server_close()
    thread.join()


def test_lab_route_reports_service_health(tmp_path, lab_file):
    async def scenario():
        async with Api(tmp_path / "data", lab=lab_file) as api:
            return await api.read("/api/v1/lab")

    found = run(scenario())
    assert found["name"] == "mine"
    states = {row["name"]: (row["state"], row["answer"]) for row in found["services"]}
    assert states.pop("gone")[0] == "down"
    assert states == {
        "good": ("up", "HTTP 200"),
        "ill": ("down", "HTTP 503"),
        "port": ("up", "accepts connections"),
        "mute": ("down", "no answer within 2 s"),
    }


def test_contract_route_reloads_the_file_and_equals_the_command(tmp_path, lab_file):
    async def scenario():
        async with Api(tmp_path / "data", lab=lab_file) as api:
            first = await api.read("/api/v1/contract")
            (tmp_path / "contract.yaml").write_text("version: 1\nnamespace: test-jobs\njobs: nothing\n")
            return first, await api.get("/api/v1/contract")

    first, broken = run(scenario())
    assert first["ok"] is False
    assert [(row["kind"], row["subject"], row["job"]) for row in first["findings"]] == [("missing", "job", "wanted")]
    assert (broken.status_code, broken.json()["error"]["code"]) == (503, "contract_unusable")


def test_service_without_a_lab_has_no_services_and_no_contract(tmp_path):
    async def scenario():
        async with Api(tmp_path) as api:
            return await api.read("/api/v1/lab"), await api.get("/api/v1/contract")

    lab, contract = run(scenario())
    assert lab == {"name": None, "services": []}
    assert contract.status_code == 404


@pytest.mark.parametrize("text", ["", "[]", '{"name": "x"}', '{"name": "x", "services": [{"nme": "y"}]}'])
def test_invalid_lab_file_is_rejected(tmp_path, text):
    file = tmp_path / "lab.json"
    file.write_text(text)
    with pytest.raises(LabError, match=r"lab\.json.*`lab up` writes this file"):
        read_lab(file)


def test_names_with_quotes_are_searched_in_json_encoding(tmp_path):
    name = 'a"b\\c é'
    output = dataset(name)
    output["outputFacets"] = {"outputStatistics": facet(rowCount=3)}

    async def scenario():
        async with Api(tmp_path) as api:
            await api.store(body("COMPLETE", outputs=[output]))
            return await api.read(
                f"/api/v1/namespaces/{quote('s3://warehouse', safe='')}/datasets/{quote(name, safe='')}/activity"
            )

    assert [write["rowCount"] for write in run(scenario())["writes"]] == [3]
