# SPDX-License-Identifier: Apache-2.0
"""Flink's SQL gateway: statements in a session of their own."""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from lineagelab_flink.errors import FlinkAwayError, FlinkError, root_cause
from lineagelab_flink.script import Statement

TIMEOUT_SECONDS = 30.0
STATEMENT_SECONDS = 180.0
"""For one statement. The first of a gateway loads the planner, which takes up to 20 s on a busy machine."""

POLL_SECONDS = 0.1
_POSITION = re.compile(r"\bline (\d+), column (\d+)", re.IGNORECASE)


class Session:
    """A session of the gateway."""

    def __init__(self, client: httpx.Client, handle: str) -> None:
        self._client = client
        self._path = f"/v1/sessions/{handle}"

    def set(self, name: str, value: str) -> None:
        """Sets an option for the statements that follow."""
        quoted = value.replace("'", "''")
        self._execute(f"SET '{name}' = '{quoted}'")

    def execute(self, statement: Statement) -> None:
        """Executes a statement; one that makes a job is done once the job is submitted.

        Raises:
            FlinkError: naming the file, its line and what Flink says.
            FlinkAwayError: the gateway does not answer.
        """
        try:
            self._execute(statement.text)
        except FlinkAwayError:
            raise
        except FlinkError as error:
            raise FlinkError(f"{_where(statement, error.trace)}: {error}", error.trace) from error

    def _execute(self, text: str) -> None:
        handle = _call(self._client, "POST", f"{self._path}/statements", {"statement": text})["operationHandle"]
        path: str | None = f"{self._path}/operations/{handle}/result/0"
        deadline = time.monotonic() + STATEMENT_SECONDS
        while path:
            answer = _call(self._client, "GET", path)
            if answer.get("resultType") == "NOT_READY":
                if time.monotonic() > deadline:
                    raise FlinkError(f"no result within {STATEMENT_SECONDS:.0f} s")
                time.sleep(POLL_SECONDS)
                continue
            path = None if answer.get("resultType") == "EOS" else answer.get("nextResultUri")


@contextmanager
def session(url: str) -> Iterator[Session]:
    """A session until the block ends.

    Raises:
        FlinkAwayError: the gateway does not answer.
    """
    with httpx.Client(base_url=url, timeout=TIMEOUT_SECONDS, trust_env=False) as client:
        handle = str(_call(client, "POST", "/v1/sessions", {})["sessionHandle"])
        try:
            yield Session(client, handle)
        finally:
            _close(client, handle)


def _close(client: httpx.Client, handle: str) -> None:
    """The gateway forgets sessions by itself, only later: one that cannot be closed is nobody's trouble."""
    try:
        _call(client, "DELETE", f"/v1/sessions/{handle}")
    except FlinkError as error:
        print(f"session {handle} stays open until the gateway forgets it: {error}")


def _call(client: httpx.Client, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    try:
        answer = client.request(method, path, json=body)
        said: dict[str, Any] = answer.json()
    except httpx.HTTPError as error:
        raise FlinkAwayError(f"the SQL gateway at {client.base_url} does not answer: {error}") from error
    except ValueError as error:
        raise FlinkError(f"the SQL gateway at {client.base_url} answers {answer.status_code} without JSON") from error
    if not answer.is_success:
        trace = "\n".join(map(str, said.get("errors") or [f"it answers {answer.status_code}"]))
        raise FlinkError(root_cause(trace), trace)
    return said


def _where(statement: Statement, message: str) -> str:
    """The place in the file that a message about a statement means."""
    found = _POSITION.search(message)
    if found is None:
        return statement.place
    return f"{statement.file}, line {statement.line + int(found[1]) - 1}, column {found[2]}"
