# SPDX-License-Identifier: Apache-2.0
"""OpenLineage events that produce the graph of the lineage contract without a lab."""

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
    """Events of running streaming jobs, started an hour before `now`, and of completed batch runs since then."""
    found: list[dict[str, Any]] = []
    for number, job in enumerate(contract.jobs):
        runs = 1 if job.name in STREAMING else BATCH_RUNS
        for run in range(runs):
            started = now - timedelta(hours=1) + timedelta(minutes=10 * run, seconds=number)
            found += _run(contract.namespace, job, run_id(number * 100 + run), started, now)
    return sorted(found, key=lambda event: event["eventTime"])


def run_id(number: int) -> str:
    """A run id for a number."""
    return str(UUID(int=(0x7000 << 64) | (0x8000 << 48) | number))


def run_event(
    namespace: str, job: JobRow, event_type: str, run: str, at: datetime, facets: dict[str, Any] | None = None
) -> dict[str, Any]:
    """A run event of a job, with the inputs, outputs and columns of the contract."""
    streaming = job.name in STREAMING
    integration = "KAFKA_CONNECT" if job.name in CONNECT else "FLINK" if job.name in FLINK else "SPARK"
    kind = facet(processingType="STREAMING" if streaming else "BATCH", integration=integration, jobType="JOB")
    with_statistics = event_type in ("RUNNING", "COMPLETE")
    return {
        "eventTime": at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "eventType": event_type,
        "producer": _PRODUCER,
        "schemaURL": f"{_SCHEMA}#/$defs/RunEvent",
        "run": {"runId": run, "facets": facets or {}},
        "job": {"namespace": namespace, "name": job.name, "facets": {"jobType": kind}},
        "inputs": [_dataset(row.dataset) for row in job.inputs],
        "outputs": [_output(row, with_statistics) for row in job.outputs],
    }


def facet(**content: Any) -> dict[str, Any]:
    """A facet with the fields that the standard requires of every facet."""
    return {"_producer": _PRODUCER, "_schemaURL": f"{_SCHEMA}#/$defs/BaseFacet", **content}


def _run(namespace: str, job: JobRow, run: str, started: datetime, now: datetime) -> Iterator[dict[str, Any]]:
    yield run_event(namespace, job, "START", run, started)
    if job.name in STREAMING:
        yield run_event(namespace, job, "RUNNING", run, now - timedelta(seconds=1))
    else:
        yield run_event(namespace, job, "COMPLETE", run, started + timedelta(seconds=20 + int(run[-2:], 16) % 17))


def _dataset(dataset: Dataset, **facets: Any) -> dict[str, Any]:
    identifier = {"namespace": dataset.namespace, "name": dataset.name}
    if dataset.namespace == "s3://warehouse":
        name = "lake." + dataset.name.replace("/", ".")
        facets["symlinks"] = facet(identifiers=[{"namespace": "http://catalog:8181", "name": name, "type": "TABLE"}])
    return {**identifier, "facets": facets}


def _output(row: OutputRow, with_statistics: bool) -> dict[str, Any]:
    columns = row.columns or {}
    # Connectors move prices as text; only jobs parse them.
    types = _TYPES if row.dataset.namespace == "s3://warehouse" else _TYPES | {"price": "string"}
    fields = [{"name": name, "type": types.get(name, "string")} for name in columns]
    lineage = {
        "fields": {name: {"inputFields": _inputs(sources)} for name, sources in columns.items() if sources},
        "dataset": _inputs(row.dataset_columns),
    }
    output = _dataset(row.dataset, schema=facet(fields=fields), columnLineage=facet(**lineage))
    if with_statistics:
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
