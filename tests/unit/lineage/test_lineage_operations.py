# SPDX-License-Identifier: Apache-2.0
"""Operations over HTTP: batches, dead letters, rebuild, retention, past graphs, change stream and catalog lookups."""

import asyncio
import json
import random
import sqlite3
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from lineage_client import JSON, admin_headers
from lineage_events import RULES, at, body, dataset, dataset_event, encode, read, schema
from lineage_response_models import validate_responses

from lineage.api import create_app
from lineage.events.timestamps import parse_time
from lineage.graph import records as records_module
from lineage.graph.mergeable import Facets
from lineage.rules import Catalog, Rules
from lineage.settings import Settings
from lineage.store import EventLog, past_states, run_retention, state_file
from lineage.store.state_file import delete_states


class Api:
    """Service in this process with its log on disk."""

    def __init__(self, directory, rules=RULES, **settings):
        self._settings = Settings(host="127.0.0.1", port=0, data=directory, rules=None, **settings)
        self._rules = rules

    async def __aenter__(self):
        self.app = create_app(
            self._settings, self._rules, EventLog(self._settings.data, self._settings.max_store_bytes)
        )
        self._lifespan = self.app.router.lifespan_context(self.app)
        await self._lifespan.__aenter__()
        transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False)
        hooks = {"response": [validate_responses(self.app)]}
        self._client = httpx.AsyncClient(
            transport=transport,
            base_url="http://lineage",
            headers=admin_headers(self._settings.data),
            event_hooks=hooks,
        )
        return self

    async def __aexit__(self, *details):
        await self._client.aclose()
        await self._lifespan.__aexit__(*details)

    async def post(self, path="/api/v1/lineage", content=None, **options):
        data = content if isinstance(content, bytes | type(None)) else encode(content)
        headers = JSON if data else {}
        return await self._client.post(path, content=data, headers=headers, **options)

    async def get(self, path, **params):
        return await self._client.get(path, params=params or None)

    async def read(self, path, **params):
        response = await self.get(path, **params)
        assert response.status_code == 200, response.text
        return response.json()

    async def store(self, *bodies):
        for content in bodies:
            assert (await self.post(content=content)).status_code == 201


def run(work, timeout=60):
    return asyncio.run(asyncio.wait_for(work, timeout))


def orders(second=0, run=1, *columns, **options):
    return body(
        "START", second, run=run, job="orders_etl", outputs=[dataset("orders", schema=schema(*columns))], **options
    )


def test_batch_is_stored_in_one_commit(tmp_path):
    async def check():
        async with Api(tmp_path) as api:
            events = [orders(second) for second in range(70)]
            stored = await api.post("/api/v1/lineage/batch", [*events, events[0]])
            assert (stored.status_code, stored.json()) == (200, {"received": 71, "stored": 70, "duplicates": 1})
            again = await api.post("/api/v1/lineage/batch", events)
            assert again.json() == {"received": 70, "stored": 0, "duplicates": 70}
            assert (await api.post("/api/v1/lineage/batch", b"[]")).json() == {
                "received": 0,
                "stored": 0,
                "duplicates": 0,
            }
            assert (await api.read("/api/v1/events/lineage"))["totalCount"] == 70
            stats = await api.read("/api/v1/stats")
            assert (stats["accepted"], stats["stored"], stats["duplicates"]) == (141, 70, 71)

    run(check())


