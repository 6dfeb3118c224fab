# SPDX-License-Identifier: Apache-2.0
"""Events of a real lab: order independence, retention, checks, impact queries and forwarding."""

import os
import random
import subprocess
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from infra.project import PROJECT
from infra.services.overview import enabled_features
from lineage.access.keys import ADMIN_TOKEN_FILE
from lineage.checks.contract import compare, load
from lineage.checks.http_client import KEY_VARIABLE
from lineage.events import canonical_json
from lineage.events.own_facets import CATALOG_NAMESPACE
from lineage.graph import Graph, LineageRecords, export_graph
from lineage.rules import read_rules
from lineage.rules.event_reader import EventReader
from lineage.store import EventLog
from tests.bench.service_process import running_service
from tests.unit.lineage.lineage_recorder import Recorder

pytestmark = [pytest.mark.smoke, pytest.mark.slow]

PERMUTATIONS = 100
CONTRACT = PROJECT / "jobs" / "lineage_contract.yaml"


@pytest.fixture
def log_copy(lab, tmp_path):
    """Return the folder of a backup of the lab's event log, taken while the service runs."""
    made = lab.lab("lineage", "backup", str(tmp_path / "copy" / "lineage.db"))
    assert made.status == 2, "backup into a missing folder must fail"
    (tmp_path / "copy").mkdir()
    made = lab.lab("lineage", "backup", str(tmp_path / "copy" / "lineage.db"))
    assert made.status == 0, made.text
    return tmp_path / "copy"


@pytest.fixture
def rules(lab):
    """Return the file of the lab's naming rules."""
    return lab.root / "services" / "lineage" / "files" / "rules.json"


def stored_events(directory: Path):
    """Return all events of a log."""
    with closing(EventLog(directory)) as log:
        damaged = []
        found = list(log.events(lambda *what: damaged.append(what)))
    assert damaged == []
    return found


def test_graph_is_equal_for_any_order_of_the_events(lab, log_copy, rules):
    reader = EventReader(read_rules(rules))
    events = [reader.event(stored.original, stored.accepted) for stored in stored_events(log_copy)]
    assert len(events) > 10
    expected = canonical_json(lab.graph())
    for seed in range(PERMUTATIONS):
        chance = random.Random(seed)
        arrival = [*events, *chance.choices(events, k=len(events) // 2)]
        chance.shuffle(arrival)
        lineage = LineageRecords()
        for event in arrival:
            lineage.apply(event)
        assert canonical_json(export_graph(lineage, Graph(lineage))) == expected, f"seed {seed}"


def test_graph_is_equal_after_retention_rebuild_and_restart(lab, log_copy, rules):
    expected = canonical_json(lab.graph())
    with running_service(log_copy, "--rules", rules) as service:
        graph = f"{service.url}/api/v1/graph"
        assert httpx.get(graph, trust_env=False).content == expected
        # The lab still runs and its streaming jobs emit RUNNING events every few seconds.
        logged = httpx.get(f"{service.url}/api/v1/stats", trust_env=False).json()["logged"]
        admin = {"Authorization": f"Bearer {(log_copy / ADMIN_TOKEN_FILE).read_text().strip()}"}
        compact = f"{service.url}/api/v1/compact?before=2200-01-01T00:00:00Z"
        removed = httpx.post(compact, headers=admin, timeout=60, trust_env=False)
        assert removed.json()["removed"] == logged > 10
        rebuilt = httpx.post(f"{service.url}/api/v1/rebuild", headers=admin, timeout=60, trust_env=False).json()
        assert (rebuilt["equal"], rebuilt["events"]) == (True, 0)
        assert httpx.get(graph, trust_env=False).content == expected
        service.kill()
    with running_service(log_copy, "--rules", rules) as service:
        assert httpx.get(f"{service.url}/api/v1/graph", trust_env=False).content == expected


def test_lineage_check_accepts_the_events_of_the_lab(lab):
    words = ["lineage", "check", lab.environment["LAB_LINEAGE"]]
    environment = os.environ | {KEY_VARIABLE: lab.read_key}
    completed = subprocess.run(
        [PROJECT / "bin" / "lab", *words], env=environment, capture_output=True, text=True, timeout=120
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr


def test_impact_and_origin_commands_trace_a_price(lab):
    price = lab.lab("lineage", "impact", "orders.price")
    assert price.status == 0, price.text
    assert "sales/supplier_stats" in price.text
    assert "total_price" in price.text
    total = lab.lab("lineage", "origin", "lake.sales.supplier_stats.total_price")
    assert total.status == 0, total.text
    assert "kafka://kafka:9092" in total.text


def of_the_service(original):
    """Return whether an event is a catalog entry of the service's own."""
    return (original.body.get("dataset") or {}).get("namespace") == CATALOG_NAMESPACE


def posted(service, path, content):
    headers = {"content-type": "application/json"}
    return httpx.post(f"{service.url}/api/v1/lineage{path}", content=content, headers=headers, trust_env=False)


def test_a_recorder_in_marquezs_place_gets_every_event_full_also_after_an_outage(lab, log_copy, rules, tmp_path):
    recorder = Recorder()
    recorder.start()
    recorder.stop()
    # The answers of catalogs are events of this service alone, and are not forwarded.
    bodies = [stored.original.data for stored in stored_events(log_copy) if not of_the_service(stored.original)]
    with running_service(tmp_path / "forwarding", "--rules", rules, "--forward-to", recorder.url) as service:
        batch = b"[" + b",".join(bodies[: len(bodies) // 2]) + b"]"
        assert posted(service, "/batch", batch).status_code == 200
        for body in bodies[len(bodies) // 2 :]:
            assert posted(service, "", body).status_code == 201
        recorder.start()
        try:
            recorder.wait_for(lambda: len(recorder.events) >= len(bodies), "every event arrives")
        finally:
            recorder.stop()
        with running_service(tmp_path / "behind") as behind:
            sent = canonical_json(recorder.events)
            response = posted(behind, "/batch", sent)
            assert response.status_code == 200, response.text
            graph = httpx.get(f"{behind.url}/api/v1/graph", trust_env=False).json()
    for event in recorder.events:
        if "job" in event:  # else about a dataset alone, as those of `lab lineage describe`
            assert event.keys() >= {"inputs", "outputs"}
            assert event["job"]["facets"]["jobType"]["processingType"]
    for run in {event["run"]["runId"] for event in recorder.events if "run" in event}:
        types = [event["eventType"] for event in recorder.of_run(run)]
        ended = next((at for at, kind in enumerate(types) if kind in {"COMPLETE", "FAIL", "ABORT"}), len(types))
        assert not {"START", "RUNNING", "OTHER"} & set(types[ended:]), types
    report = compare(load(CONTRACT.read_text(encoding="utf-8")), graph, enabled_features(lab.settings))
    assert report.is_complete, report.render_text()
