# SPDX-License-Identifier: Apache-2.0
"""End of a run whose terminal event is refused: a small event of the service in its place.

An event that is too large, or has a name that the rules refuse, must not leave its run open. Its datasets are not
known, so that a run that ended this way removes no edge.
"""

import hashlib
import json
from typing import Literal

import msgspec

from lineage.events.ids import JsonObject
from lineage.events.own_facets import PRODUCER, REFUSED_FACET, own_facet_schema
from lineage.events.standard_facets import event_schema
from lineage.events.timestamps import format_time, parse_time

_RUN_EVENT = event_schema("RunEvent")


class _Run(msgspec.Struct):
    runId: str


class _Job(msgspec.Struct):
    namespace: str
    name: str


class _TerminalEvent(msgspec.Struct):
    """Parts of a terminal event that name its run; others are skipped without being built."""

    eventType: Literal["COMPLETE", "FAIL", "ABORT"]
    run: _Run
    job: _Job
    eventTime: object = None


_decoder = msgspec.json.Decoder(_TerminalEvent)


class RefusedEnd:
    """Refused terminal event. `hash` is the SHA-256 of its bytes, `time` its time in ns, None if it is unreadable."""

    def __init__(self, data: bytes, event: _TerminalEvent) -> None:
        self.data = data
        self.hash = hashlib.sha256(data).digest()
        self.run = event.run.runId.lower()
        self.time = _readable_time(event.eventTime)
        self._event = event

    def replacement(self, time: int) -> bytes:
        """Return the event that ends the run at `time` (ns), not yet validated; equal for equal arguments."""
        facet: JsonObject = {
            "_producer": PRODUCER,
            "_schemaURL": own_facet_schema(REFUSED_FACET),
            "hash": self.hash.hex(),
            "bytes": len(self.data),
        }
        event: JsonObject = {
            "eventType": self._event.eventType,
            "eventTime": format_time(time),
            "producer": PRODUCER,
            "schemaURL": _RUN_EVENT,
            "run": {"runId": self.run, "facets": {REFUSED_FACET: facet}},
            "job": {"namespace": self._event.job.namespace, "name": self._event.job.name, "facets": {}},
            "inputs": [],
            "outputs": [],
        }
        return json.dumps(event).encode()


def refused_end(data: bytes) -> RefusedEnd | None:
    """Return the end that a refused event states; None if it is none, or names no run and job."""
    try:
        return RefusedEnd(data, _decoder.decode(data))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _readable_time(stated: object) -> int | None:
    try:
        return parse_time(stated) if isinstance(stated, str) else None
    except ValueError:
        return None