def test_batch_names_rejected_events_and_stores_the_others(tmp_path):
    async def check():
        async with Api(tmp_path, max_event_bytes=2_000) as api:
            nameless = orders(1)
            nameless["job"]["name"] = ""
            large = orders(2, run_facets={"big": {"text": "x" * 3_000}})
            refused = await api.post("/api/v1/lineage/batch", [orders(0), nameless, 7, large, orders(3)])
            assert refused.status_code == 422
            error = refused.json()["error"]
            assert error["code"] == "invalid_events"
            assert error["message"].startswith("3 of 5 events are refused")
            details = error["details"]
            assert (details["received"], details["stored"]) == (5, 2)
            assert [(row["index"], row["details"]["field"]) for row in details["refused"]] == [
                (1, "job.name"),
                (2, ""),
                (3, ""),
            ]
            assert "2000 bytes" in details["refused"][2]["message"]
            assert (await api.read("/api/v1/events/lineage"))["totalCount"] == 2

    run(check())


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (b"{}", 422, "invalid_event"),
        (b"", 400, "malformed_json"),
        (b"[", 400, "malformed_json"),
        (b'["' + b"x" * 5_000 + b'"]', 413, "too_large"),
    ],
)
def test_malformed_batch_is_rejected(tmp_path, content, status, code):
    async def check():
        async with Api(tmp_path, max_batch_bytes=4_000) as api:
            refused = await api.post("/api/v1/lineage/batch", content)
            assert (refused.status_code, refused.json()["error"]["code"]) == (status, code)

    run(check())


def test_unapplicable_event_is_a_dead_letter_until_a_rebuild(tmp_path, monkeypatch):
    poison = read(orders(5, run=5)).hash
    apply = records_module.LineageRecords.apply

    def defect(self, event):
        if event.hash == poison:
            raise RuntimeError("a defect")
        apply(self, event)

    async def check():
        async with Api(tmp_path) as api:
            with monkeypatch.context() as patch:
                patch.setattr(records_module.LineageRecords, "apply", defect)
                await api.store(orders(0), orders(5, run=5), orders(9, run=9))
                await dead_letter(api)
                assert (await api.post("/api/v1/dead-letters/replay")).json() == {"replayed": 0, "failed": 1}
                await dead_letter(api)
            assert (await api.read("/api/v1/jobs"))["jobs"][0]["latestRun"]["id"].endswith("9")
            assert (await api.get("/api/v1/jobs/runs/" + run_of(5))).status_code == 404
            replayed = await api.post("/api/v1/dead-letters/replay", params={"hash": poison.hex(), "kind": "fold"})
            assert replayed.json() == {"replayed": 1, "failed": 0}
            assert (await api.get("/api/v1/jobs/runs/" + run_of(5))).status_code == 200
            assert (await api.read("/api/v1/dead-letters")) == {"deadLetters": [], "totalCount": 0}
            unknown = await api.post("/api/v1/dead-letters/replay", params={"hash": poison.hex()})
            assert unknown.status_code == 404
            wrong = await api.post("/api/v1/dead-letters/replay", params={"hash": "xyz"})
            assert (wrong.status_code, wrong.json()["error"]["details"]) == (400, {"field": "hash"})

    async def dead_letter(api):
        listed = await api.read("/api/v1/dead-letters", kind="fold")
        assert listed["totalCount"] == 1
        letter = listed["deadLetters"][0]
        assert (letter["hash"], letter["error"]) == (poison.hex(), "RuntimeError('a defect')")
        assert letter["event"]["run"]["runId"] == run_of(5)
        stats = await api.read("/api/v1/stats")
        assert stats["deadLetters"] == {"fold": 1}
        assert stats["unapplied"] == [{"hash": poison.hex(), "error": "RuntimeError('a defect')"}]

    run(check())


def run_of(number):
    return f"00000000-0000-7000-8000-{number:012d}"


def test_restart_retries_dead_letters(tmp_path, monkeypatch):
    async def broken():
        async with Api(tmp_path) as api:
            await api.store(orders(0))

    async def mended():
        async with Api(tmp_path) as api:
            assert (await api.read("/api/v1/dead-letters"))["totalCount"] == 0
            assert (await api.read("/api/v1/jobs"))["totalCount"] == 1

    def defect(self, event):
        raise RuntimeError("a defect")

    with monkeypatch.context() as patch:
        patch.setattr(records_module.LineageRecords, "apply", defect)
        run(broken())
    run(mended())


