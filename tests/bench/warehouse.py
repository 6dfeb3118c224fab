# SPDX-License-Identifier: Apache-2.0
"""Synthetic warehouse of any size, and the OpenLineage events of its jobs.

The warehouse consists of equal domains of ten jobs: a topic is loaded into a raw table, cleaned, joined with a mart of
the previous domain, aggregated, and fanned out into marts. The degree of nodes is bounded, as in real warehouses, and
the domains form a chain, so that the graph is connected.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

DOMAIN_JOBS = (
    (("orders",), "raw"),
    (("raw",), "clean"),
    (("clean", "<mart_daily"), "core"),
    (("core",), "totals"),
    (("core", "totals"), "wide"),
    (("wide",), "mart_daily"),
    (("wide",), "mart_customer"),
    (("wide",), "mart_supplier"),
    (("wide",), "mart_region"),
    (("mart_customer", "mart_supplier"), "report"),
)
"""Inputs and output of each job; `<` marks a table of the previous domain."""

DATASETS_PER_DOMAIN = 11
NODES_PER_DOMAIN = len(DOMAIN_JOBS) + DATASETS_PER_DOMAIN
JOB_NAMESPACE = "bench"
COLUMNS = (
    ("order_id", "string"),
    ("customer_id", "bigint"),
    ("supplier", "string"),
    ("price", "decimal(10,2)"),
    ("bid_time", "timestamp"),
)
Columns = tuple[tuple[str, str], ...]
EVENT_TYPES = ("START", "RUNNING", "COMPLETE")
_PRODUCER = "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark"
_SPEC = "https://openlineage.io/spec"
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Warehouse:
    """Warehouse of `domains` domains, each with `DOMAIN_JOBS`; tables have the first `columns` of `COLUMNS`."""

    domains: int
    columns: int = len(COLUMNS)

    @property
    def jobs(self) -> int:
        """Return the number of jobs."""
        return self.domains * len(DOMAIN_JOBS)

    @property
    def nodes(self) -> int:
        """Return the number of jobs and datasets."""
        return self.domains * NODES_PER_DOMAIN

    def event(self, number: int) -> dict[str, Any]:
        """Return event `number` of an infinite stream: each run of each job sends START, RUNNING and COMPLETE."""
        run, step = divmod(number, len(EVENT_TYPES))
        return self._event(run % self.jobs, run, EVENT_TYPES[step], number)

    def completions(self) -> Iterator[dict[str, Any]]:
        """Yield one COMPLETE event of each job, which is sufficient for the complete graph."""
        for job in range(self.jobs):
            yield self._event(job, job, "COMPLETE", job)

    def dataset(self, domain: int, table: str) -> tuple[str, str]:
        """Return namespace and name of a table of a domain."""
        if table == "orders":
            return "kafka://kafka:9092", f"domain_{domain:05d}.orders"
        return "s3://warehouse", f"domain_{domain:05d}/{table}"

    def _event(self, job: int, run: int, event_type: str, number: int) -> dict[str, Any]:
        domain, place = divmod(job, len(DOMAIN_JOBS))
        inputs, output = DOMAIN_JOBS[place]
        sources = [self._source(domain, table) for table in inputs]
        target = self.dataset(domain, output)
        columns = COLUMNS[: self.columns]
        schema = _schema(columns)
        return {
            "eventTime": event_time(number),
            "eventType": event_type,
            "producer": _PRODUCER,
            "schemaURL": f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent",
            "run": {"runId": run_id(run), "facets": {"processing_engine": _engine()}},
            "job": {
                "namespace": JOB_NAMESPACE,
                "name": f"domain_{domain:05d}.{output}",
                "facets": {"jobType": _job_type()},
            },
            "inputs": [_dataset(*source, {"schema": schema}) for source in sources],
            "outputs": [_dataset(*target, {"schema": schema, "columnLineage": _column_lineage(sources, columns)})],
        }

    def _source(self, domain: int, table: str) -> tuple[str, str]:
        if table.startswith("<"):
            return self.dataset((domain - 1) % self.domains, table[1:])
        return self.dataset(domain, table)


def event_time(number: int) -> str:
    """Return the time of an event by its number."""
    return (_BEGIN + timedelta(milliseconds=number)).isoformat(timespec="milliseconds")


def run_id(run: int) -> str:
    """Return the UUID of a run."""
    return f"0199f000-0000-7000-8000-{run:012x}"


def encode(event: object) -> bytes:
    """Encode an event as compact JSON."""
    return json.dumps(event, separators=(",", ":")).encode()


def _dataset(namespace: str, name: str, facets: dict[str, Any]) -> dict[str, Any]:
    return {"namespace": namespace, "name": name, "facets": facets}


def _facet(schema: str, **content: object) -> dict[str, Any]:
    return {"_producer": _PRODUCER, "_schemaURL": f"{_SPEC}/facets/{schema}", **content}


def _engine() -> dict[str, Any]:
    versions = {"version": "4.1.4", "name": "spark", "openlineageAdapterVersion": "1.53.0"}
    return _facet("1-1-1/ProcessingEngineRunFacet.json#/$defs/ProcessingEngineRunFacet", **versions)


def _job_type() -> dict[str, Any]:
    kind = {"processingType": "BATCH", "integration": "SPARK", "jobType": "SQL_JOB"}
    return _facet("2-0-3/JobTypeJobFacet.json#/$defs/JobTypeJobFacet", **kind)


def _schema(columns: Columns) -> dict[str, Any]:
    fields = [{"name": name, "type": kind} for name, kind in columns]
    return _facet("1-1-1/SchemaDatasetFacet.json#/$defs/SchemaDatasetFacet", fields=fields)


def _column_lineage(sources: list[tuple[str, str]], columns: Columns) -> dict[str, Any]:
    """Return a facet: each column has the same column of one source as input; the last source's key is a join key."""
    fields = {
        name: {"inputFields": [_input(sources[number % len(sources)], name, "DIRECT", "IDENTITY")]}
        for number, (name, _) in enumerate(columns)
    }
    key = [_input(sources[-1], columns[0][0], "INDIRECT", "JOIN")]
    return _facet("1-2-0/ColumnLineageDatasetFacet.json#/$defs/ColumnLineageDatasetFacet", fields=fields, dataset=key)


def _input(source: tuple[str, str], field: str, kind: str, subtype: str) -> dict[str, Any]:
    transformation = {"type": kind, "subtype": subtype, "description": "", "masking": False}
    return {"namespace": source[0], "name": source[1], "field": field, "transformations": [transformation]}
