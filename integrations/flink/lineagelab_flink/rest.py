# SPDX-License-Identifier: Apache-2.0
"""Flink's REST API, as far as a launcher needs it."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from lineagelab_flink.errors import FlinkAwayError, FlinkError, root_cause
from lineagelab_flink.lifecycle import Job

TIMEOUT_SECONDS = 10.0
UPLOAD_SECONDS = 120.0
SAVEPOINT_SECONDS = 40.0
"""For a savepoint. Whoever stops a launcher waits a minute before it is killed."""

POLL_SECONDS = 0.2
_NOT_FOUND = 404


class Rest:
    """A JobManager. Every call raises FlinkAwayError where it does not answer, FlinkError where it refuses."""

    def __init__(self, url: str) -> None:
        self._client = httpx.Client(base_url=url, timeout=TIMEOUT_SECONDS, trust_env=False)
        self.url = url

    def close(self) -> None:
        """Gives the connections back."""
        self._client.close()

    def jobs(self) -> list[tuple[str, Job]]:
        """Name and state of every job, those included that are over and not yet forgotten."""
        return [(str(job["name"]), job_of(job)) for job in self._get("/jobs/overview")["jobs"]]

    def version(self) -> str:
        """Flink's version."""
        return str(self._get("/config")["flink-version"])

    def job(self, job_id: str) -> dict[str, Any]:
        """A job's details."""
        return self._get(f"/jobs/{job_id}")

    def mark(self, job_id: str, name: str) -> str:
        """A parameter that a job was submitted with; empty where it has none of that name."""
        config = self._get(f"/jobs/{job_id}/config")
        return str((config.get("execution-config") or {}).get("user-config", {}).get(name, ""))

    def checkpoints(self, job_id: str) -> dict[str, Any]:
        """Counts of checkpoints, and the latest ones; empty where a job has none."""
        return self._get(f"/jobs/{job_id}/checkpoints", missing={})

    def exceptions(self, job_id: str) -> dict[str, Any]:
        """What a job has failed of."""
        return self._get(f"/jobs/{job_id}/exceptions", missing={})

    def restarts(self, job_id: str) -> int | None:
        """How often a job's tasks were restarted."""
        values = self._values(f"/jobs/{job_id}/metrics", ["numRestarts"], "value")
        return int(values["numRestarts"]) if "numRestarts" in values else None

    def metric_names(self, job_id: str, vertex: str) -> list[str]:
        """The metrics of a vertex and of its operators."""
        found = self._list(f"/jobs/{job_id}/vertices/{vertex}/subtasks/metrics", {})
        return [str(metric["id"]) for metric in found]

    def metrics(self, job_id: str, vertex: str, names: Sequence[str], how: str) -> dict[str, float]:
        """Metrics of a vertex over its subtasks; `how` is `sum`, `max` or `min`."""
        path = f"/jobs/{job_id}/vertices/{vertex}/subtasks/metrics"
        return self._values(path, names, how, {"agg": how})

    def cancel(self, job_id: str) -> None:
        """Asks a job to end, without a savepoint."""
        self._call("PATCH", f"/jobs/{job_id}", params={"mode": "cancel"})

    def cancel_with_savepoint(self, job_id: str) -> str:
        """Cancels a job once a savepoint is taken where the cluster puts them, and returns where that is.

        Raises:
            FlinkError: there is no savepoint, or not in time; the job may run on.
        """
        request = self._call("POST", f"/jobs/{job_id}/savepoints", json={"cancel-job": True})["request-id"]
        deadline = time.monotonic() + SAVEPOINT_SECONDS
        while time.monotonic() < deadline:
            answer = self._get(f"/jobs/{job_id}/savepoints/{request}")
            if answer["status"]["id"] == "COMPLETED":
                return _location(answer.get("operation") or {}, job_id)
            time.sleep(POLL_SECONDS)
        raise FlinkError(f"job {job_id}: no savepoint within {SAVEPOINT_SECONDS:.0f} s")

    def uploaded(self, name: str) -> str | None:
        """The id of a jar that was uploaded under this name; None where there is none."""
        files = self._get("/jars")["files"]
        return next((str(jar["id"]) for jar in files if jar["name"] == name), None)

    def upload(self, jar: Path, name: str) -> str:
        """Uploads a jar under a name, and returns its id."""
        with jar.open("rb") as content:
            files = {"jarfile": (name, content, "application/x-java-archive")}
            answer = self._call("POST", "/jars/upload", files=files, timeout=UPLOAD_SECONDS)
        return str(answer["filename"]).rpartition("/")[2]

    def run(self, jar_id: str, body: Mapping[str, Any]) -> None:
        """Submits the job that a jar makes."""
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
            raise FlinkAwayError(f"Flink at {self.url} does not answer: {error}") from error
        if answer.status_code == _NOT_FOUND and missing is not None:
            return missing
        if not answer.is_success:
            raise FlinkError(f"Flink at {self.url} refuses {method} {path}: {_reason(answer)}")
        return answer.json()


def job_of(found: Mapping[str, Any]) -> Job:
    """A job as `/jobs/overview` shows it."""
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
    return root_cause("\n".join(map(str, errors))) if errors else f"it answers {answer.status_code}"


def _is_number(value: object) -> bool:
    try:
        return value is not None and float(str(value)) == float(str(value))
    except ValueError:
        return False