def test_damaged_row_is_listed_and_affects_no_other(tmp_path):
    async def stored():
        async with Api(tmp_path) as api:
            await api.store(orders(0), orders(1, run=2))

    async def started():
        async with Api(tmp_path) as api:
            letter = (await api.read("/api/v1/dead-letters"))["deadLetters"][0]
            assert (letter["kind"], letter["event"], letter["raw"]) == ("damaged", None, "{")
            assert (await api.read("/api/v1/jobs"))["jobs"][0]["latestRun"]["id"] == run_of(2)
            assert (await api.post("/api/v1/dead-letters/replay")).json() == {"replayed": 0, "failed": 1}
            change(tmp_path, original)
            assert (await api.post("/api/v1/dead-letters/replay")).json() == {"replayed": 1, "failed": 0}
            assert (await api.get("/api/v1/jobs/runs/" + run_of(1))).status_code == 200

    run(stored())
    original = change(tmp_path, b"{")
    delete_states(tmp_path)
    run(started())


def change(directory, content):
    connection = sqlite3.connect(directory / "lineage.db", isolation_level=None)
    before = connection.execute("SELECT body FROM bodies WHERE seq = 1").fetchone()[0]
    connection.execute("UPDATE bodies SET body = ? WHERE seq = 1", (content,))
    connection.close()
    return before


def test_rebuild_gives_the_same_graph_after_retention_and_restart(tmp_path):
    events = [
        orders(second, number, "a", *"bc"[: number - 1]) for number in (1, 2, 3) for second in (number, number + 10)
    ]

    async def check():
        async with Api(tmp_path) as api:
            await api.store(*events)
            wanted = (await api.get("/api/v1/graph")).content
            assert (await api.post("/api/v1/rebuild")).json()["equal"] is True
            removed = await api.post("/api/v1/compact", params={"before": at(11)})
            assert removed.json() == {"removed": 3}
            rebuilt = (await api.post("/api/v1/rebuild")).json()
            assert (rebuilt["equal"], rebuilt["events"]) == (True, 3)
            assert (await api.get("/api/v1/graph")).content == wanted
            again = await api.post(content=events[0])
            assert again.status_code == 201
            assert (await api.read("/api/v1/stats"))["duplicates"] == 1
            wrong = await api.post("/api/v1/compact", params={"before": "yesterday"})
            assert (wrong.status_code, wrong.json()["error"]["details"]) == (400, {"field": "before"})
            return wanted

    async def restarted():
        async with Api(tmp_path) as api:
            return (await api.get("/api/v1/graph")).content

    assert run(check()) == run(restarted())


def test_rebuild_repairs_wrong_records_in_memory(tmp_path):
    async def check():
        async with Api(tmp_path) as api:
            await api.store(orders(0, 1, "a"))
            for record in api.app.state.service.lineage.datasets.values():
                record.facets = Facets()
            building = asyncio.create_task(api.post("/api/v1/rebuild"))
            await api.store(*(body("START", number, run=number) for number in range(2, 30)))
            assert (await building).json()["equal"] is False
            assert (await api.read("/api/v1/graph"))["datasets"][0]["fields"] == [{"name": "a", "type": "string"}]
            for number in range(1, 30):
                assert (await api.get("/api/v1/jobs/runs/" + run_of(number))).status_code == 200

    run(check())


def test_retention_compacts_automatically(tmp_path):
    async def check():
        async with Api(tmp_path, retain=0.01) as api:
            await api.store(orders(0))
            while (await api.read("/api/v1/stats"))["logged"]:
                await asyncio.sleep(0.05)
            assert (await api.read("/api/v1/jobs"))["totalCount"] == 1

    run(check())


