# SPDX-License-Identifier: Apache-2.0
"""Lineage runs as the launcher knows them: which are under way, and how they are ended from outside.

An open run is kept as the event that would end it, without `eventType`, so that whoever finds it can say the end with
all that was known; one with an `eventType` is an end that the service could not be told. The driver keeps its streaming
queries' runs so (`lineagelab_spark`), the launcher its application's, with the time at which it began.
"""

import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path
from typing import Any, Literal
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

PRODUCER = "urn:lineage-lab:jobs:spark"
SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
ERROR_MESSAGE = "https://openlineage.io/spec/facets/1-0-1/ErrorMessageRunFacet.json#/$defs/ErrorMessageRunFacet"
JOB_TYPE = "https://openlineage.io/spec/facets/2-0-4/JobTypeJobFacet.json#/$defs/JobTypeJobFacet"

TIMEOUT_SECONDS = 2.0
"""For an answer of the lineage service, when a driver has failed."""

MOST_UNTOLD = 1000
"""Events that are kept for a service that stays away."""

_NOT_FOUND = 404
_CLIENT_ERRORS = range(400, 500)

Event = dict[str, Any]

EndingType = Literal["FAIL", "ABORT"]


@dataclass(frozen=True)
class Run:
    """The run of an application."""

    namespace: str
    job: str
    run_id: str
    began: str

    @classmethod
    def begin(cls, namespace: str, job: str) -> "Run":
        """A run that begins now."""
        return cls(namespace, job, uuid7(time.time_ns(), os.urandom(10)), _now())

    @property
    def as_parent(self) -> str:
        """As `OPENLINEAGE_PARENT_ID` has it."""
        return f"{self.namespace}/{self.job}/{self.run_id}"

    @property
    def event(self) -> Event:
        """All that is known of the run, and nothing of how it stands."""
        job_type = {
            "_producer": PRODUCER,
            "_schemaURL": JOB_TYPE,
            "processingType": "NONE",
            "integration": "SPARK",
            "jobType": "APPLICATION",
        }
        return {
            "producer": PRODUCER,
            "schemaURL": SCHEMA,
            "run": {"runId": self.run_id, "facets": {}},
            "job": {"namespace": self.namespace, "name": self.job, "facets": {"jobType": job_type}},
            "inputs": [],
            "outputs": [],
        }


@dataclass(frozen=True)
class OpenRuns:
    """A file of open runs: run id -> event. There is none where nothing is open."""

    path: Path

    def keep(self, run: Run) -> None:
        """Replaces what the file has by one run."""
        _write(self.path, {run.run_id: {**run.event, "eventTime": run.began}})

    def forget(self) -> None:
        """Nothing is open any more."""
        self.path.unlink(missing_ok=True)

    def endings(self, event_type: EndingType, why: str) -> list[Event]:
        """The events that end what is open now. A run whose beginning is known gets its START before."""
        return [said for event in self._load() for said in _endings(event, event_type, why, _now())]

    def _load(self) -> list[Event]:
        found = _read(self.path)
        events = list(found.values()) if isinstance(found, dict) else []
        return [event for event in events if _names_its_run(event)]


@dataclass(frozen=True)
class Untold:
    """A file of events that a lineage service could not be told yet, oldest first."""

    path: Path

    def tell(self, url: str, more: Sequence[Event]) -> None:
        """Sends what is in the file and then `more`; what a service that is away cannot be told is kept.

        Nothing is raised: a job ends as it ends, whether its lineage can be told or not.
        """
        found = _read(self.path)
        kept = [event for event in found if _names_its_run(event)] if isinstance(found, list) else []
        left = [event for event in (*kept, *more) if not _tell(url, event)]
        if left:
            _write(self.path, left[-MOST_UNTOLD:])
        else:
            self.path.unlink(missing_ok=True)


def terminal(event: Event, event_type: EndingType, why: str, when: str) -> Event:
    """The event that ends a run. One that failed says why."""
    facets = dict(event["run"].get("facets") or {})
    if event_type == "FAIL":
        facets["errorMessage"] = {
            "_producer": PRODUCER,
            "_schemaURL": ERROR_MESSAGE,
            "message": why,
            "programmingLanguage": "Python",
        }
    run = {**event["run"], "facets": facets}
    return {**event, "eventType": event_type, "eventTime": when, "run": run}


def parent_of(text: str) -> tuple[str, str, str] | None:
    """Namespace, job and run of an `OPENLINEAGE_PARENT_ID`; None where there is none. A namespace may have slashes."""
    parts = text.rsplit("/", 2)
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 and all(parts) else None


def uuid7(nanoseconds: int, random: bytes) -> str:
    """A UUID of version 7: it sorts by time, given in nanoseconds since 1970; `random` is 10 bytes."""
    data = bytearray((nanoseconds // 10**6).to_bytes(6, "big") + random)
    data[6] = data[6] & 0x0F | 0x70
    data[8] = data[8] & 0x3F | 0x80
    text = data.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _endings(event: Event, event_type: EndingType, why: str, when: str) -> list[Event]:
    if "eventType" in event:
        return [event]
    start = [{**event, "eventType": "START"}] if "eventTime" in event else []
    return [*start, terminal(event, event_type, why, when)]


def _tell(url: str, event: Event) -> bool:
    """Whether nothing more is to be done about an event: it was told, was known, or will never be taken."""
    run_id = event["run"]["runId"]
    try:
        if event["eventType"] != "START" or not _is_known(url, run_id):
            _post(url, event)
    except (OSError, HTTPException) as error:
        what = f"{event['eventType']} of run {run_id} of {event['job']['name']}"
        print(f"{what} could not be told to {url}: {error}", file=sys.stderr)
        return _is_refusal(error)
    return True


def _read(path: Path) -> object:
    """What a file holds; None where it is not there, or damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        print(f"the lineage runs in {path} cannot be read, and are given up: {error}", file=sys.stderr)
        return None


def _write(path: Path, content: object) -> None:
    """Replaces a file as a whole."""
    beside = path.with_name(f"{path.name}.new")
    try:
        beside.write_text(json.dumps(content), encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        print(f"lineage runs cannot be kept in {path}, the job goes on without: {error}", file=sys.stderr)


def _names_its_run(event: object) -> bool:
    if not isinstance(event, dict):
        return False
    run, job = event.get("run"), event.get("job")
    return isinstance(run, dict) and isinstance(job, dict) and "runId" in run and "name" in job


def _is_refusal(error: Exception) -> bool:
    """Whether the service has looked at an event and will never take it."""
    return isinstance(error, HTTPError) and error.code in _CLIENT_ERRORS


def _is_known(url: str, run_id: str) -> bool:
    try:
        _ask(Request(f"{url}/api/v1/jobs/runs/{run_id}"))
    except HTTPError as error:
        with error:
            if error.code == _NOT_FOUND:
                return False
            raise
    return True


def _post(url: str, event: Event) -> None:
    body = json.dumps(event).encode()
    _ask(Request(f"{url}/api/v1/lineage", data=body, headers={"Content-Type": "application/json"}))


def _ask(request: Request) -> None:
    with build_opener(ProxyHandler({})).open(request, timeout=TIMEOUT_SECONDS) as reply:
        reply.read()
