# SPDX-License-Identifier: Apache-2.0
"""The REST interface of a Flink cluster, as the kind `FlinkJob` uses it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from infra.errors import LabError
from infra.http_client import client
from infra.model.resources import RUNNING
from infra.provider.failure import causes
from infra.provider.kind import Call

ABSENT_SECONDS = 45
"""How long a JobManager may not answer: on a busy machine one that was killed is back after half a minute."""

REQUEST_SECONDS = 30
NOT_FOUND = 404
STARTING = 503

CLUSTER_ID = "high-availability.cluster-id"

ENDED = frozenset({"FINISHED", "FAILED", "CANCELED", "SUSPENDED"})
"""States, as Flink's `JobStatus` names them, after which nothing comes."""


class Absent(LabError):
    """Nothing answers at the cluster's address."""


class Refused(LabError):
    """The cluster did not do what it was asked to."""


@dataclass(frozen=True)
class Job:
    """A job as the cluster shows it.

    Attributes:
        job_id: Flink's.
        state: Flink's word for it.
        started: milliseconds since 1970.
        tasks: how many it has.
        busy: how many of them run, or have done their part.
    """

    job_id: str
    state: str
    started: int
    tasks: int
    busy: int

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> "Job":
        """From an entry of `/jobs/overview`."""
        tasks = answer["tasks"]
        busy = int(tasks["running"]) + int(tasks["finished"])
        return cls(answer["jid"], answer["state"], int(answer["start-time"]), int(tasks["total"]), busy)

    @property
    def ended(self) -> bool:
        return self.state in ENDED

    @property
    def runs(self) -> bool:
        """Whether all of it does: a job is called running as soon as its first task is looked for."""
        return self.state == RUNNING and self.tasks > 0 and self.busy == self.tasks

    def __str__(self) -> str:
        return f"{self.state.lower()}, {self.busy} of {self.tasks} tasks run"


@dataclass(frozen=True)
class Cluster:
    """A cluster whose JobManager is at `url`; every error begins with what is done, `doing`."""

    url: str
    doing: str
    call: Call

    def identity(self) -> str:
        """What the cluster's configuration calls it."""
        entries = self._ask("GET", "/jobmanager/config")
        return next((str(entry["value"]) for entry in entries if entry["key"] == CLUSTER_ID), "")

    def jobs(self, name: str) -> list[Job]:
        """The jobs of a name, the newest first. A cluster forgets those that ended an hour ago."""
        found = [Job.of(entry) for entry in self._ask("GET", "/jobs/overview")["jobs"] if entry["name"] == name]
        return sorted(found, key=lambda job: job.started, reverse=True)

    def has_ended(self, job_id: str) -> bool:
        """Whether a job is over, or forgotten."""
        found = self._ask("GET", f"/jobs/{job_id}/status", gone={"status": "FINISHED"})
        return found["status"] in ENDED

    def reason(self, job_id: str) -> str:
        """Why a job's tasks failed the last time, as lines; empty where none did."""
        found = self._ask("GET", f"/jobs/{job_id}/exceptions", gone={})
        history = (found.get("exceptionHistory") or {}).get("entries") or []
        trace = history[0]["stacktrace"] if history else found.get("root-exception") or ""
        return "\n    caused by ".join(causes(trace))

    def cancel(self, job_id: str) -> None:
        """Cancels a job. One that has ended, or is forgotten, is no error."""
        self._ask("PATCH", f"/jobs/{job_id}?mode=cancel", gone=None, ended=None)

    def cancel_with_savepoint(self, job_id: str) -> str | None:
        """Begins to save what a job knows and to cancel it then; returns the request's id, None where it has ended."""
        answer = self._ask("POST", f"/jobs/{job_id}/savepoints", {"cancel-job": True}, gone=None, ended=None)
        return str(answer["request-id"]) if answer else None

    def savepoint_failed(self, job_id: str, request: str) -> bool:
        """Whether a savepoint that was begun will not be made."""
        answer = self._ask("GET", f"/jobs/{job_id}/savepoints/{request}", gone=None)
        return bool(answer) and "failure-cause" in (answer.get("operation") or {})

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None, **instead: Any) -> Any:  # noqa: ANN401
        """What the cluster answers. `gone` is given where it knows no such thing, `ended` where it is too late."""
        answer = self._request(method, path, body)
        if answer.status_code == NOT_FOUND and "gone" in instead:
            return instead["gone"]
        if answer.is_client_error and "ended" in instead:
            return instead["ended"]
        if not answer.is_success:
            text = _message(answer)
            raise Refused(f"could not {self.doing}: the JobManager answered {answer.status_code}: {text}")
        return answer.json() if answer.content else None

    def _request(self, method: str, path: str, body: Mapping[str, Any] | None) -> httpx.Response:
        last = ""
        for _ in self.call.poll(ABSENT_SECONDS):
            try:
                answer = client().request(method, self.url + path, json=body, timeout=REQUEST_SECONDS)
            except httpx.TransportError as error:  # it starts, or was killed while it answered
                last = f"{type(error).__name__} {error}"
                continue
            if answer.status_code != STARTING:
                return answer
            last = _message(answer)
        raise Absent(
            f"could not {self.doing}: no JobManager answers at {self.url} ({last}). See: lab logs flink_jobmanager"
        )


def _message(answer: httpx.Response) -> str:
    """The first line of what Flink says, without its stack trace's frames."""
    try:
        errors = [str(error) for error in answer.json()["errors"] if str(error).strip()]
    except (ValueError, KeyError, TypeError):
        return answer.text[:500]
    return "; ".join(cause for error in errors for cause in causes(error))[:1000]
