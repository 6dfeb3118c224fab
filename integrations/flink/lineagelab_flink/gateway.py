# SPDX-License-Identifier: Apache-2.0
"""Client of Flink's SQL gateway."""

import logging
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from lineagelab_flink.errors import FlinkError, FlinkUnavailableError, root_cause
from lineagelab_flink.script import Statement

TIMEOUT_SECONDS = 30.0
STATEMENT_SECONDS = 180.0
"""Seconds for one statement. The first one loads the planner, which takes up to 20 s on a busy machine."""

POLL_SECONDS = 0.1

log = logging.getLogger(__name__)

_POSITION = re.compile(r"\bline (\d+), column (\d+)", re.IGNORECASE)


class Session:
    """Session of the gateway."""

    def __init__(self, client: httpx.Client, handle: str) -> None:
        self._client = client
        self._path = f"/v1/sessions/{handle}"

    def set(self, name: str, value: str) -> None:
        """Set an option for the following statements."""
        quoted = value.replace("'", "''")
        self._execute(f"SET '{name}' = '{quoted}'")

    def execute(self, statement: Statement) -> None:
        """Execute a statement; one that makes a job returns once the job is submitted.

        Raises:
            FlinkError: the message has the file, the line and Flink's error.
            FlinkUnavailableError: the gateway did not respond.
        """
        try:
            self._execute(statement.text)
        except FlinkUnavailableError:
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
    """Open a session for the duration of the block.

    Raises:
        FlinkUnavailableError: the gateway did not respond.
    """
    with httpx.Client(base_url=url, timeout=TIMEOUT_SECONDS, trust_env=False) as client:
        handle = str(_call(client, "POST", "/v1/sessions", {})["sessionHandle"])
        try:
            yield Session(client, handle)
        finally:
            _close(client, handle)


def _close(client: httpx.Client, handle: str) -> None:
    """Close a session; a failure is harmless, because the gateway expires idle sessions."""
    try:
        _call(client, "DELETE", f"/v1/sessions/{handle}")
    except FlinkError as error:
        log.debug("cannot close session %s, the gateway will expire it: %s", handle, error)


def _call(client: httpx.Client, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    try:
        answer = client.request(method, path, json=body)
        content: dict[str, Any] = answer.json()
    except httpx.HTTPError as error:
        raise FlinkUnavailableError(f"SQL gateway at {client.base_url} did not respond: {error}") from error
    except ValueError as error:
        raise FlinkError(
            f"SQL gateway at {client.base_url} responded with HTTP status {answer.status_code} and no JSON"
        ) from error
    if not answer.is_success:
        trace = "\n".join(map(str, content.get("errors") or [f"HTTP status {answer.status_code}"]))
        raise FlinkError(root_cause(trace), trace)
    return content


def _where(statement: Statement, message: str) -> str:
    """Return the place in the file to which an error message about a statement refers."""
    found = _POSITION.search(message)
    if found is None:
        return statement.place
    return f"{statement.file}, line {statement.line + int(found[1]) - 1}, column {found[2]}"