def test_runs_older_than_the_retention_go_too_but_for_the_newest(tmp_path, monkeypatch):
    monkeypatch.setattr(run_retention, "KEPT_RUNS", 3)

    async def check():
        async with Api(tmp_path, retain_namespaces={"test-jobs": 0.01}) as api:
            api.app.state.service.lineage.spare_runs = 0
            for number in range(1, 10):
                end = body("COMPLETE", 2 * number + 1, run=number, job="orders_etl")
                await api.store(orders(2 * number, number, "a"), end)
            before = await api.read("/api/v1/graph")
            runs = "/api/v1/namespaces/test-jobs/jobs/orders_etl/runs"
            async with asyncio.timeout(60):
                while (await api.read(runs))["totalCount"] > 4:
                    await asyncio.sleep(0.05)
            assert [run["id"] for run in (await api.read(runs))["runs"]] == [run_of(number) for number in (9, 8, 7, 6)]
            assert (await api.get("/api/v1/jobs/runs/" + run_of(1))).status_code == 404
            assert (await api.read("/api/v1/jobs/runs/" + run_of(6)))["state"] == "COMPLETED"
            assert await api.read("/api/v1/graph") == before
            assert (await api.post("/api/v1/rebuild")).json()["equal"]
            assert (await api.read(runs))["totalCount"] == 4

    run(check())


def test_the_state_is_made_again_once_the_disk_has_room(tmp_path):
    """Runs that were archived since its last checkpoint are in the log only."""

    async def store_runs(api, numbers):
        for number in numbers:
            end = body("COMPLETE", 2 * number + 1, run=number, job="orders_etl")
            await api.store(orders(2 * number, number, *(f"{number}_{column}" for column in range(100))), end)

    async def check():
        async with Api(tmp_path, checkpoint_seconds=0.05) as api:
            service = api.app.state.service
            service.lineage.spare_runs = 0
            full = service._state.state
            await store_runs(api, range(1, 5))
            (pages,) = full.connection.execute("PRAGMA page_count").fetchone()
            full.connection.execute(f"PRAGMA max_page_count = {pages}")
            await store_runs(api, range(5, 60))
            async with asyncio.timeout(60):
                while service._state.state is full:
                    await asyncio.sleep(0.01)
            await store_runs(api, range(60, 65))
            found = await api.read("/api/v1/namespaces/test-jobs/jobs/orders_etl/runs", limit=100)
            assert [run["id"] for run in found["runs"]] == [run_of(number) for number in range(64, 0, -1)]
            assert (await api.post("/api/v1/rebuild")).json()["equal"]
            assert service.log.dead_letters.count() == {}

    run(check())


def test_a_rebuild_on_a_full_disk_keeps_the_graph_in_use(tmp_path, monkeypatch):
    async def check():
        async with Api(tmp_path) as api:
            service = api.app.state.service
            for number in range(1, 6):
                end = body("COMPLETE", 2 * number + 1, run=number, job="orders_etl")
                await api.store(orders(2 * number, number, *(f"{number}_{column}" for column in range(2000))), end)
            used = service._state
            make = state_file.StateFile.__init__

            def make_full(state, *arguments):
                make(state, *arguments)
                state.connection.execute("PRAGMA max_page_count = 1")

            with monkeypatch.context() as patch:
                patch.setattr(state_file.StateFile, "__init__", make_full)
                assert (await api.post("/api/v1/rebuild")).status_code == 503
            assert service._state is used
            assert len(list(tmp_path.glob("state-*.db"))) == 1
            assert (await api.post("/api/v1/rebuild")).json()["equal"]

    run(check())


def test_runs_stay_in_the_log_if_the_state_without_them_cannot_be_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(run_retention, "KEPT_RUNS", 1)

    async def check():
        async with Api(tmp_path) as api:
            service = api.app.state.service
            service.lineage.spare_runs = 0
            for number in range(1, 6):
                end = body("COMPLETE", 2 * number + 1, run=number, job="orders_etl")
                await api.store(orders(2 * number, number, "a"), end)
            save, saves = service._save_state, []

            async def save_once():
                saves.append(None)
                return len(saves) == 1 and await save()

            with monkeypatch.context() as patch:
                patch.setattr(service, "_save_state", save_once)
                await api.post("/api/v1/compact", params={"before": at(99)})
            assert len(saves) == 2
            assert sum(snapshot.key.subject == "run" for snapshot in service.log.snapshots.all()) == 5

    run(check())


