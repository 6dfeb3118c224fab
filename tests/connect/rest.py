# SPDX-License-Identifier: Apache-2.0
"""Client of a Connect worker's REST API that retries during rebalances."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

TIMEOUT_SECONDS = 300
POLL_SECONDS = 0.05
_RETRIABLE_MESSAGES = ("rebalance", "trying to forward")
"""In error messages to retry on: during a rebalance, and after the leader of the group has died."""


def until(read: Callable[[], Any], description: str, seconds: float = TIMEOUT_SECONDS) -> Any:
    """Poll until `read` returns a true value; return it.

    Raises:
        AssertionError: timeout; the message has `description` and the last value.
    """
    deadline = time.monotonic() + seconds
    while not (value := read()):
        assert time.monotonic() < deadline, f"timeout of {seconds} s waiting for {description}; last value: {value!r}"
        time.sleep(POLL_SECONDS)
    return value


@dataclass(frozen=True)
class Rest:
    """REST API at `url`."""

    url: str

    def create(self, name: str, config: Mapping[str, object], initial_state: str = "RUNNING") -> None:
        """Create a connector."""
        content = {"name": name, "config": _texts(config), "initial_state": initial_state}
        self._request("POST", "", content)

    def configure(self, name: str, config: Mapping[str, object]) -> None:
        """Change the configuration of a connector."""
        self._request("PUT", f"/{name}/config", _texts(config))

    def pause(self, name: str) -> None:
        """Pause a connector; its tasks stay assigned."""
        self._request("PUT", f"/{name}/pause")

    def resume(self, name: str) -> None:
        """Resume a paused or stopped connector."""
        self._request("PUT", f"/{name}/resume")

    def stop(self, name: str) -> None:
        """Stop a connector; its tasks are removed."""
        self._request("PUT", f"/{name}/stop")

    def restart(self, name: str) -> None:
        """Restart a connector and all of its tasks."""
        self._request("POST", f"/{name}/restart?includeTasks=true")

    def restart_task(self, name: str, task: int = 0) -> None:
        """Restart one task."""
        self._request("POST", f"/{name}/tasks/{task}/restart")

    def delete(self, name: str) -> None:
        """Delete a connector if it exists."""
        self._request("DELETE", f"/{name}", missing_ok=True)

    def names(self) -> list[str]:
        """Return the names of all connectors."""
        return list(self._request("GET", "").json())

    def states(self, name: str) -> list[str]:
        """Return the states of a connector and its tasks; empty if there is none yet."""
        answer = self._request("GET", f"/{name}/status", missing_ok=True)
        if answer.status_code == httpx.codes.NOT_FOUND:
            return []
        status = answer.json()
        return [status["connector"]["state"], *(task["state"] for task in status["tasks"])]

    def workers(self, name: str) -> set[str]:
        """Return the ids of the workers that run its tasks."""
        return {task["worker_id"] for task in self._request("GET", f"/{name}/status").json()["tasks"]}

    def await_states(self, name: str, *wanted: str) -> None:
        """Wait until connector and tasks are in these states."""
        until(lambda: self.states(name) == list(wanted), f"{name} to be {wanted}")

    def _request(self, method: str, path: str, content: object = None, missing_ok: bool = False) -> httpx.Response:
        address = f"{self.url}/connectors{path}"

        def answer() -> httpx.Response | None:
            found = httpx.request(method, address, json=content, timeout=TIMEOUT_SECONDS, trust_env=False)
            is_retriable = any(words in found.text for words in _RETRIABLE_MESSAGES)
            is_busy = found.status_code == httpx.codes.SERVICE_UNAVAILABLE or (found.is_error and is_retriable)
            return None if is_busy else found

        found: httpx.Response = until(answer, f"{method} {address} to succeed outside a rebalance")
        if not (missing_ok and found.status_code == httpx.codes.NOT_FOUND):
            assert found.is_success, f"{method} {address}: {found.status_code} {found.text}"
        return found


def _texts(config: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in config.items()}
