# SPDX-License-Identifier: Apache-2.0
"""What events say of a connector: its runs in order, how each went, datasets, edges, columns; and what is wrong."""

import json
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from infra.project import PROJECT
from tests.smoke.specification import errors_of

SPECIFICATION = PROJECT.parent / "shared" / "openlineage-spec"
"""The standard's JSON schemas, where somebody has them."""

TERMINAL = frozenset({"COMPLETE", "FAIL", "ABORT"})
STATE_FACET = "lineagelab_connect"

Event = dict[str, Any]
Dataset = tuple[str, str]
"""Namespace and name."""


@dataclass(frozen=True)
class Story:
    """The events of one job, each once, in the order of their times. A service drops what comes twice, too."""

    events: tuple[Event, ...]

    @classmethod
    def of(cls, job: str, events: Sequence[Event]) -> "Story":
        """From everything that has arrived."""
        own = {json.dumps(event, sort_keys=True): event for event in events if event["job"]["name"] == job}
        return cls(tuple(sorted(own.values(), key=lambda event: event["eventTime"])))

    @property
    def runs(self) -> list[str]:
        """Ids of its runs, by first event."""
        return list(dict.fromkeys(event["run"]["runId"] for event in self.events))

    def told(self) -> list[str]:
        """`1 START`, `1 OTHER PAUSED`, `1 ABORT`, `2 START`: run and type of each event that is no RUNNING."""
        numbers = {run: number for number, run in enumerate(self.runs, 1)}
        return [
            " ".join([str(numbers[event["run"]["runId"]]), *_words(event)])
            for event in self.events
            if event["eventType"] != "RUNNING"
        ]

    def of_run(self, number: int) -> tuple[Event, ...]:
        """The events of one run; the first is 1."""
        run = self.runs[number - 1]
        return tuple(event for event in self.events if event["run"]["runId"] == run)

    @property
    def last(self) -> Event:
        """The newest event."""
        return self.events[-1]

    def flaws(self) -> list[str]:
        """What breaks a rule that holds for every connector, one line each."""
        return [*self._flaws_of_events(), *self._flaws_of_runs()]

    def _flaws_of_events(self) -> Iterator[str]:
        for event in self.events:
            where = f"{event['eventType']} at {event['eventTime']}"
            if SPECIFICATION.exists():
                yield from (f"{where}: {error}" for error in errors_of(event, SPECIFICATION))
            yield from (f"{where}: no {side}" for side in ("inputs", "outputs") if side not in event)
            if uuid.UUID(event["run"]["runId"]).version != 7:
                yield f"{where}: the run's id is no UUID of version 7"

    def _flaws_of_runs(self) -> Iterator[str]:
        for number, run in enumerate(self.runs, 1):
            types = [event["eventType"] for event in self.events if event["run"]["runId"] == run]
            ends = [kind for kind in types if kind in TERMINAL]
            if len(ends) > 1:
                yield f"run {number} ends {len(ends)} times: {types}"
            if ends and types[-1] not in TERMINAL:
                yield f"run {number} goes on after its end: {types}"
            if types.count("START") > 1:
                yield f"run {number} starts {types.count('START')} times: {types}"
            if "START" in types[1:]:
                yield f"run {number} speaks before it starts: {types}"


def _words(event: Event) -> list[str]:
    if event["eventType"] != "OTHER":
        return [event["eventType"]]
    return ["OTHER", state_of(event)]


def state_of(event: Event) -> str:
    """The connector's state in Connect's words."""
    return str(event["run"]["facets"][STATE_FACET]["state"])


def states_of_tasks(event: Event) -> list[str]:
    """The tasks' states, by number."""
    return [task["state"] for task in event["run"]["facets"][STATE_FACET]["tasks"]]


def notes(event: Event) -> list[str]:
    """What could not be found out, and why."""
    return list(event["run"]["facets"][STATE_FACET]["notes"])


def datasets(event: Event, side: str) -> set[Dataset]:
    """The datasets of one side: `inputs` or `outputs`."""
    return {(dataset["namespace"], dataset["name"]) for dataset in event[side]}


def names(event: Event, side: str) -> set[str]:
    """The datasets of one side by name alone."""
    return {dataset["name"] for dataset in event[side]}


def edges(event: Event) -> set[tuple[str, str]]:
    """Which input reaches which output, by name: as the `lineage` facet says, else all with all."""
    facet = event["job"]["facets"].get("lineage")
    if facet is None:
        return {(source, output) for source in names(event, "inputs") for output in names(event, "outputs")}
    return {(source["name"], entry["name"]) for entry in facet["entries"] for source in entry.get("inputs", ())}


def dataset(event: Event, side: str, name: str) -> Event:
    """One dataset with its facets; without any where the event does not name it."""
    return next((dataset for dataset in event[side] if dataset["name"] == name), {"facets": {}})


def schema(event: Event, side: str, name: str) -> dict[str, str]:
    """Path of a column -> its type; nothing where the event says no schema."""
    facet = dataset(event, side, name)["facets"].get("schema")
    return dict(_columns(facet["fields"], "")) if facet else {}


def _columns(fields: Sequence[dict[str, Any]], above: str) -> Iterator[tuple[str, str]]:
    for field in fields:
        path = f"{above}{field['name']}"
        yield path, field.get("type", "")
        yield from _columns(field.get("fields", ()), f"{path}.")


def columns(event: Event, output: str) -> dict[str, set[str]]:
    """Column of an output -> the columns of inputs that its value comes from, as `dataset/column`."""
    facet = dataset(event, "outputs", output)["facets"].get("columnLineage", {"fields": {}})
    return {
        field: {
            f"{source['name']}/{source['field']}"
            for source in said["inputFields"]
            if any(how["type"] == "DIRECT" for how in source.get("transformations", [{"type": "DIRECT"}]))
        }
        for field, said in facet["fields"].items()
    }
