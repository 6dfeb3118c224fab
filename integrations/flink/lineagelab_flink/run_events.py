# SPDX-License-Identifier: Apache-2.0
"""Events of the runs of Flink jobs: a description, figures and an end make an event. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from lineagelab_flink.columns.facets import PRODUCER, SPECIFICATION, facet
from lineagelab_flink.launcher_state import Described
from lineagelab_flink.lifecycle import INTERVAL, Say
from lineagelab_flink.run_id import run_id
from lineagelab_flink.statistics import Figures, since

MOST_CHARACTERS = 20_000
"""Of an error message, and of a stack trace."""

FIGURES_FACET = "lineageLab_flinkJob"

_EVENT = f"{SPECIFICATION}/2-0-2/OpenLineage.json#/$defs/RunEvent"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Event = dict[str, Any]


@dataclass(frozen=True)
class FlinkRun:
    """One Flink job.

    Attributes:
        namespace: of the lineage job.
        name: of the job, and of the lineage job.
        started: milliseconds since 1970.
        processing: STREAMING or BATCH.
        job_type: SQL_JOB or JOB.
        restored: the checkpoint that it began from, if any.
    """

    namespace: str
    name: str
    job_id: str
    started: int
    processing: str
    job_type: str
    version: str
    restored: str = ""

    @property
    def run_id(self) -> str:
        return run_id(self.job_id, self.started)


@dataclass(frozen=True)
class Window:
    """The figures at an event, and at the one before it where that is known."""

    seconds: float
    before: Figures
    after: Figures


@dataclass(frozen=True)
class Failure:
    """Why a job has failed."""

    message: str
    trace: str = ""


@dataclass(frozen=True)
class Saying:
    """What is said: how the run stands at `at` milliseconds, and why."""

    what: Say
    at: int
    why: str = ""
    window: Window | None = None
    failure: Failure | None = None


def event(run: FlinkRun, described: Described, saying: Saying) -> Event:
    """One event, full in itself."""
    window = saying.window
    return {
        "eventType": saying.what.value,
        "eventTime": instant(saying.at),
        "producer": PRODUCER,
        "schemaURL": _EVENT,
        "run": {"runId": run.run_id, "facets": _run_facets(run, saying)},
        "job": {"namespace": run.namespace, "name": run.name, "facets": _job_facets(run, described)},
        "inputs": _with_rows(
            described.inputs,
            since(window.before.read, window.after.read) if window else None,
            ("inputFacets", "inputStatistics", "1-0-0/InputStatisticsInputDatasetFacet"),
        ),
        "outputs": _with_rows(
            described.outputs,
            since(window.before.written, window.after.written) if window else None,
            ("outputFacets", "outputStatistics", "1-0-2/OutputStatisticsOutputDatasetFacet"),
        ),
    }


def instant(milliseconds: int) -> str:
    """As OpenLineage writes a time, always with three digits of a second's fraction."""
    return (_EPOCH + timedelta(milliseconds=milliseconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def failure_of(exceptions: Mapping[str, Any], cause: str) -> Failure:
    """What the REST API says of a job that has failed.

    Args:
        exceptions: its answer.
        cause: the root cause of the trace that `trace_of` finds in it.
    """
    return Failure(cause[:MOST_CHARACTERS], trace_of(exceptions)[:MOST_CHARACTERS])


def trace_of(exceptions: Mapping[str, Any]) -> str:
    """The stack trace of the last exception; empty where there is none."""
    entries = (exceptions.get("exceptionHistory") or {}).get("entries") or []
    last: Mapping[str, Any] = max(entries, key=lambda entry: int(entry["timestamp"]), default={})
    return str(last.get("stacktrace", ""))


def _job_facets(run: FlinkRun, described: Described) -> dict[str, Any]:
    pattern = {
        "eventTrigger": "PERIODIC",
        "eventContentMode": "COMPLETE_SNAPSHOT",
        "windowDuration": math.ceil(INTERVAL),
    }
    job_type = facet(
        "2-0-4/JobTypeJobFacet",
        processingType=run.processing,
        integration="FLINK",
        jobType=run.job_type,
        emissionPattern=pattern,
    )
    return {**described.job_facets, "jobType": job_type}


def _run_facets(run: FlinkRun, saying: Saying) -> dict[str, Any]:
    facets = {
        "processing_engine": facet("1-1-1/ProcessingEngineRunFacet", name="flink", version=run.version),
        FIGURES_FACET: facet("urn:lineage-lab:schemas:FlinkJobRunFacet:1", **_figures(run, saying)),
    }
    if saying.failure is not None:
        facets["errorMessage"] = facet(
            "1-0-1/ErrorMessageRunFacet",
            message=saying.failure.message,
            programmingLanguage="JAVA",
            **({"stackTrace": saying.failure.trace} if saying.failure.trace else {}),
        )
    return facets


def _figures(run: FlinkRun, saying: Saying) -> dict[str, Any]:
    found: dict[str, Any] = {
        "jobId": run.job_id,
        "restoredFrom": run.restored or None,
        "reason": saying.why or None,
    }
    if saying.window is not None:
        after = saying.window.after
        found |= {
            "windowSeconds": round(saying.window.seconds, 3),
            "vertices": [asdict(vertex) for vertex in after.vertices],
            "pendingRecords": after.pending,
            "fetchEventTimeLagMilliseconds": after.lag,
            "restarts": after.restarts,
            "checkpointsCompleted": after.completed,
            "checkpointsFailed": after.failed,
            "lastCheckpoint": _checkpoint(after.checkpoint),
        }
    return {name: value for name, value in found.items() if value is not None}


def _checkpoint(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if found is None or "end_to_end_duration" not in found:
        return None
    return {
        "id": found["id"],
        "milliseconds": found["end_to_end_duration"],
        "bytes": found["state_size"],
        "isSavepoint": found["is_savepoint"],
    }


def _with_rows(
    datasets: Sequence[Mapping[str, Any]], rows: int | None, statistics: tuple[str, str, str]
) -> list[dict[str, Any]]:
    """The datasets; where there is one alone, what was counted is of it."""
    plain = [dict(dataset) for dataset in datasets]
    if rows is None or len(plain) != 1:
        return plain
    group, name, schema = statistics
    plain[0][group] = {**plain[0].get(group, {}), name: facet(schema, rowCount=rows)}
    return plain
