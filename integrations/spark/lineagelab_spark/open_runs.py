# SPDX-License-Identifier: Apache-2.0
"""Runs that are under way, on disk, for whoever has to end them when this process is killed."""

import json
import logging
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from openlineage.client.event_v2 import RunEvent
from openlineage.client.serde import Serde

log = logging.getLogger(__name__)


_OF_THE_END = frozenset({"eventType", "eventTime"})


class OpenRuns:
    """A file of events that end runs: run id -> event. This process writes it, others read it when it is gone.

    Events of runs that are under way lack `eventType` and `eventTime`: how the run ends is up to who ends it. An event
    that has them is the run's own end, which the lineage service has not taken yet.

    Args:
        path: None keeps nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._runs: dict[str, Mapping[str, Any]] = {}

    def keep(self, event: RunEvent) -> None:
        """Keeps a run open, with all that this event says of it."""
        said = Serde.to_dict(event)
        self._change(event.run.runId, {key: value for key, value in said.items() if key not in _OF_THE_END})

    def keep_end(self, event: RunEvent) -> None:
        """Keeps the end of a run until it is told."""
        self._change(event.run.runId, Serde.to_dict(event))

    def forget(self, run_id: str) -> None:
        """The end of the run is told."""
        self._change(run_id, None)

    def _change(self, run_id: str, event: Mapping[str, Any] | None) -> None:
        with self._lock:
            if self._runs.get(run_id) == event:
                return
            self._runs = {known: kept for known, kept in self._runs.items() if known != run_id}
            if event is not None:
                self._runs[run_id] = event
            if self._path is not None:
                self._write(self._path)

    def _write(self, path: Path) -> None:
        beside = path.with_name(f"{path.name}.new")
        try:
            beside.write_text(json.dumps(self._runs, sort_keys=True), encoding="utf-8")
            beside.replace(path)
        except OSError as error:
            log.warning("open runs cannot be kept in %s, a killed driver leaves them open: %s", path, error)