def test_past_graph_and_changes_since(tmp_path):
    async def check():
        async with Api(tmp_path) as api:
            await api.store(orders(1, 1, "a"))
            first = await api.read("/api/v1/graph")
            await api.store(orders(5, 2, "a", "b"))
            assert await api.read("/api/v1/graph", asOf=at(1)) == first
            assert await api.read("/api/v1/graph", asOf=at(3)) == first
            assert await api.read("/api/v1/graph", asOf=at(5)) == await api.read("/api/v1/graph")
            assert (await api.read("/api/v1/graph", asOf=at(0)))["jobs"] == []
            change = await api.read("/api/v1/diff", **{"from": at(3)})
            assert change == await api.read("/api/v1/diff", **{"from": at(3), "to": at(9)})
            assert "orders#b" in json.dumps(change)
            same = json.dumps(await api.read("/api/v1/diff", **{"from": at(6)}))
            assert "orders#b" not in same
            late = orders(2, 3, "a")
            late["job"]["name"] = "late"
            await api.store(late)
            assert (await api.read("/api/v1/graph", asOf=at(3))) != first, "a late event counts at its event time"
            await api.post("/api/v1/compact", params={"before": at(3)})
            gone = await api.get("/api/v1/graph", asOf=at(1))
            assert (gone.status_code, gone.json()["error"]["code"]) == (410, "compacted")
            assert gone.json()["error"]["details"]["earliest"] == "2026-01-01T00:00:02.000000Z"
            assert (await api.read("/api/v1/graph", asOf=at(3)))["jobs"]
            for path, field in (
                ("/api/v1/graph?asOf=now", "asOf"),
                ("/api/v1/diff?from=1", "from"),
                ("/api/v1/diff", "from"),
            ):
                wrong = await api.get(path)
                assert (wrong.status_code, wrong.json()["error"]["details"]) == (400, {"field": field})

    run(check())


def test_answers_about_one_node_at_a_past_time(tmp_path):
    async def check():
        async with Api(tmp_path) as api:
            await api.store(orders(1, 1, "a"))
            node = "dataset:s3://warehouse:orders"
            asked = {"nodeId": node, "depth": 1}
            before = {path: await api.read(f"/api/v1/{path}", **asked) for path in ("impact", "origin", "lineage")}
            graph = await api.read("/api/v1/graph")
            await api.store(orders(5, 2, "a", "b"))
            for path in ("impact", "origin"):
                assert await api.read(f"/api/v1/{path}", **asked, asOf=at(3)) == before[path]
                assert await api.read(f"/api/v1/{path}", **asked, asOf=at(5)) == await api.read(
                    f"/api/v1/{path}", **asked
                )
            past = await api.read("/api/v1/lineage", **asked, asOf=at(3))
            assert [node["id"] for node in past["graph"]] == [node["id"] for node in before["lineage"]["graph"]]
            assert await api.read("/api/v1/graph", **asked, asOf=at(3)) == graph
            now = await api.read("/api/v1/graph", **asked)
            assert now == await api.read("/api/v1/graph")
            change = await api.read("/api/v1/diff", **asked, **{"from": at(3)})
            assert change == await api.read("/api/v1/diff", **{"from": at(3)})
            assert "orders#b" in json.dumps(change)
            missing = await api.get("/api/v1/lineage", **asked, asOf=at(0))
            assert (missing.status_code, missing.json()["error"]["code"]) == (404, "not_found")
            assert (await api.read("/api/v1/graph", **asked, asOf=at(0)))["jobs"] == []
            job = await api.get("/api/v1/impact", nodeId="job:test-jobs:orders_etl", asOf=at(3))
            assert (job.status_code, job.json()["error"]["details"]) == (400, {"field": "nodeId"})
            wrong = await api.get("/api/v1/lineage", **asked, asOf="yesterday")
            assert (wrong.status_code, wrong.json()["error"]["details"]) == (400, {"field": "asOf"})
            await api.post("/api/v1/compact", params={"before": at(3)})
            gone = await api.get("/api/v1/lineage", **asked, asOf=at(0.5))
            assert (gone.status_code, gone.json()["error"]["code"]) == (410, "compacted")
            assert await api.read("/api/v1/impact", **asked, asOf=at(3)) == before["impact"]

    run(check())


