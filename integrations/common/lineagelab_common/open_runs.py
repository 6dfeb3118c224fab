# SPDX-License-Identifier: Apache-2.0
"""File of a process's open runs, from which its launcher or the next process sends terminal events if it is killed.

The file maps run ids to events. An event without `eventType` is an open run, complete but for its end. If it has
`eventTime`, the run started then and its START may not have been sent. An event with `eventType` is a terminal event
that the lineage service has not accepted yet.
"""

import json
import logging
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from lineagelab_common.events import EventWriter, Json
from lineagelab_common.files import remove_file, replace_file
from lineagelab_common.spool import is_event

EndType = Literal["COMPLETE", "FAIL", "ABORT"]

_STATE = frozenset({"eventType", "eventTime"})

log = logging.getLogger(__name__)


class OpenRuns:
    """Writer of a file of open runs; write errors are logged.

    Args:
        path: file to write; None disables it.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._runs: dict[str, Json] = {}

    def store(self, event: Json) -> None:
        """Store a run as open, with the contents of its latest event."""
        self._change(event["run"]["runId"], {key: value for key, value in event.items() if key not in _STATE})

    def store_unreported(self, run: Json, began: str) -> None:
        """Store an open run whose START was not sent; `began` is its event time."""
        self._change(run["run"]["runId"], {**run, "eventTime": began})

    def store_terminal_event(self, event: Json) -> None:
        """Store the terminal event of a run until it is accepted."""
        self._change(event["run"]["runId"], event)

    def remove(self, run_id: str) -> None:
        """Remove a run whose terminal event was accepted."""
        self._change(run_id, None)

    def _change(self, run_id: str, event: Json | None) -> None:
        with self._lock:
            if self._runs.get(run_id) == event:
                return
            self._runs = {known: kept for known, kept in self._runs.items() if known != run_id}
            if event is not None:
                self._runs[run_id] = event
            if self._path is not None:
                self._write(self._path)

    def _write(self, path: Path) -> None:
        try:
            replace_file(path, json.dumps(self._runs, sort_keys=True))
        except OSError as error:
            log.warning("cannot write %s; if this process is killed, its lineage runs stay open: %s", path, error)


def take_terminal_events(path: Path, event_type: EndType, reason: str, time: str) -> list[Json]:
    """Remove the file of an exited process, and return the terminal events of its runs."""
    found = _load(path)
    remove_file(path)
    events = [event for event in found.values() if is_event(event) and "run" in event]
    return [ending for event in events for ending in terminal_events(event, event_type, reason, time)]


def terminal_events(event: Json, event_type: EndType, reason: str, time: str) -> list[Json]:
    """Return the terminal event of one run, preceded by START if that may not have been sent."""
    if "eventType" in event:
        return [event]
    start = [{**event, "eventType": "START"}] if "eventTime" in event else []
    facets = dict(event["run"].get("facets") or {})
    if event_type == "FAIL":
        facets["errorMessage"] = EventWriter(str(event.get("producer", ""))).error(reason, "Python")
    return [*start, {**event, "eventType": event_type, "eventTime": time, "run": {**event["run"], "facets": facets}}]


def _load(path: Path) -> Mapping[str, Json]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(found, dict):
            raise ValueError("not an object")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        log.warning("cannot read the open lineage runs in %s, they stay open: %s", path, error)
        return {}
    return found
