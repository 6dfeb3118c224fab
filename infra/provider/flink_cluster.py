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
from infra.provider.kind import OperationContext

UNREACHABLE_SECONDS = 45
"""Time limit for connecting: on a busy machine a killed JobManager responds again after 30 s."""

REQUEST_SECONDS = 30
NOT_FOUND = 404
STARTING = 503

CLUSTER_ID = "high-availability.cluster-id"

ENDED = frozenset({"FINISHED", "FAILED", "CANCELED", "SUSPENDED"})
"""Terminal states of Flink's `JobStatus`."""


class ClusterUnreachable(LabError):
    """No JobManager responds at the address."""


class RequestRejected(LabError):
    """The cluster rejected a request."""


@dataclass(frozen=True)
class ClusterJob:
    """A job as the cluster reports it.

    Attributes:
        job_id: Flink's job id.
        state: Flink's `JobStatus`.
        started: milliseconds since 1970.
        tasks: number of its tasks.
        active: number of its tasks that are running or finished.
    """

    job_id: str
    state: str
    started: int
    tasks: int
    active: int

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> "ClusterJob":
        """Parse an entry of `/jobs/overview`."""
        tasks = answer["tasks"]
        active = int(tasks["running"]) + int(tasks["finished"])
        return cls(
            job_id=answer["jid"],
            state=answer["state"],
            started=int(answer["start-time"]),
            tasks=int(tasks["total"]),
            active=active,
        )

    @property
    def ended(self) -> bool:
        return self.state in ENDED

    @property
    def runs(self) -> bool:
        """True if all tasks run: Flink reports RUNNING as soon as the first task is scheduled."""
        return self.state == RUNNING and self.tasks > 0 and self.active == self.tasks

    def __str__(self) -> str:
        return f"{self.state.lower()}, {self.active} of {self.tasks} tasks running"


@dataclass(frozen=True)
class FlinkCluster:
    """Client of the JobManager at `url`; errors begin with `could not {action}`."""

    url: str
    action: str
    call: OperationContext

    def identity(self) -> str:
        """Return the cluster id of the cluster's configuration, empty if it has none."""
        entries = self._request_json("GET", "/jobmanager/config")
        return next((str(entry["value"]) for entry in entries if entry["key"] == CLUSTER_ID), "")

    def jobs(self, name: str) -> list[ClusterJob]:
        """Return the jobs of a name, newest first. The cluster drops jobs an hour after they ended."""
        found = [
            ClusterJob.of(entry)
            for entry in self._request_json("GET", "/jobs/overview")["jobs"]
            if entry["name"] == name
        ]
        return sorted(found, key=lambda job: job.started, reverse=True)

    def has_ended(self, job_id: str) -> bool:
        """Return whether a job is in a terminal state or no longer listed."""
        found = self._request_json("GET", f"/jobs/{job_id}/status", not_found={"status": "FINISHED"})
        return found["status"] in ENDED

    def reason(self, job_id: str) -> str:
        """Return the causes of the latest task failure as lines; empty without one."""
        found = self._request_json("GET", f"/jobs/{job_id}/exceptions", not_found={})
        history = (found.get("exceptionHistory") or {}).get("entries") or []
        trace = history[0]["stacktrace"] if history else found.get("root-exception") or ""
        return "\n    caused by ".join(causes(trace))

    def cancel(self, job_id: str) -> None:
        """Cancel a job; does nothing if it has ended or is no longer listed."""
        self._request_json("PATCH", f"/jobs/{job_id}?mode=cancel", not_found=None, ended=None)

    def stop_with_savepoint(self, job_id: str) -> str | None:
        """Trigger a savepoint with which the job finishes; return the request id, None if the job has ended.

        Sinks commit the results up to the savepoint; a cancellation with a savepoint would leave them uncommitted.
        """
        answer = self._request_json("POST", f"/jobs/{job_id}/stop", {"drain": False}, not_found=None, ended=None)
        return str(answer["request-id"]) if answer else None

    def savepoint_failed(self, job_id: str, request: str) -> bool:
        """Return whether a triggered savepoint has failed."""
        answer = self._request_json("GET", f"/jobs/{job_id}/savepoints/{request}", not_found=None)
        return bool(answer) and "failure-cause" in (answer.get("operation") or {})

    def _request_json(self, method: str, path: str, body: Mapping[str, Any] | None = None, **default: Any) -> Any:  # noqa: ANN401
        """Return the response's JSON; `not_found`, if given, for a status 404, `ended` for any other client error."""
        answer = self._request(method, path, body)
        if answer.status_code == NOT_FOUND and "not_found" in default:
            return default["not_found"]
        if answer.is_client_error and "ended" in default:
            return default["ended"]
        if not answer.is_success:
            text = _error_message(answer)
            raise RequestRejected(
                f"could not {self.action}: the JobManager responded with status {answer.status_code}: {text}"
            )
        return answer.json() if answer.content else None

    def _request(self, method: str, path: str, body: Mapping[str, Any] | None) -> httpx.Response:
        last = ""
        for _ in self.call.poll(UNREACHABLE_SECONDS):
            try:
                answer = client().request(method, self.url + path, json=body, timeout=REQUEST_SECONDS)
            except httpx.TransportError as error:  # starting, or killed while it responded
                last = f"{type(error).__name__} {error}"
                continue
            if answer.status_code != STARTING:
                return answer
            last = _error_message(answer)
        raise ClusterUnreachable(
            f"could not {self.action}: the JobManager at {self.url} did not respond within "
            f"{UNREACHABLE_SECONDS} s ({last}); see: bin/lab logs flink_jobmanager"
        )


def _error_message(answer: httpx.Response) -> str:
    """Return Flink's error message without stack frames."""
    try:
        errors = [str(error) for error in answer.json()["errors"] if str(error).strip()]
    except (ValueError, KeyError, TypeError):
        return answer.text[:500]
    return "; ".join(cause for error in errors for cause in causes(error))[:1000]
