# SPDX-License-Identifier: Apache-2.0
"""Client of Flink's REST API."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from lineagelab_flink.errors import FlinkError, FlinkUnavailableError, root_cause
from lineagelab_flink.lifecycle import Job

TIMEOUT_SECONDS = 10.0
UPLOAD_SECONDS = 120.0
SAVEPOINT_SECONDS = 40.0
"""Seconds for a savepoint; less than the 60 s after which a stopping launcher is killed."""

POLL_SECONDS = 0.2

_HIDDEN = "******"
"""Value of secrets in Flink's answers."""
_NOT_FOUND = 404


class FlinkClient:
    """Client of a JobManager. Calls raise FlinkUnavailableError without a response, FlinkError for an error."""

    def __init__(self, url: str) -> None:
        self._client = httpx.Client(base_url=url, timeout=TIMEOUT_SECONDS, trust_env=False)
        self.url = url

    def move_to(self, url: str) -> None:
        """Use the JobManager at another URL from now on."""
        self._client.base_url = url
        self.url = url

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def jobs(self) -> list[tuple[str, Job]]:
        """Return name and state of each job, including ended jobs that the cluster still lists."""
        return [(str(job["name"]), job_of(job)) for job in self._get("/jobs/overview")["jobs"]]

    def version(self) -> str:
        """Return Flink's version."""
        return str(self._get("/config")["flink-version"])

    def job(self, job_id: str) -> dict[str, Any]:
        """Return the details of a job."""
        return self._get(f"/jobs/{job_id}")

    def global_parameter(self, job_id: str, name: str) -> str:
        """Return a global parameter of a job; empty where it is not set."""
        config = self._get(f"/jobs/{job_id}/config")
        return str((config.get("execution-config") or {}).get("user-config", {}).get(name, ""))

    def checkpoints(self, job_id: str) -> dict[str, Any]:
        """Return counts and latest checkpoints of a job; empty where it has none."""
        return self._get(f"/jobs/{job_id}/checkpoints", missing={})

    def exceptions(self, job_id: str) -> dict[str, Any]:
        """Return the exceptions of a job."""
        return self._get(f"/jobs/{job_id}/exceptions", missing={})

    def restarts(self, job_id: str) -> int | None:
        """Return how often the tasks of a job were restarted; None where it is unknown."""
        values = self._values(f"/jobs/{job_id}/metrics", ["numRestarts"], "value")
        return int(values["numRestarts"]) if "numRestarts" in values else None

    def metric_names(self, job_id: str, vertex: str) -> list[str]:
        """Return the names of the metrics of a vertex and its operators."""
        found = self._list(f"/jobs/{job_id}/vertices/{vertex}/subtasks/metrics", {})
        return [str(metric["id"]) for metric in found]

    def metrics(self, job_id: str, vertex: str, names: Sequence[str], how: str) -> dict[str, float]:
        """Return metrics of a vertex, aggregated over its subtasks; `how` is `sum`, `max` or `min`."""
        path = f"/jobs/{job_id}/vertices/{vertex}/subtasks/metrics"
        return self._values(path, names, how, {"agg": how})

    def cancel(self, job_id: str) -> None:
        """Cancel a job without a savepoint."""
        self._call("PATCH", f"/jobs/{job_id}", params={"mode": "cancel"})

    def stop_with_savepoint(self, job_id: str) -> str:
        """Stop a job with a savepoint in the cluster's savepoint folder; return its path.

        The job finishes, so that its sinks commit what they have written up to the savepoint.

        Raises:
            FlinkError: the savepoint failed or timed out; the job may still be running.
        """
        request = self._call("POST", f"/jobs/{job_id}/stop", json={"drain": False})["request-id"]
        deadline = time.monotonic() + SAVEPOINT_SECONDS
        while time.monotonic() < deadline:
            answer = self._get(f"/jobs/{job_id}/savepoints/{request}")
            if answer["status"]["id"] == "COMPLETED":
                return _location(answer.get("operation") or {}, job_id)
            time.sleep(POLL_SECONDS)
        raise FlinkError(f"job {job_id}: no savepoint within {SAVEPOINT_SECONDS:.0f} s")

    def setting(self, key: str) -> str:
        """Return an option of the JobManager's configuration; empty where it is not set."""
        return self.settings().get(key, "")

    def settings(self) -> dict[str, str]:
        """Return the options of the JobManager's configuration, without secrets."""
        entries: list[dict[str, Any]] = self._call("GET", "/jobmanager/config")
        return {entry["key"]: str(entry["value"]) for entry in entries if entry["value"] != _HIDDEN}

    def uploaded(self, name: str) -> str | None:
        """Return the id of the jar uploaded under a name; None for none."""
        files = self._get("/jars")["files"]
        return next((str(jar["id"]) for jar in files if jar["name"] == name), None)

    def upload(self, jar: Path, name: str) -> str:
        """Upload a jar under a name; return its id."""
        with jar.open("rb") as content:
            files = {"jarfile": (name, content, "application/x-java-archive")}
            answer = self._call("POST", "/jars/upload", files=files, timeout=UPLOAD_SECONDS)
        return str(answer["filename"]).rpartition("/")[2]

    def run(self, jar_id: str, body: Mapping[str, Any]) -> None:
        """Run an uploaded jar, which submits a job."""
        self._call("POST", f"/jars/{jar_id}/run", json=dict(body), timeout=UPLOAD_SECONDS)

    def _get(self, path: str, missing: dict[str, Any] | None = None) -> dict[str, Any]:
        answer: dict[str, Any] = self._call("GET", path, missing=missing)
        return answer

    def _list(self, path: str, params: Mapping[str, str]) -> list[dict[str, Any]]:
        answer: list[dict[str, Any]] = self._call("GET", path, params=params, missing=[])
        return answer

    def _values(
        self, path: str, names: Sequence[str], field: str, params: Mapping[str, str] | None = None
    ) -> dict[str, float]:
        if not names:
            return {}
        found = self._list(path, {"get": ",".join(names), **(params or {})})
        return {str(one["id"]): float(one[field]) for one in found if _is_number(one.get(field))}

    def _call(self, method: str, path: str, *, missing: Any = None, **more: Any) -> Any:  # noqa: ANN401 - any JSON
        try:
            answer = self._client.request(method, path, **more)
        except httpx.HTTPError as error:
            message = f"Flink at {self.url} did not respond: {error}"
            raise FlinkUnavailableError(message, is_gone=_is_refused(error)) from error
        if answer.status_code == _NOT_FOUND and missing is not None:
            return missing
        if not answer.is_success:
            raise FlinkError(f"Flink at {self.url} rejected {method} {path}: {_reason(answer)}")
        return answer.json()


