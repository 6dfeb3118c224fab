# SPDX-License-Identifier: Apache-2.0
"""The events of each run, one after the other."""

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
from lineage.checks.events.classes import Problem
from lineage.checks.events.column_sources import ColumnSources
from lineage.checks.events.findings import Place
from lineage.checks.events.naming import datasets_of, identity
from lineage.events import DatasetId, JsonObject, canonical_json
from lineage.events.timestamps import parse_time

_TERMINAL = frozenset({"COMPLETE", "FAIL", "ABORT"})
_ONCE = _TERMINAL | {"START"}
_UNBOUNDED = frozenset({"STREAMING", "SERVICE"})
_LISTED = 3

Edge = tuple[str, DatasetId]
"""`inputs` or `outputs`, and the dataset."""


@dataclass(slots=True)
class _Run:
    """What is remembered of a run. The sets are emptied at its end, so that a long log costs little."""

    place: Place
    start: bool = False
    end: str | None = None
    producers: dict[str, set[str]] = field(default_factory=dict)
    time: int = 0
    last: bytes = b""
    job_type: bool = False
    unbounded: bool = False
    error_message: bool = False
    edges: set[Edge] = field(default_factory=set)
    first: bool = True
    columns: ColumnSources = field(default_factory=ColumnSources)


class Located(NamedTuple):
    """A problem, and the event that it was found in."""

    place: Place
    problem: Problem


class Sequence:
    """The state of all runs; `join` takes in one event after the other, `finish` judges what is left open."""

    def __init__(self) -> None:
        self._runs: dict[str, _Run] = {}

    def __len__(self) -> int:
        return len(self._runs)

    def join(self, event: JsonObject, place: Place) -> Iterator[Located]:
        """What one more run event means for its run; `place.run` and `place.job` are the event's."""
        key = place.run.lower()
        run = self._runs.get(key)
        known = run is not None
        if run is None:
            run = self._runs[key] = _Run(place)
        elif run.place.job != place.job:
            message = f"belongs to {run.place.job} too, since {run.place}"
            yield Located(place, Problem(RUN_TWO_JOBS, "run.runId", message))
            return
        digest = hashlib.sha256(canonical_json(event)).digest()
        if known and digest == run.last:
            yield Located(place, Problem(RUN_DUPLICATE, "", "is the event before it once more"))
            return
        run.last = digest
        ended = run.end is not None
        for problem in self._judge(run, event):
            yield Located(place, problem)
        if not ended:
            run.columns.join(event)
            if run.end is not None:
                yield from _close(run, place)

    def finish(self) -> Iterator[Located]:
        """What is wrong with runs that have not ended."""
        for run in self._runs.values():
            if run.end is None:
                if not run.unbounded:
                    message = "never ends: no COMPLETE, FAIL or ABORT has come"
                    yield Located(run.place, Problem(RUN_NO_END, "eventType", message))
                yield from _close(run, run.place)

    def _judge(self, run: _Run, event: JsonObject) -> Iterator[Problem]:
        said = event.get("eventType")
        event_type = said if isinstance(said, str) and said else "OTHER"
        yield from _job_type(run, event)
        yield from _time(run, event)
        yield from _order(run, event_type, str(event.get("producer", "")))
        if run.end is None:
            yield from _datasets(run, event, event_type)
        if event_type in _TERMINAL:
            run.end = run.end or event_type
            run.error_message |= "errorMessage" in _facets(event, "run")
            if event_type == "FAIL" and not run.error_message:
                yield Problem(NO_ERROR_MESSAGE, "run.facets.errorMessage", "FAIL does not say why")


def _order(run: _Run, event_type: str, producer: str) -> Iterator[Problem]:
    voices = run.producers.setdefault(event_type, set()) if event_type in _ONCE else set()
    if voices and producer not in voices:
        # An engine's listener and a launcher may both see a run; what each of them says is to be said once.
        voices.add(producer)
        yield Problem(
            RUN_TWO_VOICES, "producer", f"{producer} tells the {event_type} of {min(voices - {producer})} too"
        )
        return
    voices.add(producer)
    if event_type in _TERMINAL:
        if run.end is not None:
            yield Problem(RUN_SECOND_END, "eventType", f"{event_type} after {run.end}")
        elif not run.start and not run.unbounded:
            yield Problem(RUN_NO_START, "eventType", f"{event_type} without a START before it")
            run.start = True
    elif event_type == "OTHER":
        return
    elif run.end is not None:
        yield Problem(RUN_AFTER_END, "eventType", f"{event_type} after {run.end}")
    elif event_type == "START":
        if run.start:
            yield Problem(RUN_SECOND_START, "eventType", "START after START")
        run.start = True
    elif not run.start:
        if not run.unbounded:
            yield Problem(RUN_NO_START, "eventType", f"{event_type} without a START before it")
        run.start = True


def _time(run: _Run, event: JsonObject) -> Iterator[Problem]:
    try:
        time = parse_time(event["eventTime"])
    except (KeyError, TypeError, ValueError):
        return  # the standard's check has said so
    if time < run.time:
        yield Problem(RUN_TIME_BACK, "eventTime", "is earlier than that of an event of this run before it")
    run.time = max(run.time, time)


def _job_type(run: _Run, event: JsonObject) -> Iterator[Problem]:
    run.error_message |= "errorMessage" in _facets(event, "run")
    facet = _facets(event, "job").get("jobType")
    path = "job.facets.jobType"
    if not isinstance(facet, dict):
        if run.job_type:
            yield Problem(JOB_TYPE_DROPPED, path, "is missing, though an earlier event of the run has it")
        else:
            yield Problem(NO_JOB_TYPE, path, "is missing")
        return
    run.job_type = True
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


def _datasets(run: _Run, event: JsonObject, event_type: str) -> Iterator[Problem]:
    """Datasets that come and go. The events of a bounded run add up, so there only a bare ABORT does harm."""
    named = {(path.partition("[")[0], dataset) for owner, path in datasets_of(event) if (dataset := identity(owner))}
    lost, late = run.edges - named, named - run.edges
    if run.unbounded and not run.first and late:
        yield Problem(
            RUN_DATASETS_LATE, _path(late), f"{_list(late)} for the first time in this run, with {event_type}"
        )
    if not named and run.edges:
        if run.unbounded or event_type == "ABORT":
            yield Problem(RUN_BARE, "inputs, outputs", f"{event_type} names no dataset; consumers lose the edges")
    elif run.unbounded and lost:
        yield Problem(RUN_DATASETS_LOST, _path(lost), f"{event_type} leaves out {_list(lost)}")
    run.first = run.first and event_type == "OTHER"
    run.edges |= named


def _path(edges: set[Edge]) -> str:
    return ", ".join(sorted({direction for direction, _ in edges}))


def _list(edges: set[Edge]) -> str:
    names = sorted(f"{dataset.namespace}/{dataset.name}" for _, dataset in edges)
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def _close(run: _Run, place: Place) -> Iterator[Located]:
    run.edges.clear()
    for problem in run.columns.close():
        yield Located(place, problem)


def _facets(event: JsonObject, part: str) -> JsonObject:
    owner = event.get(part)
    facets = owner.get("facets") if isinstance(owner, dict) else None
    return facets if isinstance(facets, dict) else {}