def test_change_stream_sends_changes_immediately(tmp_path):
    async def check():
        async with Api(tmp_path) as api:
            service = api.app.state.service
            messages = service.change_feed.subscribe(heartbeat=30)
            assert await anext(messages) == ("resync", {})
            await api.store(orders(0))
            name, content = await anext(messages)
            assert (name, content["kind"], content["eventType"], content["run"]) == ("event", "run", "START", run_of(1))
            assert content["job"]["name"] == "orders_etl"
            await api.store(orders(0))
            await api.store(*(orders(second) for second in range(1, 4)))
            assert [(await anext(messages))[1]["eventTime"][17:19] for _ in range(3)] == ["01", "02", "03"]
            service.change_feed.close()
            assert [message async for message in messages] == []
            assert service.change_feed.listeners == 0

    run(check())


def test_slow_listener_receives_a_reload_message(tmp_path, monkeypatch):
    monkeypatch.setattr("lineage.change_feed.BACKLOG", 3)

    async def check():
        async with Api(tmp_path) as api:
            messages = api.app.state.service.change_feed.subscribe(heartbeat=0.01)
            assert await anext(messages) == ("resync", {})
            assert await anext(messages) is None
            await api.store(*(orders(second) for second in range(5)))
            assert [(await anext(messages))[0] for _ in range(2)] == ["resync", "event"]
            await messages.aclose()

    run(check())


