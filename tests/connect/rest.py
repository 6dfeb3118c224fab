# SPDX-License-Identifier: Apache-2.0
"""A Connect worker's REST interface, as tests use it: asked again while the worker rebalances."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

PATIENCE_SECONDS = 90
BETWEEN_QUESTIONS = 0.05
_PASSING = ("rebalance", "trying to forward")
"""In the messages of refusals that are none: in a rebalance, and where the group's leader has just died."""


def until(ask: Callable[[], Any], what: str, seconds: float = PATIENCE_SECONDS) -> Any:
    """The first answer that is true.

    Raises:
        AssertionError: there was none in time; it says what was waited for, and the last answer.
    """
    give_up = time.monotonic() + seconds
    while not (answer := ask()):
        assert time.monotonic() < give_up, f"{what}: not in {seconds} s; at last: {answer!r}"
        time.sleep(BETWEEN_QUESTIONS)
    return answer


@dataclass(frozen=True)
class Rest:
    """The interface at `url`."""

    url: str

    def create(self, name: str, config: Mapping[str, object], initial_state: str = "RUNNING") -> None:
        """A new connector."""
        content = {"name": name, "config": _texts(config), "initial_state": initial_state}
        self._ask("POST", "", content)

    def configure(self, name: str, config: Mapping[str, object]) -> None:
        """Another configuration for a connector."""
        self._ask("PUT", f"/{name}/config", _texts(config))

    def pause(self, name: str) -> None:
        """Its tasks stay, and do nothing."""
        self._ask("PUT", f"/{name}/pause")

    def resume(self, name: str) -> None:
        """After a pause or a stop."""
        self._ask("PUT", f"/{name}/resume")

    def stop(self, name: str) -> None:
        """Its tasks go; the connector stays."""
        self._ask("PUT", f"/{name}/stop")

    def restart(self, name: str) -> None:
        """The connector and all of its tasks."""
        self._ask("POST", f"/{name}/restart?includeTasks=true")

    def restart_task(self, name: str, task: int = 0) -> None:
        """One task."""
        self._ask("POST", f"/{name}/tasks/{task}/restart")

    def delete(self, name: str) -> None:
        """No error where there is none of that name."""
        self._ask("DELETE", f"/{name}", gone=True)

    def names(self) -> list[str]:
        """All connectors."""
        return list(self._ask("GET", "").json())

    def states(self, name: str) -> list[str]:
        """The connector's state, and its tasks'; empty where there is none yet."""
        answer = self._ask("GET", f"/{name}/status", gone=True)
        if answer.status_code == httpx.codes.NOT_FOUND:
            return []
        status = answer.json()
        return [status["connector"]["state"], *(task["state"] for task in status["tasks"])]

    def workers(self, name: str) -> set[str]:
        """Where its tasks run."""
        return {task["worker_id"] for task in self._ask("GET", f"/{name}/status").json()["tasks"]}

    def await_states(self, name: str, *wanted: str) -> None:
        """Wait until connector and tasks are in these states, in this order."""
        until(lambda: self.states(name) == list(wanted), f"{name} to be {wanted}")

    def _ask(self, method: str, path: str, content: object = None, gone: bool = False) -> httpx.Response:
        address = f"{self.url}/connectors{path}"

        def answer() -> httpx.Response | None:
            found = httpx.request(method, address, json=content, timeout=PATIENCE_SECONDS, trust_env=False)
            passing = any(words in found.text for words in _PASSING)
            is_busy = found.status_code == httpx.codes.SERVICE_UNAVAILABLE or (found.is_error and passing)
            return None if is_busy else found

        found: httpx.Response = until(answer, f"{method} {address} outside a rebalance")
        if not (gone and found.status_code == httpx.codes.NOT_FOUND):
            assert found.is_success, f"{method} {address}: {found.status_code} {found.text}"
        return found


def _texts(config: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in config.items()}
