# SPDX-License-Identifier: Apache-2.0
"""Events of runs: complete, valid against the OpenLineage schemas, without unknown facts."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lineage.checks.events import check_events, raw_events, render_text
from lineage.rules import Rules
from lineagelab_common.events import MAX_TEXT, ColumnEdge
from lineagelab_common.identifiers import ParentRun
from lineagelab_common.open_runs import OpenRuns
from lineagelab_spark import run_events
from lineagelab_spark.datasets import Dataset
from lineagelab_spark.description import Description, Output
from lineagelab_spark.lifecycle import EventType
from lineagelab_spark.model import Subtype
from lineagelab_spark.progress import Window
from lineagelab_spark.run_events import QueryRun, Statistics
from lineagelab_spark.runs import Failure
from tests.openlineage_schemas import specification

TOPIC = Dataset("kafka://kafka:9092", "orders", is_topic=True)
COUNTRIES = Dataset("s3://warehouse", "sales/countries")
ORDERS = Dataset("s3://warehouse", "sales/orders")
REJECTED = Dataset("s3://warehouse", "sales/orders_rejected")
RUN = QueryRun(
    namespace="lineage-lab",
    job="orders_etl",
    run_id="0193a1f0-0000-7000-8000-000000000001",
    interval=30.0,
    spark_version="4.1.4",
    parent=ParentRun("lineage-lab", "application", "0193a1f0-0000-7000-8000-000000000000"),
)
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def edge(dataset: Dataset, column: str, subtype: Subtype = Subtype.IDENTITY) -> ColumnEdge:
    return ColumnEdge(dataset, column, subtype, masking=False)


def description() -> Description:
    return Description(
        {TOPIC: {"order_id": "string", "price": "string"}, COUNTRIES: {"country": "string"}},
        {
            ORDERS: Output(
                {"order_id": "string", "country": "string"},
                {TOPIC, COUNTRIES},
                {"order_id": {edge(TOPIC, "order_id")}, "country": {edge(COUNTRIES, "country")}},
                {edge(TOPIC, "price", Subtype.FILTER)},
            ),
            REJECTED: Output({"order_id": "string"}, {TOPIC}, {"order_id": {edge(TOPIC, "order_id")}}),
        },
    )


def event_of(event_type: EventType, described: Description | None = None, **more: Any) -> dict[str, Any]:
    given = {"with_pairs": False} | more
    event = run_events.event(RUN, event_type, NOW, described or description(), **given)
    return json.loads(json.dumps(event))


STATISTICS = Statistics(
    Window(batches=2, rows=20, milliseconds=400, longest=300, source_rows=(20,), behind=4, written=None, last_batch=9),
    30.0,
    {TOPIC: 20},
    {ORDERS: 12, REJECTED: 3},
)


def test_complete_run_is_valid_and_has_the_required_facets() -> None:
    events = [
        event_of(EventType.START, with_pairs=True),
        event_of(EventType.RUNNING, with_pairs=True, statistics=STATISTICS),
        event_of(EventType.RUNNING, with_pairs=True, statistics=Statistics(Window(), 30.0)),
        event_of(EventType.FAIL, with_pairs=True, statistics=STATISTICS, failure=Failure("it broke", "PYTHON", "at x")),
    ]

    findings = check_events(raw_events(events, "event"), Rules(), specification(), source="events")

    assert findings.ok(strict=True), render_text(findings)


def test_every_event_is_complete() -> None:
    event = event_of(EventType.START)

    assert event["eventTime"] == "2026-01-01T00:00:00.000Z"
    assert event["job"]["facets"]["jobType"]["emissionPattern"] == {
        "eventTrigger": "PERIODIC",
        "eventContentMode": "COMPLETE_SNAPSHOT",
        "windowDuration": 30,
    }
    assert event["run"]["facets"]["parent"]["job"]["name"] == "application"
    assert event["run"]["facets"]["processing_engine"]["version"] == "4.1.4"
    assert {i["name"]: sorted(i["facets"]) for i in event["inputs"]} == {
        "orders": ["schema"],
        "sales/countries": ["schema"],
    }
    assert {o["name"]: sorted(o["facets"]) for o in event["outputs"]} == {
        "sales/orders": ["columnLineage", "schema"],
        "sales/orders_rejected": ["columnLineage", "schema"],
    }


def test_early_failure_has_empty_lists_and_an_error_message() -> None:
    event = event_of(EventType.FAIL, Description(), failure=Failure("no such topic", "JAVA", ""))

    assert (event["inputs"], event["outputs"]) == ([], [])
    reason = event["run"]["facets"]["errorMessage"]
    assert (reason["message"], reason["programmingLanguage"]) == ("no such topic", "JAVA")
    assert "stackTrace" not in reason


def test_statistics_are_facets_of_their_datasets() -> None:
    event = event_of(EventType.RUNNING, statistics=STATISTICS)

    read = {i["name"]: i.get("inputFacets", {}).get("inputStatistics", {}).get("rowCount") for i in event["inputs"]}
    written = {o["name"]: o["outputFacets"]["outputStatistics"]["rowCount"] for o in event["outputs"]}
    window = event["run"]["facets"][run_events.WINDOW_FACET]
    assert read == {"orders": 20, "sales/countries": None}
    assert written == {"sales/orders": 12, "sales/orders_rejected": 3}
    assert (window["batches"], window["processedRowsPerSecond"], window["offsetsBehindLatest"]) == (2, 50.0, 4)
    assert (window["averageBatchMilliseconds"], window["longestBatchMilliseconds"]) == (200.0, 300)


def test_edges_connect_each_output_with_its_inputs() -> None:
    entries = event_of(EventType.START, with_pairs=True)["job"]["facets"]["lineage"]["entries"]

    whole = {e["name"]: [i["name"] for i in e["inputs"] if "field" not in i] for e in entries}
    assert whole == {"sales/orders": ["orders", "sales/countries"], "sales/orders_rejected": ["orders"]}
    (orders, _) = entries
    assert orders["fields"]["country"]["inputs"][0]["name"] == "sales/countries"
    assert [i["field"] for i in orders["inputs"] if "field" in i] == ["price"]


def test_long_texts_are_truncated() -> None:
    event = event_of(EventType.FAIL, failure=Failure("x" * 10**6, "JAVA", "y" * 10**6))

    reason = event["run"]["facets"]["errorMessage"]
    assert {len(reason["message"]), len(reason["stackTrace"])} == {MAX_TEXT}


def test_open_runs_are_stored_until_their_end_is_delivered(tmp_path: Path) -> None:
    file = tmp_path / "open.json"
    runs = OpenRuns(file)
    event = run_events.event(RUN, EventType.RUNNING, NOW, description(), with_pairs=False)
    end = run_events.event(RUN, EventType.COMPLETE, NOW, description(), with_pairs=False)

    def on_disk() -> dict[str, Any]:
        return json.loads(file.read_text(encoding="utf-8"))

    runs.store(event)
    (kept,) = on_disk().values()
    assert "eventType" not in kept
    assert "eventTime" not in kept
    assert [o["name"] for o in kept["outputs"]] == ["sales/orders", "sales/orders_rejected"]

    runs.store_terminal_event(end)
    assert on_disk()[RUN.run_id]["eventType"] == "COMPLETE"

    runs.remove(RUN.run_id)
    assert on_disk() == {}
    assert [path.name for path in tmp_path.iterdir()] == ["open.json"]


def test_file_of_open_runs_is_written_only_on_change(tmp_path: Path) -> None:
    file = tmp_path / "open.json"
    runs = OpenRuns(file)
    event = run_events.event(RUN, EventType.RUNNING, NOW, description(), with_pairs=False)
    runs.store(event)
    file.unlink()

    runs.store(event)

    assert not file.exists()


def test_unwritable_open_runs_are_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").touch()
    runs = OpenRuns(tmp_path / "file" / "open.json")

    runs.store(run_events.event(RUN, EventType.RUNNING, NOW, description(), with_pairs=False))

    assert "its lineage runs stay open" in caplog.text
