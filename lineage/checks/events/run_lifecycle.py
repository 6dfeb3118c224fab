# SPDX-License-Identifier: Apache-2.0
"""Life cycle of runs: order of event types and times, jobType, and datasets, from event to event."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from lineage.checks.events.check_rules import (
    JOB_TYPE_DROPPED,
    NO_EMISSION_PATTERN,
    NO_ERROR_MESSAGE,
    NO_JOB_TYPE,
    NO_WINDOW,
    RUN_AFTER_END,
    RUN_BARE,
    RUN_DATASETS_LATE,
    RUN_DATASETS_LOST,
    RUN_DUPLICATE,
    RUN_NO_END,
    RUN_NO_START,
    RUN_SECOND_END,
    RUN_SECOND_START,
    RUN_TIME_BACK,
    RUN_TWO_JOBS,
    RUN_TWO_VOICES,
)
from lineage.checks.events.column_sources import ColumnSources
from lineage.checks.events.findings import EventPosition
from lineage.checks.events.naming import dataset_id, datasets_of
from lineage.checks.events.problem import Problem
from lineage.events import DatasetId, JsonObject, canonical_json
from lineage.events.timestamps import parse_time

_TERMINAL = frozenset({"COMPLETE", "FAIL", "ABORT"})
_ONCE_PER_RUN = _TERMINAL | {"START"}
_UNBOUNDED = frozenset({"STREAMING", "SERVICE"})
_MAX_LISTED = 3

Edge = tuple[str, DatasetId]
"""`inputs` or `outputs`, and the dataset."""


@dataclass(slots=True)
class _RunState:
    """State of a run. The sets are cleared when it ends, which bounds memory on long logs."""

    position: EventPosition
    started: bool = False
    end: str | None = None
    producers: dict[str, set[str]] = field(default_factory=dict)
    latest_time: int = 0
    last_digest: bytes = b""
    has_job_type: bool = False
    unbounded: bool = False
    has_error_message: bool = False
    edges: set[Edge] = field(default_factory=set)
    first_datasets: bool = True
    columns: ColumnSources = field(default_factory=ColumnSources)


class LocatedProblem(NamedTuple):
    """A problem and the position of the event that has it."""

    position: EventPosition
    problem: Problem


class RunTracker:
    """State of all runs: `add` checks one event after the other, `finish` the runs that have not ended."""

    def __init__(self) -> None:
        self._runs: dict[str, _RunState] = {}

    def __len__(self) -> int:
        return len(self._runs)

    def add(self, event: JsonObject, position: EventPosition) -> Iterator[LocatedProblem]:
        """Check a run event against the earlier ones of its run; `position` has its run and job."""
        key = position.run.lower()
        run = self._runs.get(key)
        known = run is not None
        if run is None:
            run = self._runs[key] = _RunState(position)
        elif run.position.job != position.job:
            message = f"is a run of {run.position.job} too, first at {run.position}"
            yield LocatedProblem(position, Problem(RUN_TWO_JOBS, "run.runId", message))
            return
        digest = hashlib.sha256(canonical_json(event)).digest()
        if known and digest == run.last_digest:
            yield LocatedProblem(position, Problem(RUN_DUPLICATE, "", "is identical to the previous event of the run"))
            return
        run.last_digest = digest
        had_ended = run.end is not None
        for problem in _event_problems(run, event):
            yield LocatedProblem(position, problem)
        if not had_ended:
            run.columns.add(event)
            if run.end is not None:
                yield from _close_run(run, position)

    def finish(self) -> Iterator[LocatedProblem]:
        """Check the runs that have not ended."""
        for run in self._runs.values():
            if run.end is None:
                if not run.unbounded:
                    message = "no terminal event (COMPLETE, FAIL or ABORT)"
                    yield LocatedProblem(run.position, Problem(RUN_NO_END, "eventType", message))
                yield from _close_run(run, run.position)


def _event_problems(run: _RunState, event: JsonObject) -> Iterator[Problem]:
    value = event.get("eventType")
    event_type = value if isinstance(value, str) and value else "OTHER"
    run.has_error_message |= "errorMessage" in _facets_of_part(event, "run")
    yield from _job_type_problems(run, event)
    yield from _time_problems(run, event)
    yield from _order_problems(run, event_type, str(event.get("producer", "")))
    if run.end is None:
        yield from _dataset_problems(run, event, event_type)
    if event_type in _TERMINAL:
        run.end = run.end or event_type
        if event_type == "FAIL" and not run.has_error_message:
            yield Problem(NO_ERROR_MESSAGE, "run.facets.errorMessage", "is missing in all events of the failed run")


def _order_problems(run: _RunState, event_type: str, producer: str) -> Iterator[Problem]:
    producers = run.producers.setdefault(event_type, set()) if event_type in _ONCE_PER_RUN else set()
    if producers and producer not in producers:
        # An engine's listener and a launcher may both observe a run; each producer's events are checked by themselves.
        message = f"{producer} sends {event_type}, as {min(producers)} does"
        producers.add(producer)
        yield Problem(RUN_TWO_VOICES, "producer", message)
        return
    producers.add(producer)
    if event_type in _TERMINAL:
        if run.end is not None:
            yield Problem(RUN_SECOND_END, "eventType", f"{event_type} after {run.end}")
        elif not run.started and not run.unbounded:
            yield Problem(RUN_NO_START, "eventType", f"{event_type} without a preceding START")
            run.started = True
    elif event_type == "OTHER":
        return
    elif run.end is not None:
        yield Problem(RUN_AFTER_END, "eventType", f"{event_type} after {run.end}")
    elif event_type == "START":
        if run.started:
            yield Problem(RUN_SECOND_START, "eventType", "START after START")
        run.started = True
    elif not run.started:
        if not run.unbounded:
            yield Problem(RUN_NO_START, "eventType", f"{event_type} without a preceding START")
        run.started = True


def _time_problems(run: _RunState, event: JsonObject) -> Iterator[Problem]:
    try:
        time = parse_time(event["eventTime"])
    except (KeyError, TypeError, ValueError):
        return  # reported as a violation of the standard
    if time < run.latest_time:
        yield Problem(RUN_TIME_BACK, "eventTime", "is earlier than that of a preceding event of the run")
    run.latest_time = max(run.latest_time, time)


def _job_type_problems(run: _RunState, event: JsonObject) -> Iterator[Problem]:
    facet = _facets_of_part(event, "job").get("jobType")
    path = "job.facets.jobType"
    if not isinstance(facet, dict):
        if run.has_job_type:
            yield Problem(JOB_TYPE_DROPPED, path, "is missing, but an earlier event of the run has it")
        else:
            yield Problem(NO_JOB_TYPE, path, "is missing")
        return
    run.has_job_type = True
    if str(facet.get("processingType", "")).upper() not in _UNBOUNDED:
        return
    run.unbounded = True
    pattern = facet.get("emissionPattern")
    if not isinstance(pattern, dict):
        yield Problem(NO_EMISSION_PATTERN, f"{path}.emissionPattern", "is missing")
    elif pattern.get("windowDuration") is None and (
        (pattern.get("eventTrigger"), pattern.get("eventContentMode")) == ("PERIODIC", "COMPLETE_SNAPSHOT")
    ):
        yield Problem(NO_WINDOW, f"{path}.emissionPattern.windowDuration", "is missing")


def _dataset_problems(run: _RunState, event: JsonObject, event_type: str) -> Iterator[Problem]:
    """Check that datasets persist. Events of a bounded run are cumulative; there, only an empty ABORT loses edges."""
    edges = {(path.partition("[")[0], dataset) for owner, path in datasets_of(event) if (dataset := dataset_id(owner))}
    lost, late = run.edges - edges, edges - run.edges
    if run.unbounded and not run.first_datasets and late:
        message = f"{_dataset_list(late)} for the first time in this run, with {event_type}"
        yield Problem(RUN_DATASETS_LATE, _direction_list(late), message)
    if not edges and run.edges:
        if run.unbounded or event_type == "ABORT":
            yield Problem(RUN_BARE, "inputs, outputs", f"{event_type} names no dataset; consumers lose the edges")
    elif run.unbounded and lost:
        yield Problem(RUN_DATASETS_LOST, _direction_list(lost), f"{event_type} omits {_dataset_list(lost)}")
    run.first_datasets = run.first_datasets and event_type == "OTHER"
    run.edges |= edges


def _direction_list(edges: set[Edge]) -> str:
    return ", ".join(sorted({direction for direction, _ in edges}))


def _dataset_list(edges: set[Edge]) -> str:
    names = sorted(f"{dataset.namespace}/{dataset.name}" for _, dataset in edges)
    more = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    return ", ".join(names[:_MAX_LISTED]) + more


def _close_run(run: _RunState, position: EventPosition) -> Iterator[LocatedProblem]:
    run.edges.clear()
    for problem in run.columns.finish():
        yield LocatedProblem(position, problem)


def _facets_of_part(event: JsonObject, part: str) -> JsonObject:
    owner = event.get(part)
    facets = owner.get("facets") if isinstance(owner, dict) else None
    return facets if isinstance(facets, dict) else {}
