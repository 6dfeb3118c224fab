# SPDX-License-Identifier: Apache-2.0
"""HTTP client of a lineage service, on the standard library."""

import json
import os
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

KEY_VARIABLE = "LINEAGE_API_KEY"
"""Environment variable with the API key of the service."""

TIMEOUT = 2.0
"""Seconds for the connection, and for each part of a response."""

_JSON = {"Content-Type": "application/json"}
_EVENTS = "/api/v1/lineage"
_RUNS = "/api/v1/jobs/runs"
_NOT_FOUND = 404
_RETRIABLE = frozenset({408, 425, 429})


class RejectedError(Exception):
    """Permanent rejection of an event by the service."""


class UnavailableError(Exception):
    """Temporary failure to deliver an event.

    Attributes:
        has_answered: False where there was no response, True for an error response.
    """

    def __init__(self, message: str, *, has_answered: bool) -> None:
        super().__init__(message)
        self.has_answered = has_answered


class _NoRedirect(HTTPRedirectHandler):
    """A redirected POST would become a GET."""

    def redirect_request(self, *_: Any) -> None:  # noqa: ANN401 - as the base class
        return None


class LineageClient:
    """Client of the service at `url`. Proxies of the environment are not used.

    `key` is the API key; by default that of the environment variable `LINEAGE_API_KEY`, empty for none.
    """

    def __init__(self, url: str, timeout: float = TIMEOUT, key: str | None = None) -> None:
        self.url = url.rstrip("/")
        given = os.environ.get(KEY_VARIABLE, "") if key is None else key
        self._authorization = {"Authorization": f"Bearer {given}"} if given else {}
        self._timeout = timeout
        self._opener = build_opener(ProxyHandler({}), _NoRedirect())

    def send(self, event: bytes) -> None:
        """Post one event.

        Raises:
            RejectedError: it will never be accepted.
            UnavailableError: a later attempt may succeed.
        """
        try:
            self._open(Request(self.url + _EVENTS, data=event, headers=_JSON | self._authorization))
        except HTTPError as error:
            with error:
                if is_retriable(error.code):
                    raise UnavailableError(f"HTTP status {error.code}", has_answered=True) from error
                raise RejectedError(f"HTTP status {error.code} {error.read(300).decode(errors='replace')}") from error
        except (OSError, HTTPException, ValueError) as error:
            raise UnavailableError(_reason(error), has_answered=False) from error

    def has_run(self, run_id: str) -> bool:
        """Return whether the service has events of a run.

        Raises:
            UnavailableError: it cannot be found out now.
        """
        try:
            self._open(Request(f"{self.url}{_RUNS}/{run_id}", headers=self._authorization))
        except HTTPError as error:
            with error:
                if error.code == _NOT_FOUND:
                    return False
                raise UnavailableError(f"HTTP status {error.code}", has_answered=True) from error
        except (OSError, HTTPException, ValueError) as error:
            raise UnavailableError(_reason(error), has_answered=False) from error
        return True

    def _open(self, request: Request) -> None:
        with self._opener.open(request, timeout=self._timeout) as response:
            response.read()


def is_retriable(status: int) -> bool:
    """Return whether a later attempt may succeed after an error response."""
    return status in _RETRIABLE or status >= 500


def _reason(error: Exception) -> str:
    return str(getattr(error, "reason", "") or error) or type(error).__name__


def encode(event: object) -> bytes:
    """Return the JSON text of an event."""
    return json.dumps(event).encode()
