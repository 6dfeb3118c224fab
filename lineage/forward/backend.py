# SPDX-License-Identifier: Apache-2.0
"""HTTP client of the backend, and classification of its responses."""

import asyncio
import time
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import NamedTuple

import httpx

ENDPOINT = "/api/v1/lineage"
HEALTH_PATHS = ("/api/v1/namespaces?limit=1", "/health")
"""Paths that a healthy backend answers with 200: of Marquez, which queries its database, and of this service."""

MAX_RETRY_AFTER = 3600.0
MAX_TEXT = 300
"""Characters of a response kept as the cause of a rejection."""

_CLIENT_ERRORS = range(400, 500)
_NOT_EVENT_RELATED = frozenset({401, 403, 404, 405, 407, 408, 421, 425, 426, 429, 451})
"""Client errors caused by the URL, credentials or temporary state, not by the event. Treated as permanent, a wrong
URL would turn the entire log into dead letters."""


class AttemptStatus(StrEnum):
    """Outcome of one request."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    """Permanent rejection of this event."""

    FAILED = "failed"
    """Server error or timeout: caused by the backend or by this event."""

    UNAVAILABLE = "unavailable"
    """The backend accepts no events now; no event is the cause."""


class AttemptResult(NamedTuple):
    """Result of one request; `text` is for people, `retry_after` in seconds if the backend sets it."""

    verdict: AttemptStatus
    text: str
    retry_after: float | None = None


def forward_url(text: str) -> str:
    """Return the URL to post events to: `/api/v1/lineage` is appended unless the URL has a path.

    Raises:
        ValueError: it is not an HTTP URL with a host.
    """
    try:
        url = httpx.URL(text)
        _ = url.port
    except (httpx.InvalidURL, ValueError) as error:
        raise ValueError(f"cannot forward to {text!r}: {error}; write it as http://host:port") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise ValueError(f"cannot forward to {text!r}: it is not an HTTP URL; write it as http://host:port")
    if url.query or url.fragment:
        raise ValueError(f"cannot forward to {text!r}: remove query and fragment; write it as http://host:port")
    return str(url if url.path.strip("/") else url.copy_with(path=ENDPOINT))


class Backend:
    """HTTP client of a backend. `seconds` is the total timeout of one request."""

    def __init__(self, url: str, seconds: float) -> None:
        self._url = forward_url(url)
        self._seconds = seconds
        # Proxy variables apply to internet hosts, not to a backend next to this service.
        self._client = httpx.AsyncClient(timeout=None, trust_env=False, headers={"Accept-Encoding": "identity"})

    @property
    def name(self) -> str:
        """Return the URL without credentials."""
        return str(httpx.URL(self._url).copy_with(username=None, password=None))

    async def post(self, body: bytes) -> AttemptResult:
        """Send one event; network errors are results too."""
        headers = {"Content-Type": "application/json"}
        try:
            async with asyncio.timeout(self._seconds):
                response = await self._client.post(self._url, content=body, headers=headers)
        except TimeoutError:
            return AttemptResult(AttemptStatus.FAILED, f"{self.name} did not respond within {self._seconds:g} s")
        except httpx.ConnectError as error:
            return AttemptResult(AttemptStatus.UNAVAILABLE, f"cannot connect to {self.name}: {error}")
        except httpx.HTTPError as error:
            return AttemptResult(AttemptStatus.FAILED, f"connection to {self.name} failed: {error or repr(error)}")
        return _classify_response(response)

    async def is_healthy(self) -> bool:
        """Return whether the backend answers a health request with 200."""
        for path in HEALTH_PATHS:
            try:
                async with asyncio.timeout(self._seconds):
                    response = await self._client.get(httpx.URL(self._url).join(path))
            except (TimeoutError, httpx.HTTPError):
                return False
            if response.status_code == httpx.codes.OK:
                return True
        return False

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()


def _classify_response(response: httpx.Response) -> AttemptResult:
    status = response.status_code
    text = f"HTTP {status} {response.text[:MAX_TEXT]}".strip()
    if response.is_success:
        return AttemptResult(AttemptStatus.ACCEPTED, text)
    if status in _CLIENT_ERRORS and status not in _NOT_EVENT_RELATED:
        return AttemptResult(AttemptStatus.REFUSED, text)
    retry_after = _retry_after_seconds(response.headers.get("retry-after"))
    if status >= 500 and retry_after is None:
        return AttemptResult(AttemptStatus.FAILED, text)
    return AttemptResult(AttemptStatus.UNAVAILABLE, text, retry_after)


def _retry_after_seconds(retry_after: str | None) -> float | None:
    """Return the seconds of a Retry-After header, a number or a date; None if it is invalid."""
    if retry_after is None:
        return None
    if retry_after.strip().isdecimal():
        wanted = float(retry_after)
    else:
        try:
            wanted = parsedate_to_datetime(retry_after).timestamp() - time.time()
        except ValueError:
            return None
    return min(max(wanted, 0.0), MAX_RETRY_AFTER)
