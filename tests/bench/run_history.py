# SPDX-License-Identifier: Apache-2.0
"""Synthetic history of any length: OpenLineage events of batch jobs that run, fail and change over months.

Event `number` depends on the seed and the number alone, so that any part of ten million events can be made alone.
"""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

_PRODUCER = "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark"
_SPEC = "https://openlineage.io/spec"
BEGIN = datetime(2024, 1, 1, tzinfo=UTC)
JOB_NAMESPACE = "history"
DATASET_NAMESPACE = "s3://warehouse"

LOST, FAILED = 0.005, 0.04
"""Shares of runs without an end, and of failed runs."""

SCHEMA_CHANGES = 0.02
"""Share of the runs of a job with which its output gets another column."""

RUN_MINUTES = 20


@dataclass(frozen=True)
class RunHistory:
    """`runs` runs of `jobs` jobs, each with START and an end, in order of time over `days` days.

    Each job writes one dataset of its own and reads up to four: raw ones that nobody writes, and those of earlier jobs,
    so that the graph has no cycle. Each output has about `columns` columns.
    """

    jobs: int = 20_000
    raw_datasets: int = 30_000
    columns: int = 40
    runs: int = 5_000_000
    days: int = 365
    seed: int = 7

    @property
    def events(self) -> int:
        """Return the number of events."""
        return 2 * self.runs

    @property
    def nodes(self) -> int:
        """Return the largest possible number of jobs and datasets."""
        return 2 * self.jobs + self.raw_datasets

    def event(self, number: int) -> dict[str, Any]:
        """Return event `number` of the history; lost runs repeat their START."""
        run, step = divmod(number, 2)
        job, attempt = run % self.jobs, run // self.jobs
        outcome = self._share("outcome", run)
        ended = step == 1 and outcome >= LOST
        event_type = "START" if not ended else "FAIL" if outcome < LOST + FAILED else "COMPLETE"
        started = timedelta(days=self.days) * (run / self.runs)
        minutes = 1 + self._share("duration", run) * (RUN_MINUTES - 1) if ended else 0.0
        event: dict[str, Any] = {
            "eventTime": _format(BEGIN + started + timedelta(minutes=minutes)),
            "eventType": event_type,
            "producer": _PRODUCER,
            "schemaURL": f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent",
            "run": {"runId": run_id(run), "facets": self._run_facets(event_type)},
            "job": {"namespace": JOB_NAMESPACE, "name": job_name(job), "facets": {"jobType": _job_type()}},
            "inputs": [],
            "outputs": [],
        }
        if event_type == "COMPLETE":
            sources = self.sources(job)
            event["inputs"] = [self._dataset(source, attempt) for source in sources]
            event["outputs"] = [self._output(job, attempt, run, sources)]
        return event

    def sources(self, job: int) -> list[str]:
        """Return the names of the datasets that a job reads."""
        found = []
        for place in range(1 + int(self._share("inputs", job) * 4)):
            share = self._share(f"source {place}", job)
            if job and place == 0:
                found.append(table_name(int(share * job)))
            else:
                found.append(f"raw/{int(share * self.raw_datasets):05d}")
        return sorted(set(found))

    def _columns(self, table: str, attempt: int) -> list[tuple[str, str]]:
        changes = 0
        if not table.startswith("raw/"):
            changes = int(attempt * SCHEMA_CHANGES + self._share("first change", table))
        kinds = ("string", "bigint", "decimal(18,2)", "timestamp")
        return [(f"column_{number:02d}", kinds[number % 4]) for number in range(self.columns + changes)]

    def _dataset(self, table: str, attempt: int) -> dict[str, Any]:
        fields = [{"name": name, "type": kind} for name, kind in self._columns(table, attempt)]
        schema = _facet("1-1-1/SchemaDatasetFacet.json#/$defs/SchemaDatasetFacet", fields=fields)
        return {"namespace": DATASET_NAMESPACE, "name": table, "facets": {"schema": schema}}

    def _output(self, job: int, attempt: int, run: int, sources: list[str]) -> dict[str, Any]:
        output = self._dataset(table_name(job), attempt)
        version = {"datasetVersion": str(run)}
        output["facets"]["version"] = _facet(
            "1-0-1/DatasetVersionDatasetFacet.json#/$defs/DatasetVersionDatasetFacet", **version
        )
        names = [name for name, _ in self._columns(table_name(job), attempt)]
        fields = {
            name: {"inputFields": [_input(sources[number % len(sources)], f"column_{number % self.columns:02d}")]}
            for number, name in enumerate(names)
        }
        output["facets"]["columnLineage"] = _facet(
            "1-2-0/ColumnLineageDatasetFacet.json#/$defs/ColumnLineageDatasetFacet", fields=fields
        )
        rows = 1000 + int(self._share("rows", run) * 1_000_000)
        output["outputFacets"] = {
            "outputStatistics": _facet(
                "1-0-2/OutputStatisticsOutputDatasetFacet.json#/$defs/OutputStatisticsOutputDatasetFacet", rowCount=rows
            )
        }
        return output

    def _run_facets(self, event_type: str) -> dict[str, Any]:
        versions = {"version": "4.1.4", "name": "spark", "openlineageAdapterVersion": "1.53.0"}
        facets = {
            "processing_engine": _facet(
                "1-1-1/ProcessingEngineRunFacet.json#/$defs/ProcessingEngineRunFacet", **versions
            )
        }
        if event_type == "FAIL":
            trace = "\n".join(
                f"\tat org.apache.spark.sql.execution.Step{number}.run(Step.scala)" for number in range(20)
            )
            facets["errorMessage"] = _facet(
                "1-0-1/ErrorMessageRunFacet.json#/$defs/ErrorMessageRunFacet",
                message="Job aborted due to stage failure: Executor lost",
                programmingLanguage="JAVA",
                stackTrace=trace,
            )
        return facets

    def _share(self, use: str, of: object) -> float:
        """Return a number from 0 to 1 (exclusive) that depends on the seed, its use and what it is for."""
        digest = hashlib.blake2b(f"{self.seed} {use} {of}".encode(), digest_size=8).digest()
        return int.from_bytes(digest) / 2**64


def run_id(run: int) -> str:
    """Return the UUID of a run."""
    return str(UUID(int=(0x019A_0000_0000_7000_8000 << 48) + run))


def job_name(job: int) -> str:
    """Return the name of a job."""
    return f"team_{job % 40:02d}.load_{job:05d}"


def table_name(job: int) -> str:
    """Return the name of the dataset that a job writes."""
    return f"tables/{job:05d}"


def _format(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _facet(schema: str, **content: object) -> dict[str, Any]:
    return {"_producer": _PRODUCER, "_schemaURL": f"{_SPEC}/facets/{schema}", **content}


def _job_type() -> dict[str, Any]:
    kind = {"processingType": "BATCH", "integration": "SPARK", "jobType": "SQL_JOB"}
    return _facet("2-0-3/JobTypeJobFacet.json#/$defs/JobTypeJobFacet", **kind)


def _input(source: str, field: str) -> dict[str, Any]:
    transformation = {"type": "DIRECT", "subtype": "IDENTITY", "description": "", "masking": False}
    return {"namespace": DATASET_NAMESPACE, "name": source, "field": field, "transformations": [transformation]}
