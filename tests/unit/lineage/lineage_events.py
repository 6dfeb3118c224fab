# SPDX-License-Identifier: Apache-2.0
"""Events for tests: short constructors, and recordings of real engines."""

import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lineage.events import Event, Original
from lineage.rules import Catalog, CatalogAlias, NamespaceRule, Rules
from lineage.rules.event_reader import read_event

RECORDED = Path(__file__).resolve().parents[4] / "shared" / "events"
NAMESPACE = "test-jobs"
CATALOG_URI = "http://catalog:8181"
RULES = Rules(
    (NamespaceRule("kafka://kafka:9092", ("localhost:9092", "broker-1")),),
    (Catalog("lake", CATALOG_URI, "s3://warehouse", (CatalogAlias("lake", ("trino://trino:8080",)),)),),
)
BEGIN = datetime(2026, 1, 1)
_FACET = {"_producer": "https://example.org/test", "_schemaURL": "https://example.org/schema"}


def run_id(number: int) -> str:
    return f"00000000-0000-7000-8000-{number:012d}"


def at(second: float) -> str:
    """Return the time of a second of 2026, from its first."""
    return (BEGIN + timedelta(seconds=second)).isoformat(timespec="milliseconds") + "Z"


def facet(**content: Any) -> dict[str, Any]:
    return {**_FACET, **content}


def dataset(name: str, namespace: str = "s3://warehouse", **facets: Any) -> dict[str, Any]:
    return {"namespace": namespace, "name": name, "facets": {k: facet(**v) for k, v in facets.items()}}


def schema(*names: str) -> dict[str, Any]:
    return {"fields": [{"name": name, "type": "string"} for name in names]}


def source(name: str, field: str, subtype: str = "IDENTITY", kind: str = "DIRECT") -> dict[str, Any]:
    return {
        "namespace": "s3://warehouse",
        "name": name,
        "field": field,
        "transformations": [{"type": kind, "subtype": subtype}],
    }


def body(
    event_type: str | None = "START",
    second: float = 0,
    *,
    run: int | None = 1,
    job: str = "job",
    inputs: Iterable[dict[str, Any]] = (),
    outputs: Iterable[dict[str, Any]] = (),
    streaming: bool = False,
    parent: tuple[int, str] | None = None,
    run_facets: dict[str, Any] | None = None,
    job_facets: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a run event; a job event if `run` is None."""
    facets = {name: facet(**content) for name, content in (job_facets or {}).items()}
    if streaming:
        facets["jobType"] = facet(processingType="STREAMING", integration="TEST")
    event: dict[str, Any] = {
        "eventTime": at(second),
        "producer": "https://example.org/test",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "job": {"namespace": NAMESPACE, "name": job, "facets": facets},
        "inputs": list(inputs),
        "outputs": list(outputs),
    }
    if run is not None:
        about_run = {name: facet(**content) for name, content in (run_facets or {}).items()}
        if parent is not None:
            number, name = parent
            about_run["parent"] = facet(run={"runId": run_id(number)}, job={"namespace": NAMESPACE, "name": name})
        event["run"] = {"runId": run_id(run), "facets": about_run}
        if event_type is not None:
            event["eventType"] = event_type
    return event


def dataset_event(second: float, described: dict[str, Any]) -> dict[str, Any]:
    event = body(second=second, run=None)
    del event["job"], event["inputs"], event["outputs"]
    return {**event, "dataset": described}


def encode(content: object) -> bytes:
    return json.dumps(content).encode()


def event(*arguments: Any, **options: Any) -> Event:
    return read(body(*arguments, **options))


def read(content: object) -> Event:
    return read_event(encode(content), RULES)


def original(*arguments: Any, **options: Any) -> Original:
    """Return a stored run event."""
    return event(*arguments, **options).original


def originals(events: Iterable[Event]) -> list[Original]:
    """Return the stored form of events."""
    return [item.original for item in events]


def recorded_lines(pattern: str = "*.ndjson") -> list[bytes]:
    """Return recorded Flink and Spark events, one JSON document each; skip the test without the recordings."""
    if not RECORDED.is_dir():
        pytest.skip(f"no recorded events at {RECORDED.name}/ next to the repository")
    return [line for file in sorted(RECORDED.glob(pattern)) for line in file.read_bytes().splitlines() if line]
