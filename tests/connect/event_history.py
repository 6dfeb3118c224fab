# SPDX-License-Identifier: Apache-2.0
"""Lineage events of one connector: runs and their transitions, datasets, edges and columns, and violated invariants."""

import json
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.openlineage_schemas import conformance_errors

"""Folder of OpenLineage's JSON schemas; events are not validated where it does not exist."""

TERMINAL = frozenset({"COMPLETE", "FAIL", "ABORT"})
STATE_FACET = "lineagelab_connect"

Event = dict[str, Any]
Dataset = tuple[str, str]
"""Namespace and name."""


@dataclass(frozen=True)
class EventHistory:
    """Events of one job in the order of their arrival, duplicates included."""

    arrived: tuple[Event, ...]

    @classmethod
    def of(cls, job: str, arrived: Sequence[Event]) -> "EventHistory":
        """Select the events of a job from all that have arrived."""
        return cls(tuple(event for event in arrived if event["job"]["name"] == job))

    @property
    def events(self) -> tuple[Event, ...]:
        """Distinct events by event time, as the lineage service stores them."""
        distinct = {_text(event): event for event in self.arrived}
        return tuple(sorted(distinct.values(), key=lambda event: event["eventTime"]))

    @property
    def runs(self) -> list[str]:
        """Run ids by first event."""
        return list(dict.fromkeys(event["run"]["runId"] for event in self.events))

    def transitions(self) -> list[str]:
        """Run number and type of each event that is not RUNNING: `1 START`, `1 OTHER PAUSED`, `1 ABORT`, `2 START`."""
        numbers = {run: number for number, run in enumerate(self.runs, 1)}
        return [
            " ".join([str(numbers[event["run"]["runId"]]), *_words(event)])
            for event in self.events
            if event["eventType"] != "RUNNING"
        ]

    def of_run(self, number: int) -> tuple[Event, ...]:
        """Events of one run; the first run is number 1."""
        run = self.runs[number - 1]
        return tuple(event for event in self.events if event["run"]["runId"] == run)

    @property
    def last(self) -> Event:
        """Event with the latest event time."""
        return self.events[-1]

    def violations(self, exactly_once: bool = True) -> list[str]:
        """Describe each violated invariant of a connector's events in one line.

        Args:
            exactly_once: report duplicates and events out of order; a retried request may cause them.
        """
        delivery = self._delivery_violations() if exactly_once else ()
        return [*delivery, *self._event_violations(), *self._run_violations()]

    def _delivery_violations(self) -> Iterator[str]:
        for text, count in Counter(_text(event) for event in self.arrived).items():
            if count > 1:
                yield f"{_label(json.loads(text))} arrived {count} times"
        for earlier, later in pairwise(self.arrived):
            if later["eventTime"] <= earlier["eventTime"] and later != earlier:
                yield f"{_label(later)} arrived after {_label(earlier)}"

    def _event_violations(self) -> Iterator[str]:
        for event in self.events:
            yield from (f"{_label(event)}: {error}" for error in conformance_errors(event))
            yield from (f"{_label(event)}: no {side}" for side in ("inputs", "outputs") if side not in event)
            if uuid.UUID(event["run"]["runId"]).version != 7:
                yield f"{_label(event)}: run id is not a UUID of version 7"

    def _run_violations(self) -> Iterator[str]:
        for number, run in enumerate(self.runs, 1):
            types = [event["eventType"] for event in self.events if event["run"]["runId"] == run]
            ends = [kind for kind in types if kind in TERMINAL]
            if len(ends) > 1:
                yield f"run {number} ends {len(ends)} times: {types}"
            if ends and types[-1] not in TERMINAL:
                yield f"run {number} has events after its end: {types}"
            if types[0] != "START":
                yield f"run {number} does not begin with START: {types}"
            if types.count("START") > 1:
                yield f"run {number} starts {types.count('START')} times: {types}"


def events_in(file: Path) -> list[Event]:
    """Return the events in a file, one per line; a line that is being written is read at the next poll."""
    lines = file.read_text().splitlines(keepends=True) if file.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def _text(event: Event) -> str:
    return json.dumps(event, sort_keys=True)


def _label(event: Event) -> str:
    return f"{event['eventType']} at {event['eventTime']}"


def _words(event: Event) -> list[str]:
    if event["eventType"] != "OTHER":
        return [event["eventType"]]
    return ["OTHER", state_of(event)]


def state_of(event: Event) -> str:
    """Return the connector's state as reported by Connect."""
    return str(event["run"]["facets"][STATE_FACET]["state"])


def notes(event: Event) -> list[str]:
    """Return the notes on lineage that could not be determined."""
    return list(event["run"]["facets"][STATE_FACET]["notes"])


def datasets(event: Event, side: str) -> set[Dataset]:
    """Return the datasets of one side, `inputs` or `outputs`."""
    return {(dataset["namespace"], dataset["name"]) for dataset in event[side]}


def names(event: Event, side: str) -> set[str]:
    """Return the names of the datasets of one side."""
    return {dataset["name"] for dataset in event[side]}


def edges(event: Event) -> set[tuple[str, str]]:
    """Return pairs of input and output names: those of the `lineage` facet, else every combination."""
    facet = event["job"]["facets"].get("lineage")
    if facet is None:
        return {(source, output) for source in names(event, "inputs") for output in names(event, "outputs")}
    return {(source["name"], entry["name"]) for entry in facet["entries"] for source in entry.get("inputs", ())}


def dataset(event: Event, side: str, name: str) -> Event:
    """Return one dataset with its facets; one without facets if the event does not have it."""
    return next((dataset for dataset in event[side] if dataset["name"] == name), {"facets": {}})


def schema(event: Event, side: str, name: str) -> dict[str, str]:
    """Return type by column path; empty if the event has no schema of the dataset."""
    facet = dataset(event, side, name)["facets"].get("schema")
    return dict(_columns(facet["fields"], "")) if facet else {}


def _columns(fields: Sequence[dict[str, Any]], prefix: str) -> Iterator[tuple[str, str]]:
    for field in fields:
        path = f"{prefix}{field['name']}"
        yield path, field.get("type", "")
        yield from _columns(field.get("fields", ()), f"{path}.")


def columns(event: Event, output: str) -> dict[str, set[str]]:
    """Return the input columns that the value of each output column comes from, as `dataset/column`."""
    facet = dataset(event, "outputs", output)["facets"].get("columnLineage", {"fields": {}})
    return {
        field: {
            f"{source['name']}/{source['field']}"
            for source in lineage["inputFields"]
            if any(kind["type"] == "DIRECT" for kind in source.get("transformations", [{"type": "DIRECT"}]))
        }
        for field, lineage in facet["fields"].items()
    }
