# SPDX-License-Identifier: Apache-2.0
"""Marquez as a receiver: a real HTTP server that validates, stores and answers as Marquez 0.46 to 0.51 was observed to.

It keeps runs, sources, datasets with the fields of their last event, and column edges. Not modelled: everything that
the forwarder does not depend on.
"""

import json
import threading
from typing import Any

from lineage_recorder import TERMINAL, Recorder

STATE_OF = {"START": "RUNNING", "RUNNING": "RUNNING", "COMPLETE": "COMPLETED", "ABORT": "ABORTED", "FAIL": "FAILED"}
REQUIRED = {
    "job": {"jobType": ("processingType", "integration", "jobType"), "documentation": ("description",)},
    "dataset": {"documentation": ("description",)},
}
REQUIRED["job"]["sql"] = ("query",)


class MarquezBackend(Recorder):
    """Recorder with Marquez's validation, its tables and some of its reads.

    `stored` are the accepted events in order. `stall` withholds the response of those that it selects.
    """

    def __init__(self) -> None:
        super().__init__()
        self.rule = self.store
        self.stored: list[dict[str, Any]] = []
        self.runs: dict[str, dict[str, Any]] = {}
        self.sources: dict[str, str | None] = {}
        self.fields: dict[tuple[str, str], list[str]] = {}
        self.field_history: dict[tuple[str, str], list[list[str]]] = {}
        self.columns: set[tuple[str, str, str, str]] = set()
        self.violations: list[str] = []
        self.stall = lambda _event: False
        self._tables = threading.Lock()

    def store(self, event: dict[str, Any]) -> int:
        """Validate and store one event; return the status of the response."""
        missing = violations(event)
        if missing:
            self.violations += missing
            return 422
        with self._tables:
            self.stored.append(event)
            self._store_run(event)
            for dataset in datasets(event):
                self._store_dataset(dataset)
            for output in event.get("outputs") or ():
                self._store_columns(event, output)
        if self.stall(event):
            self._released.wait()
        return 201

    def read(self, path: str) -> tuple[int, bytes]:
        match path.partition("?")[0].removeprefix("/api/v1/").split("/"):
            case ["namespaces"]:
                return 200, b'{"namespaces": []}'
            case ["sources"] if None in self.sources.values():
                return 500, b'{"code": 500, "message": "There was an error processing your request."}'
            case ["sources"]:
                return 200, json.dumps(sorted(self.sources.items())).encode()
            case ["jobs", "runs", run] if run in self.runs:
                return 200, json.dumps(self.runs[run]).encode()
        return 404, b'{"code": 404}'

    def _store_run(self, event: dict[str, Any]) -> None:
        if "run" not in event:
            return
        run = self.runs.setdefault(event["run"]["runId"], {"startedAt": None, "endedAt": None, "state": None})
        if state := STATE_OF.get(event["eventType"]):
            run["state"] = state
        if event["eventType"] == "START":
            run["startedAt"] = event["eventTime"]
        if event["eventType"] in TERMINAL:
            run["endedAt"] = event["eventTime"]

    def _store_dataset(self, dataset: dict[str, Any]) -> None:
        facets = dataset.get("facets") or {}
        source = facets.get("dataSource")
        # Without the facet a dataset belongs to the source "default", which has no URL.
        self.sources[source["name"] if source else "default"] = source["uri"] if source else None
        names = [(dataset["namespace"], dataset["name"])]
        names += [(one["namespace"], one["name"]) for one in facets.get("symlinks", {}).get("identifiers", ())]
        fields = [field["name"] for field in facets.get("schema", {}).get("fields", ())]
        for name in names:
            self.fields[name] = fields
            self.field_history.setdefault(name, []).append(fields)

    def _store_columns(self, event: dict[str, Any], output: dict[str, Any]) -> None:
        """Store column edges, except those of a column that the schemas in the event lack."""
        held = {
            (dataset["name"], field["name"])
            for dataset in datasets(event)
            for field in dataset.get("facets", {}).get("schema", {}).get("fields", ())
        }
        for name, field in output.get("facets", {}).get("columnLineage", {}).get("fields", {}).items():
            for source in field["inputFields"]:
                if (source["name"], source["field"]) in held and (output["name"], name) in held:
                    self.columns.add((source["name"], source["field"], output["name"], name))


def datasets(event: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        *(event.get("inputs") or ()),
        *(event.get("outputs") or ()),
        *([event["dataset"]] if "dataset" in event else ()),
    ]


def violations(event: dict[str, Any]) -> list[str]:
    """Return what Marquez's validation answers 422 for."""
    owners = [("job", event["job"])] if "job" in event else []
    owners += [("dataset", dataset) for dataset in datasets(event)]
    return [
        f"{kind}.facets.{facet}.{name} must not be null"
        for kind, owner in owners
        for facet, names in REQUIRED[kind].items()
        if facet in (owner.get("facets") or {}) or facet == "jobType"
        for name in names
        if (owner.get("facets") or {}).get(facet, {}).get(name) is None
    ]
