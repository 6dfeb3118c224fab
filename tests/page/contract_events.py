# SPDX-License-Identifier: Apache-2.0
"""Events that make a service's graph that of the lineage contract: the lab's own graph, without a lab."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from infra.namespaces import (
    JOB_ICEBERG_INGESTION,
    JOB_ORDERS_ARCHIVE,
    JOB_ORDERS_ETL,
    JOB_ORDERS_LAKE,
    JOB_ORDERS_SOURCE,
    JOB_SUPPLIER_WINDOWS,
)
from lineage.checks.contract.model import Contract, Dataset, JobRow, OutputRow, Source, Sources

CONNECT = {JOB_ORDERS_SOURCE, JOB_ORDERS_LAKE, JOB_ORDERS_ARCHIVE}
FLINK = {JOB_SUPPLIER_WINDOWS, JOB_ICEBERG_INGESTION}
STREAMING = CONNECT | FLINK | {JOB_ORDERS_ETL}
BATCH_RUNS = 5
_PRODUCER = "https://example.org/lineage-lab/tests/page"
_SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json"
_TYPES = {"price": "decimal(10,2)", "bid_time": "timestamp", "total_count": "bigint", "bid_hour": "int"}


def contract_events(contract: Contract, now: datetime) -> list[dict[str, Any]]:
    """Streaming jobs that began an hour before `now` and go on, batch jobs that ran some times since."""
    found: list[dict[str, Any]] = []
    for number, job in enumerate(contract.jobs):
        runs = 1 if job.name in STREAMING else BATCH_RUNS
        for run in range(runs):
            began = now - timedelta(hours=1) + timedelta(minutes=10 * run, seconds=number)
            found += _run(contract.namespace, job, run_id(number * 100 + run), began, now)
    return sorted(found, key=lambda event: event["eventTime"])


def run_id(number: int) -> str:
    """A run's UUID."""
    return str(UUID(int=(0x7000 << 64) | (0x8000 << 48) | number))


def run_event(
    namespace: str, job: JobRow, event_type: str, run: str, at: datetime, facets: dict[str, Any] | None = None
) -> dict[str, Any]:
    """One event of a run of a contract's job, with all that the contract says of it."""
    streaming = job.name in STREAMING
    integration = "KAFKA_CONNECT" if job.name in CONNECT else "FLINK" if job.name in FLINK else "SPARK"
    kind = facet(processingType="STREAMING" if streaming else "BATCH", integration=integration, jobType="JOB")
    counted = event_type in ("RUNNING", "COMPLETE")
    return {
        "eventTime": at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "eventType": event_type,
        "producer": _PRODUCER,
        "schemaURL": f"{_SCHEMA}#/$defs/RunEvent",
        "run": {"runId": run, "facets": facets or {}},
        "job": {"namespace": namespace, "name": job.name, "facets": {"jobType": kind}},
        "inputs": [_dataset(row.dataset) for row in job.inputs],
        "outputs": [_output(row, counted) for row in job.outputs],
    }


def facet(**content: Any) -> dict[str, Any]:
    """A facet with what every facet must have."""
    return {"_producer": _PRODUCER, "_schemaURL": f"{_SCHEMA}#/$defs/BaseFacet", **content}


def _run(namespace: str, job: JobRow, run: str, began: datetime, now: datetime) -> Iterator[dict[str, Any]]:
    yield run_event(namespace, job, "START", run, began)
    if job.name in STREAMING:
        yield run_event(namespace, job, "RUNNING", run, now - timedelta(seconds=1))
    else:
        yield run_event(namespace, job, "COMPLETE", run, began + timedelta(seconds=20 + int(run[-2:], 16) % 17))


def _dataset(dataset: Dataset, **facets: Any) -> dict[str, Any]:
    named = {"namespace": dataset.namespace, "name": dataset.name}
    if dataset.namespace == "s3://warehouse":
        name = "lake." + dataset.name.replace("/", ".")
        facets["symlinks"] = facet(identifiers=[{"namespace": "http://catalog:8181", "name": name, "type": "TABLE"}])
    return {**named, "facets": facets}


def _output(row: OutputRow, counted: bool) -> dict[str, Any]:
    columns = row.columns or {}
    fields = [{"name": name, "type": _TYPES.get(name, "string")} for name in columns]
    lineage = {
        "fields": {name: {"inputFields": _inputs(sources)} for name, sources in columns.items() if sources},
        "dataset": _inputs(row.dataset_columns),
    }
    output = _dataset(row.dataset, schema=facet(fields=fields), columnLineage=facet(**lineage))
    if counted:
        output["outputFacets"] = {"outputStatistics": facet(rowCount=1200 + len(columns), size=48_000)}
    return output


def _inputs(sources: Sources) -> list[dict[str, Any]]:
    return [_input(source, sources) for source in sources]


def _input(source: Source, sources: Sources) -> dict[str, Any]:
    return {
        "namespace": source.dataset.namespace,
        "name": source.dataset.name,
        "field": source.field,
        "transformations": [
            {"type": how.type, "subtype": how.subtype, "masking": how.masking} for how in sources[source]
        ],
    }
