# SPDX-License-Identifier: Apache-2.0
"""The REST interface of a Kafka Connect worker, as the kind `Connector` uses it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from infra.errors import LabError
from infra.http_client import client
from infra.provider.failure import causes
from infra.provider.kind import OperationContext

REBALANCE_SECONDS = 60
"""Time limit of a request to a worker that is rebalancing or restarting."""

UNREACHABLE_SECONDS = 45
"""Time limit for connecting: on a busy machine a killed worker listens again after 30 s."""

REQUEST_SECONDS = 95
"""HTTP timeout; the worker aborts a request (for example a validation that waits for a database) after 90 s."""

MISSING_CLASS = "Failed to find any class"
NOT_FOUND = 404
REBALANCING = 409
REBALANCE = "rebalance is expected"
"""In the message of a status 500: the request was pending when a rebalance began."""

TIMED_OUT = "Request timed out"
"""In the message of a status 500: the worker has no connection to its broker."""

STARTING = 503


class WorkerUnreachable(LabError):
    """No Kafka Connect worker listens at the address."""


class RequestRejected(LabError):
    """The worker rejected a request or failed to complete it."""


class BrokerUnreachable(RequestRejected):
    """The worker has lost its broker and answers no request until the connection is back."""


@dataclass(frozen=True)
class ConnectorTask:
    """State of a connector task; `trace` is the stack trace of a failed one."""

    number: int
    state: str
    trace: str = ""


@dataclass(frozen=True)
class ConnectorStatus:
    """State of a connector as Connect names it, the stack trace of a failed connector, and its tasks."""

    state: str
    trace: str = ""
    tasks: tuple[ConnectorTask, ...] = ()

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> "ConnectorStatus":
        """Parse a response of `/connectors/NAME/status`, which keeps the trace of an earlier failure."""

        def trace(part: Mapping[str, Any]) -> str:
            return str(part.get("trace", "")) if part["state"] == "FAILED" else ""

        tasks = tuple(ConnectorTask(int(task["id"]), str(task["state"]), trace(task)) for task in answer["tasks"])
        return cls(str(answer["connector"]["state"]), trace(answer["connector"]), tasks)

    @property
    def overall_state(self) -> str:
        """FAILED if the connector or a task failed, PAUSED, STOPPED, RUNNING if all tasks run, else STARTING."""
        states = {self.state, *(task.state for task in self.tasks)}
        if "FAILED" in states:
            return "FAILED"
        if self.state in {"PAUSED", "STOPPED"}:
            return self.state
        return "RUNNING" if states == {"RUNNING"} and self.tasks else "STARTING"

    @property
    def traces(self) -> dict[str, str]:
        """Stack traces of the failed parts, by `the connector` or `task N`."""
        own = {"the connector": self.trace} if self.trace else {}
        return own | {f"task {task.number}": task.trace for task in self.tasks if task.state == "FAILED"}

    def failure(self) -> str:
        """Return the causes of the failure as lines, equal causes merged."""
        lines: dict[str, str] = {}
        for who, trace in self.traces.items():
            reasons = "\n    caused by ".join(causes(trace)) or "without a reason"
            lines[reasons] = f"{lines[reasons]}, {who}" if reasons in lines else who
        return "\n".join(f"  {who}: {reasons}" for reasons, who in lines.items())


@dataclass(frozen=True)
class ConnectWorker:
    """Client of the worker at `url`; errors begin with `could not {action}`.

    Requests are retried while the worker rebalances or restarts.
    """

    url: str
    action: str
    call: OperationContext

    def cluster(self) -> str:
        """Return the id of the Kafka cluster that the worker is connected to."""
        return str(self._request_json("GET", "/")["kafka_cluster_id"])

    def config(self, name: str) -> dict[str, str] | None:
        """Return a connector's configuration, None if it does not exist."""
        found = self._request_json("GET", f"/connectors/{name}/config", not_found=None)
        return {key: str(value) for key, value in found.items() if key != "name"} if found is not None else None

    def status(self, name: str) -> ConnectorStatus | None:
        """Return a connector's status; None if it does not exist or has no status yet."""
        found = self._request_json("GET", f"/connectors/{name}/status", not_found=None)
        return ConnectorStatus.of(found) if found is not None else None

    def put(self, name: str, config: Mapping[str, str]) -> None:
        """Create the connector or change its configuration."""
        self._request_json("PUT", f"/connectors/{name}/config", dict(config))

    def resume(self, name: str) -> None:
        """Resume a paused or stopped connector."""
        self._request_json("PUT", f"/connectors/{name}/resume")

    def restart_failed(self, name: str) -> None:
        """Restart the connector or the tasks that failed, and only those."""
        self._request_json("POST", f"/connectors/{name}/restart?includeTasks=true&onlyFailed=true")

    def delete(self, name: str) -> None:
        """Delete the connector. Connect keeps its offsets under its name."""
        self._request_json("DELETE", f"/connectors/{name}", not_found=None)

    def plugins(self) -> list[str]:
        """Return the classes of all installed connectors, sorted."""
        return sorted(str(plugin["class"]) for plugin in self._request_json("GET", "/connector-plugins"))

    def validate(self, name: str, config: Mapping[str, str]) -> list[dict[str, Any]] | None:
        """Return the validation result of each option; None if the connector class is not installed."""
        path = f"/connector-plugins/{config['connector.class']}/config/validate"
        answer = self._request("PUT", path, {**config, "name": name})
        if answer.is_success:
            return list(answer.json()["configs"])
        if MISSING_CLASS in answer.text:
            return None
        raise self._rejection(answer)

    def _request_json(self, method: str, path: str, body: Mapping[str, Any] | None = None, **default: Any) -> Any:  # noqa: ANN401
        """Return the response's JSON; the argument `not_found`, if given, for a status 404."""
        answer = self._request(method, path, body)
        if answer.status_code == NOT_FOUND and "not_found" in default:
            return default["not_found"]
        if not answer.is_success:
            raise self._rejection(answer)
        return answer.json() if answer.content else None

    def _request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> httpx.Response:
        """Return the worker's response, retried while it restarts or rebalances."""
        absent = 0.0
        last = "no response"
        for _ in self.call.poll(REBALANCE_SECONDS):
            try:
                answer = client().request(method, self.url + path, json=body, timeout=REQUEST_SECONDS)
            except httpx.ConnectError as error:
                absent += 0.1
                if absent > UNREACHABLE_SECONDS:
                    raise WorkerUnreachable(
                        f"could not {self.action}: no Kafka Connect worker listens at {self.url}"
                    ) from error
                continue
            except (httpx.NetworkError, httpx.RemoteProtocolError) as error:  # killed while it responded
                last = str(error)
                continue
            except httpx.HTTPError as error:
                raise RequestRejected(f"could not {self.action}: {type(error).__name__} {error}") from error
            absent = 0.0
            if not _is_busy(answer):
                return answer
            last = _error_message(answer)
        raise RequestRejected(
            f"could not {self.action}: the worker at {self.url} was rebalancing or restarting "
            f"for {REBALANCE_SECONDS} s: {last}"
        )

    def _rejection(self, answer: httpx.Response) -> RequestRejected:
        message = _error_message(answer)
        kind = BrokerUnreachable if answer.is_server_error and message.startswith(TIMED_OUT) else RequestRejected
        return kind(f"could not {self.action}: the worker responded with status {answer.status_code}: {message}")


def _is_busy(answer: httpx.Response) -> bool:
    """Return whether a retry can succeed: a rebalance (409, or a 500), or only the web server has started (no JSON)."""
    if answer.content and not answer.headers.get("content-type", "").startswith("application/json"):
        return True
    return answer.status_code in {REBALANCING, STARTING} or (
        answer.is_server_error and REBALANCE in _error_message(answer)
    )


def _error_message(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["message"])
    except (ValueError, KeyError, TypeError):
        return answer.text