def job_of(found: Mapping[str, Any]) -> Job:
    """Return a job from an entry of `/jobs/overview`."""
    tasks = found["tasks"]
    return Job(
        job_id=str(found["jid"]),
        started=int(found["start-time"]),
        state=str(found["state"]),
        ended=int(found["end-time"]) if int(found["end-time"]) >= 0 else None,
        tasks=int(tasks["total"]),
        running=int(tasks["running"]) + int(tasks["finished"]),
        waiting=int(tasks["created"]) + int(tasks["scheduled"]),
    )


def _location(operation: Mapping[str, Any], job_id: str) -> str:
    if "location" in operation:
        return str(operation["location"])
    cause = root_cause(str((operation.get("failure-cause") or {}).get("stack-trace", "")))
    raise FlinkError(f"job {job_id}: no savepoint: {cause}")


def _reason(answer: httpx.Response) -> str:
    try:
        errors = answer.json().get("errors") or []
    except (ValueError, AttributeError):
        errors = []
    return root_cause("\n".join(map(str, errors))) if errors else f"HTTP status {answer.status_code}"


def _is_refused(error: BaseException | None) -> bool:
    """Return whether a connection was refused: httpx wraps the socket's error several times."""
    while error is not None:
        if isinstance(error, ConnectionRefusedError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_number(value: object) -> bool:
    try:
        return value is not None and float(str(value)) == float(str(value))
    except ValueError:
        return False