class RestCatalog:
    """Iceberg REST catalog that returns table locations only."""

    def __init__(self):
        self.tables = {}
        self.requests = []
        self.status = 200
        self.delay = 0
        self.ended = threading.Event()
        catalog = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                catalog.requests.append(self.path)
                catalog.ended.wait(catalog.delay)
                if self.path == "/v1/config":
                    status, content = 200, {"defaults": {}, "overrides": {"prefix": "main"}}
                elif self.path in catalog.tables:
                    status, content = catalog.status, {"metadata": {"location": catalog.tables[self.path]}}
                else:
                    status, content = 404, {}
                data = json.dumps(content).encode()
                with suppress(BrokenPipeError):  # the service does not wait for a slow catalog
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)

            def log_message(self, *arguments):
                """Log nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self):
        self.ended.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def catalog():
    catalog = RestCatalog()
    yield catalog
    catalog.close()


def by_name(second, name="lake.sales.a"):
    table = {"namespace": "", "name": name}
    return body("START", second, outputs=[table])


def test_table_location_is_resolved_by_the_rest_catalog(tmp_path, catalog):
    rules = Rules(catalogs=(Catalog("lake", catalog.url, "s3://warehouse"),))
    catalog.tables["/v1/main/namespaces/sales/tables/a"] = "s3://elsewhere/of/a"

    async def check():
        async with Api(tmp_path, rules) as api:
            await api.store(by_name(0), by_name(1), by_name(2, "lake.sales.b"))
            datasets = {(row["namespace"], row["name"]) for row in (await api.read("/api/v1/graph"))["datasets"]}
            assert datasets == {("s3://elsewhere", "of/a"), ("s3://warehouse", "sales/b")}
            assert catalog.requests.count("/v1/main/namespaces/sales/tables/a") == 1, "responses are cached"
            catalog.status = 500
            catalog.tables["/v1/main/namespaces/sales/tables/c"] = "s3://elsewhere/c"
            await api.store(by_name(3, "lake.sales.c"))

    run(check())


LAKE_TABLE = "/v1/main/namespaces/sales/tables/a"


async def graph_with(api, expected):
    """Return the graph as soon as it has these datasets."""
    async with asyncio.timeout(30):
        while True:
            graph = await api.read("/api/v1/graph")
            if [(row["namespace"], row["name"]) for row in graph["datasets"]] == expected:
                return graph
            await asyncio.sleep(0.05)


def test_late_answer_of_the_catalog_repairs_earlier_events(tmp_path, catalog, monkeypatch):
    rules = Rules(catalogs=(Catalog("lake", catalog.url, "s3://warehouse"),))
    for module in ("lineage.service", "lineage.rules.table_locations"):
        monkeypatch.setattr(f"{module}.RETRY", 0.1)

    async def check():
        async with Api(tmp_path, rules) as api:
            await api.store(by_name(0))
            assert [row["name"] for row in (await api.read("/api/v1/graph"))["datasets"]] == ["sales/a"]
            catalog.tables[LAKE_TABLE] = "s3a://elsewhere/of/a/"
            graph = await graph_with(api, [("s3://elsewhere", "of/a")])
            assert [edge["dataset"]["name"] for edge in graph["edges"]] == ["of/a"]
            assert graph["datasets"][0]["symlinks"] == [
                {"namespace": "s3://warehouse", "name": "lake.sales.a", "type": "TABLE"}
            ]
            assert (await api.post("/api/v1/rebuild", {})).json()["equal"]
        # The answer is stored: it holds without the catalog.
        catalog.tables.clear()
        async with Api(tmp_path, rules) as api:
            await graph_with(api, [("s3://elsewhere", "of/a")])

    run(check())


def test_unavailable_catalog_loses_no_event(tmp_path):
    rules = Rules(catalogs=(Catalog("lake", "http://127.0.0.1:9", "s3://warehouse"),))

    async def check():
        async with Api(tmp_path, rules) as api:
            await api.store(by_name(0), by_name(1))
            assert [row["name"] for row in (await api.read("/api/v1/graph"))["datasets"]] == ["sales/a"]

    run(check())


@pytest.mark.slow
def test_long_chain_of_parents_is_readable(tmp_path):
    chain = [
        body(
            "START", 0, run=number, job=f"job{number}", parent=(number - 1, f"job{number - 1}") if number > 1 else None
        )
        for number in range(1, sys.getrecursionlimit() + 100)
    ]

    async def check():
        async with Api(tmp_path) as api:
            assert (await api.post("/api/v1/lineage/batch", chain)).status_code == 200
            assert {job["state"] for job in (await api.read("/api/v1/graph"))["jobs"]} == {"RUNNING"}
            await api.store(body("COMPLETE", 1, run=1, job="job1"))
            assert {job["state"] for job in (await api.read("/api/v1/graph"))["jobs"]} == {"COMPLETED", "ABORTED"}

    run(check(), timeout=300)


@pytest.mark.parametrize("inputs", [5, ["x"], [{"a": 1}]])
def test_unread_fields_are_validated_per_event(tmp_path, inputs):
    described = {**dataset_event(0, dataset("a")), "inputs": inputs}
    lineage = {"lineage": {"entries": [{"type": "JOB", "namespace": "n", "name": "j", "fields": {"a": 5}}]}}

    async def check():
        async with Api(tmp_path) as api:
            for content in (described, body("START", job_facets=lineage)):
                refused = await api.post("/api/v1/lineage/batch", [content, orders(0)])
                assert refused.status_code == 422, refused.text
                assert refused.json()["error"]["details"]["refused"][0]["index"] == 0
            assert (await api.read("/api/v1/stats"))["logged"] == 1

    run(check())


def test_oversized_batch_is_rejected(tmp_path):
    async def check():
        async with Api(tmp_path) as api:
            refused = await api.post("/api/v1/lineage/batch", b"[" + b",".join([b"0"] * 10_001) + b"]")
            assert (refused.status_code, refused.json()["error"]["code"]) == (413, "too_large")
            many = await api.post("/api/v1/lineage/batch", b"[" + b",".join([b"0"] * 9_999) + b"]")
            details = many.json()["error"]["details"]
            assert (details["refusedCount"], len(details["refused"])) == (9_999, 1_000)

    run(check())


def test_a_rebuild_keeps_copies_for_times_before_it(tmp_path, monkeypatch):
    monkeypatch.setattr(past_states, "_MIN_EVENTS", 60)
    monkeypatch.setattr(past_states, "_EVENTS_PER_RECORD", 0)

    async def check():
        async with Api(tmp_path) as api:
            await api.post("/api/v1/lineage/batch", [orders(second, second) for second in range(1, 301)])
            building = asyncio.create_task(api.post("/api/v1/rebuild"))
            for second in range(301, 331):
                await api.store(orders(second, second))
            assert (await building).json()["equal"] is True
            state = api.app.state.service._state.state
            copies = state.connection.execute("SELECT last_time FROM past_states ORDER BY position").fetchall()
            assert len(copies) >= 3
            (earliest,) = copies[0]
            assert earliest < parse_time(at(200)), "events that arrive meanwhile are not in it"
            assert len((await api.read("/api/v1/graph"))["jobs"]) == 1

    run(check(), timeout=120)


def test_rebuild_with_concurrent_events_after_retention_equals_the_log(tmp_path):
    jobs = [(number, f"job{number}") for number in range(1, 120)]

    def of(second, number, job, offset=0, **options):
        return body("RUNNING", second, run=number + offset, job=job, outputs=[dataset(f"{job}{offset}")], **options)

    async def check():
        async with Api(tmp_path) as api:
            old = [of(1, number, job) for number, job in jobs]
            await api.post("/api/v1/lineage/batch", old + [of(2, number, job, 1_000) for number, job in jobs])
            await api.post("/api/v1/compact", params={"before": at(9)})
            building = asyncio.create_task(api.post("/api/v1/rebuild"))
            for number, job in jobs:
                await api.store(of(20, number, job))
            assert (await building).json()["equal"] is True
            live = await api.read("/api/v1/graph")
            assert (await api.post("/api/v1/rebuild")).json()["equal"] is True
            assert await api.read("/api/v1/graph") == live

    run(check())


def test_compaction_makes_a_full_store_writable(tmp_path):
    async def check():
        async with Api(tmp_path, max_store_bytes=1_500_000) as api:
            number = 0
            while (stored := await api.post(content=sized(number))).status_code == 201:
                number += 1
            assert stored.status_code == 507
            removed = await api.post("/api/v1/compact", params={"before": "2200-01-01T00:00:00Z"})
            assert removed.json() == {"removed": number}
            assert (await api.post(content=sized(number))).status_code == 201

    def sized(number):
        # Random text, which compression does not make small: the store is full after few events.
        text = random.Random(number).randbytes(2_000).hex()
        return body("RUNNING", number, run=1, run_facets={"big": {"text": text}})

    run(check())


def test_damaged_row_does_not_stop_retention(tmp_path):
    async def check():
        async with Api(tmp_path) as api:
            await api.store(*(orders(second) for second in range(5)))
            change(tmp_path, b"{")
            assert (await api.post("/api/v1/compact", params={"before": at(60)})).json() == {"removed": 4}
            assert (await api.read("/api/v1/dead-letters"))["deadLetters"][0]["kind"] == "damaged"

    run(check())


def test_slow_catalog_delays_a_batch_once(tmp_path, catalog):
    rules = Rules(catalogs=(Catalog("lake", catalog.url, "s3://warehouse"),))
    catalog.delay = 5

    async def check():
        async with Api(tmp_path, rules) as api:
            batch = [by_name(0, f"lake.sales.t{number}") for number in range(40)]
            assert (await asyncio.wait_for(api.post("/api/v1/lineage/batch", batch), 20)).status_code == 200
            assert len((await api.read("/api/v1/graph"))["datasets"]) == 40

    run(check())


@pytest.mark.parametrize(
    "location", ["s3://bucket/", "s3://bucket", "no location", "s3://b/a\nb", 7, None, "s3://b/" + "x" * 2_000]
)
def test_location_without_a_dataset_name_is_ignored(tmp_path, catalog, location):
    rules = Rules(catalogs=(Catalog("lake", catalog.url, "s3://warehouse"),))
    catalog.tables["/v1/main/namespaces/sales/tables/a"] = location

    async def check():
        async with Api(tmp_path, rules) as api:
            await api.store(by_name(0))
            assert [row["name"] for row in (await api.read("/api/v1/graph"))["datasets"]] == ["sales/a"]

    run(check())
