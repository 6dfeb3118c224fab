# SPDX-License-Identifier: Apache-2.0
"""The REST interface of a Kafka Connect worker, as the kind `Connector` uses it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from infra.errors import LabError
from infra.http_client import client
from infra.provider.failure import causes
from infra.provider.kind import Call

REBALANCE_SECONDS = 60
"""How long the worker may be busy with a rebalance, or with its own restart, before a request is given up."""

ABSENT_SECONDS = 45
"""How long nothing may listen at its port: on a busy machine a worker that was killed is back after half a minute."""

REQUEST_SECONDS = 95
"""The worker itself gives up a request, a validation that waits for a database for instance, after 90 s."""

MISSING_CLASS = "Failed to find any class"
NOT_FOUND = 404
REBALANCING = 409
REBALANCE = "rebalance is expected"
"""In a message with status 500: a request that was waiting when a rebalance began."""

TIMED_OUT = "Request timed out"
"""In a message with status 500: nobody took the request, as the worker is cut off from its broker."""

STARTING = 503


class Absent(LabError):
    """Nothing answers at the worker's address."""


class Refused(LabError):
    """The worker did not do what it was asked to."""


class CutOff(Refused):
    """The worker has lost its broker, and can neither do nor say anything until that is back."""


@dataclass(frozen=True)
class Task:
    """A task's state, and its stack trace where it failed."""

    number: int
    state: str
    trace: str = ""


@dataclass(frozen=True)
class Status:
    """A connector's state in Connect's words, its stack trace where it failed, and its tasks."""

    state: str
    trace: str = ""
    tasks: tuple[Task, ...] = ()

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> "Status":
        """From the answer of `/connectors/NAME/status`. Of a state that is over, the trace is still there."""

        def trace(part: Mapping[str, Any]) -> str:
            return str(part.get("trace", "")) if part["state"] == "FAILED" else ""

        tasks = tuple(Task(int(task["id"]), str(task["state"]), trace(task)) for task in answer["tasks"])
        return cls(str(answer["connector"]["state"]), trace(answer["connector"]), tasks)

    @property
    def word(self) -> str:
        """FAILED where anything failed, PAUSED, STOPPED, RUNNING where all of it runs, else STARTING."""
        states = {self.state, *(task.state for task in self.tasks)}
        if "FAILED" in states:
            return "FAILED"
        if self.state in {"PAUSED", "STOPPED"}:
            return self.state
        return "RUNNING" if states == {"RUNNING"} and self.tasks else "STARTING"

    @property
    def traces(self) -> dict[str, str]:
        """What failed, by who it was."""
        own = {"the connector": self.trace} if self.trace else {}
        return own | {f"task {task.number}": task.trace for task in self.tasks if task.state == "FAILED"}

    def failure(self) -> str:
        """The reasons of the failure, one line each, the same reason once."""
        lines: dict[str, str] = {}
        for who, trace in self.traces.items():
            reasons = "\n    caused by ".join(causes(trace)) or "without a reason"
            lines[reasons] = f"{lines[reasons]}, {who}" if reasons in lines else who
        return "\n".join(f"  {who}: {reasons}" for reasons, who in lines.items())


@dataclass(frozen=True)
class Worker:
    """A worker at `url`; every error begins with what is done, `doing`.

    A worker that is rebalancing or restarting is asked again.
    """

    url: str
    doing: str
    call: Call

    def cluster(self) -> str:
        """The id of the Kafka cluster that it works for."""
        return str(self._ask("GET", "/")["kafka_cluster_id"])

    def config(self, name: str) -> dict[str, str] | None:
        """A connector's configuration, None where there is no such connector."""
        found = self._ask("GET", f"/connectors/{name}/config", gone=None)
        return {key: str(value) for key, value in found.items() if key != "name"} if found is not None else None

    def status(self, name: str) -> Status | None:
        """A connector's status; None where there is none, or none yet."""
        found = self._ask("GET", f"/connectors/{name}/status", gone=None)
        return Status.of(found) if found is not None else None

    def put(self, name: str, config: Mapping[str, str]) -> None:
        """Creates the connector, or changes its configuration."""
        self._ask("PUT", f"/connectors/{name}/config", dict(config))

    def resume(self, name: str) -> None:
        """Lets a paused or stopped connector run."""
        self._ask("PUT", f"/connectors/{name}/resume")

    def restart_failed(self, name: str) -> None:
        """Starts again what failed, connector or tasks, and nothing else."""
        self._ask("POST", f"/connectors/{name}/restart?includeTasks=true&onlyFailed=true")

    def delete(self, name: str) -> None:
        """Removes the connector. What it has read so far is remembered under its name."""
        self._ask("DELETE", f"/connectors/{name}", gone=None)

    def plugins(self) -> list[str]:
        """The classes of all connectors that the worker has."""
        return sorted(str(plugin["class"]) for plugin in self._ask("GET", "/connector-plugins"))

    def validate(self, name: str, config: Mapping[str, str]) -> list[dict[str, Any]] | None:
        """What the connector says to each option that it knows; None where the worker has no such class."""
        path = f"/connector-plugins/{config['connector.class']}/config/validate"
        answer = self._request("PUT", path, {**config, "name": name})
        if answer.is_success:
            return list(answer.json()["configs"])
        if MISSING_CLASS in answer.text:
            return None
        raise self._refusal(answer)

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None, **gone: Any) -> Any:  # noqa: ANN401
        answer = self._request(method, path, body)
        if answer.status_code == NOT_FOUND and "gone" in gone:
            return gone["gone"]
        if not answer.is_success:
            raise self._refusal(answer)
        return answer.json() if answer.content else None

    def _request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> httpx.Response:
        """The worker's answer, once it is in a state to give one."""
        absent = 0.0
        last = "it gave no answer"
        for _ in self.call.poll(REBALANCE_SECONDS):
            try:
                answer = client().request(method, self.url + path, json=body, timeout=REQUEST_SECONDS)
            except httpx.ConnectError as error:
                absent += 0.1
                if absent > ABSENT_SECONDS:
                    raise Absent(f"could not {self.doing}: no Kafka Connect answers at {self.url}") from error
                continue
            except (httpx.NetworkError, httpx.RemoteProtocolError) as error:  # it was killed while it answered
                last = str(error)
                continue
            except httpx.HTTPError as error:
                raise Refused(f"could not {self.doing}: {type(error).__name__} {error}") from error
            absent = 0.0
            if not _is_busy(answer):
                return answer
            last = _message(answer)
        raise Refused(f"could not {self.doing}: the worker at {self.url} was busy for {REBALANCE_SECONDS} s: {last}")

    def _refusal(self, answer: httpx.Response) -> Refused:
        message = _message(answer)
        kind = CutOff if answer.is_server_error and message.startswith(TIMED_OUT) else Refused
        return kind(f"could not {self.doing}: the worker answered {answer.status_code}: {message}")


def _is_busy(answer: httpx.Response) -> bool:
    """Whether it is worth asking again: it rebalances, which it says in two ways, or its web server alone is up."""
    if answer.content and not answer.headers.get("content-type", "").startswith("application/json"):
        return True
    return answer.status_code in {REBALANCING, STARTING} or (answer.is_server_error and REBALANCE in _message(answer))


def _message(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["message"])
    except (ValueError, KeyError, TypeError):
        return answer.text
