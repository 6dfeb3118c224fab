# SPDX-License-Identifier: Apache-2.0
"""OpenLineage events of the runs of Flink jobs. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from lineagelab_common.events import Json
from lineagelab_common.heartbeat import DEFAULT_SECONDS
from lineagelab_common.identifiers import timestamp
from lineagelab_flink.columns.facets import WRITER
from lineagelab_flink.launcher_state import JobLineage
from lineagelab_flink.lifecycle import EventType
from lineagelab_flink.run_id import run_id
from lineagelab_flink.statistics import JobMetrics, rows_since

FIGURES_FACET = "lineageLab_flinkJob"


@dataclass(frozen=True, kw_only=True)
class FlinkRun:
    """Run of a Flink job.

    Attributes:
        namespace: of the lineage job.
        name: of the Flink job and of the lineage job.
        started: milliseconds since 1970.
        processing: STREAMING or BATCH.
        job_type: SQL_JOB or JOB.
        restored: checkpoint from which it started; empty for none.
        heartbeat: seconds between two RUNNING events.
        unknown_lineage: why the launcher cannot name the job's datasets; empty where it can.
    """

    namespace: str
    name: str
    job_id: str
    started: int
    processing: str
    job_type: str
    version: str
    restored: str = ""
    heartbeat: float = DEFAULT_SECONDS
    unknown_lineage: str = ""

    @property
    def run_id(self) -> str:
        return run_id(self.job_id, self.started)


@dataclass(frozen=True)
class Window:
    """Metrics at an event and at the previous one, and the seconds between them."""

    seconds: float
    before: JobMetrics
    after: JobMetrics


@dataclass(frozen=True)
class Failure:
    """Cause of a failed job."""

    message: str
    trace: str = ""


@dataclass(frozen=True)
class RunUpdate:
    """State of a run at `at`, in milliseconds since 1970."""

    what: EventType
    at: int
    why: str = ""
    window: Window | None = None
    failure: Failure | None = None


def event(run: FlinkRun, described: JobLineage, update: RunUpdate) -> Json:
    """Return a complete run event."""
    window = update.window
    return WRITER.run_event(
        update.what.value,
        timestamp(update.at),
        {"runId": run.run_id, "facets": _run_facets(run, update)},
        {"namespace": run.namespace, "name": run.name, "facets": _job_facets(run, described)},
        _with_rows(described.inputs, rows_since(window.before.read, window.after.read) if window else None, "input"),
        _with_rows(
            described.outputs, rows_since(window.before.written, window.after.written) if window else None, "output"
        ),
    )


def failure_of(exceptions: Mapping[str, Any], cause: str) -> Failure:
    """Return the failure of a job.

    Args:
        exceptions: response of the REST API.
        cause: root cause of the trace that `stack_trace_of` returns.
    """
    return Failure(cause, stack_trace_of(exceptions))


def stack_trace_of(exceptions: Mapping[str, Any]) -> str:
    """Return the stack trace of the last exception; empty for none."""
    entries = (exceptions.get("exceptionHistory") or {}).get("entries") or []
    last: Mapping[str, Any] = max(entries, key=lambda entry: int(entry["timestamp"]), default={})
    return str(last.get("stacktrace", ""))


def _job_facets(run: FlinkRun, described: JobLineage) -> Json:
    """Return the facets of the job; an event without datasets does not remove those that others reported."""
    pattern = {
        "eventTrigger": "PERIODIC",
        "eventContentMode": "COMPLETE_SNAPSHOT" if described.inputs or described.outputs else "ACCUMULATIVE",
        "windowDuration": math.ceil(run.heartbeat),
    }
    job_type = WRITER.facet(
        "jobType",
        processingType=run.processing,
        integration="FLINK",
        jobType=run.job_type,
        emissionPattern=pattern,
    )
    return {**described.job_facets, "jobType": job_type}


def _run_facets(run: FlinkRun, update: RunUpdate) -> Json:
    facets = {
        "processing_engine": WRITER.facet("processing_engine", name="flink", version=run.version),
        FIGURES_FACET: WRITER.facet("urn:lineage-lab:schemas:FlinkJobRunFacet:1", **_job_metrics(run, update)),
    }
    if update.failure is not None:
        facets["errorMessage"] = WRITER.error(update.failure.message, "JAVA", update.failure.trace)
    return facets


def _job_metrics(run: FlinkRun, update: RunUpdate) -> Json:
    facet_fields: Json = {
        "jobId": run.job_id,
        "restoredFrom": run.restored or None,
        "reason": update.why or None,
        "lineageUnknownBecause": run.unknown_lineage or None,
    }
    if update.window is not None:
        after = update.window.after
        facet_fields |= {
            "windowSeconds": round(update.window.seconds, 3),
            "vertices": [asdict(vertex) for vertex in after.vertices],
            "pendingRecords": after.pending,
            "fetchEventTimeLagMilliseconds": after.lag,
            "restarts": after.restarts,
            "checkpointsCompleted": after.completed,
            "checkpointsFailed": after.failed,
            "lastCheckpoint": _checkpoint(after.checkpoint),
        }
    return facet_fields


def _checkpoint(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if found is None or "end_to_end_duration" not in found:
        return None
    return {
        "id": found["id"],
        "milliseconds": found["end_to_end_duration"],
        "bytes": found["state_size"],
        "isSavepoint": found["is_savepoint"],
    }


def _with_rows(datasets: Sequence[Mapping[str, Any]], rows: int | None, side: Literal["input", "output"]) -> list[Json]:
    """Return the datasets; with a single one, the row count is its own."""
    plain = [dict(dataset) for dataset in datasets]
    if rows is None or len(plain) != 1:
        return plain
    group, name = f"{side}Facets", f"{side}Statistics"
    plain[0][group] = {**plain[0].get(group, {}), name: WRITER.facet(name, rowCount=rows)}
    return plain
