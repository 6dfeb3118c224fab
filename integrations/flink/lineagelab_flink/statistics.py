# SPDX-License-Identifier: Apache-2.0
"""Metrics of a job from Flink's REST API: rows, checkpoints, lag."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lineagelab_flink.rest import FlinkClient

_OPERATOR = re.compile(r"(?P<operator>[^,]+)\.(?P<metric>\w+)")
_IS_SOURCE = re.compile(r"Source__")
_IS_WRITER = re.compile(r"__Writer$")
_SUMS = {"numRecordsOut", "pendingRecords", "numRecordsSend"}
_LAG = "currentFetchEventTimeLag"


@dataclass(frozen=True)
class Vertex:
    """Vertex of the job graph. Records are those exchanged between vertices."""

    name: str
    parallelism: int
    read: int
    written: int


@dataclass(frozen=True)
class JobMetrics:
    """Metrics of a job since its submission or the last restart of its tasks.

    Attributes:
        read, written: rows by operator, of sources and of sink writers.
        pending: rows that the sources have still to read; None where unknown.
        lag: milliseconds between event time and read of a row, the maximum over sources.
    """

    vertices: tuple[Vertex, ...] = ()
    read: Mapping[str, int] | None = None
    written: Mapping[str, int] | None = None
    pending: int | None = None
    lag: int | None = None
    restarts: int | None = None
    completed: int | None = None
    failed: int | None = None
    checkpoint: Mapping[str, Any] | None = None


def query_metrics(rest: FlinkClient, job_id: str) -> JobMetrics:
    """Query the metrics of a job.

    Raises:
        FlinkError: the cluster did not respond, or responded with an error.
    """
    vertices = rest.job(job_id)["vertices"]
    sums: dict[str, float] = {}
    lags: dict[str, float] = {}
    for vertex in vertices:
        names = [name for name in rest.metric_names(job_id, vertex["id"]) if _OPERATOR.fullmatch(name)]
        sums |= rest.metrics(job_id, vertex["id"], [name for name in names if _is_wanted(name)], "sum")
        lags |= rest.metrics(job_id, vertex["id"], [name for name in names if name.endswith(f".{_LAG}")], "max")
    return parse_metrics(vertices, sums, lags, rest.checkpoints(job_id), rest.restarts(job_id))


def parse_metrics(
    vertices: Sequence[Mapping[str, Any]],
    sums: Mapping[str, float],
    lags: Mapping[str, float],
    checkpoints: Mapping[str, Any],
    restarts: int | None,
) -> JobMetrics:
    """Return the metrics from responses of the REST API. Metrics are named `operator.metric`."""
    counts = checkpoints.get("counts") or {}
    pending = [value for name, value in sums.items() if name.endswith(".pendingRecords")]
    return JobMetrics(
        vertices=tuple(_vertex(vertex) for vertex in vertices),
        read=_by_operator(sums, "numRecordsOut", _IS_SOURCE),
        written=_by_operator(sums, "numRecordsSend", _IS_WRITER),
        pending=int(sum(pending)) if pending else None,
        lag=int(max(lags.values())) if lags and max(lags.values()) >= 0 else None,
        restarts=restarts,
        completed=counts.get("completed"),
        failed=counts.get("failed"),
        checkpoint=last_checkpoint(checkpoints),
    )


def last_checkpoint(checkpoints: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the last completed checkpoint or savepoint that was not discarded; None for none."""
    latest = checkpoints.get("latest") or {}
    found = [latest.get(kind) for kind in ("completed", "savepoint", "restored")]
    there = [one for one in found if one and one.get("external_path") and not one.get("discarded")]
    return max(there, key=lambda one: int(one["id"]), default=None)


def rows_since(before: Mapping[str, int] | None, after: Mapping[str, int] | None) -> int | None:
    """Return the rows between two metrics of a single operator; None for several operators or without metrics.

    A restarted operator counts from 0.
    """
    if before is None or after is None or len(after) != 1:
        return None
    ((operator, count),) = after.items()
    earlier = before.get(operator, 0)
    return count - earlier if count >= earlier else count


def _vertex(found: Mapping[str, Any]) -> Vertex:
    metrics = found["metrics"]
    return Vertex(
        str(found["name"]), int(found["parallelism"]), int(metrics["read-records"]), int(metrics["write-records"])
    )


def _is_wanted(name: str) -> bool:
    operator, _, metric = name.rpartition(".")
    return metric in _SUMS and (_IS_SOURCE.match(operator) or _IS_WRITER.search(operator)) is not None


def _by_operator(sums: Mapping[str, float], metric: str, kind: re.Pattern[str]) -> dict[str, int]:
    found = ((name.rpartition("."), value) for name, value in sums.items())
    return {parts[0]: int(value) for parts, value in found if parts[2] == metric and kind.search(parts[0])}
