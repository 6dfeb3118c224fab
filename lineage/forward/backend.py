# SPDX-License-Identifier: Apache-2.0
"""The consumer at the other end of HTTP, and what its answers mean."""

import asyncio
import time
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import NamedTuple

import httpx

ENDPOINT = "/api/v1/lineage"
HEALTH_PATHS = ("/api/v1/namespaces?limit=1", "/health")
"""What a consumer that works answers with 200: Marquez, which reads its database for it, and this service."""

MAX_RETRY_AFTER = 3600.0
MAX_TEXT = 300
"""Characters of an answer that are kept as the reason of a refusal."""

_REFUSALS = range(400, 500)
_NOT_THE_EVENTS_FAULT = frozenset({401, 403, 404, 405, 407, 408, 421, 425, 426, 429, 451})
"""Client errors that speak of the address, the sender's rights or the moment. Any event would get them; taken for
the event's fault, a wrong URL would put the whole log on the list of dead letters."""


class AttemptStatus(StrEnum):
    """What an attempt came to."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    """This event will never be accepted."""

    FAILED = "failed"
    """The consumer tried and could not: its own trouble, or this event's."""

    UNAVAILABLE = "unavailable"
    """The consumer takes no events now; none of them is to blame."""


class Answer(NamedTuple):
    """The outcome of one attempt; `text` is for people, `retry_after` in seconds where the consumer asks for it."""

    verdict: AttemptStatus
    text: str
    retry_after: float | None = None


def forward_url(text: str) -> str:
    """The URL to post events to: `http://marquez:5000` means its `/api/v1/lineage`; a longer path is left alone.

    Raises:
        ValueError: not an HTTP URL with a host.
    """
    try:
        url = httpx.URL(text)
        _ = url.port
    except (httpx.InvalidURL, ValueError) as error:
        raise ValueError(f"cannot forward to {text!r}: {error}; write it as http://host:port") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise ValueError(f"cannot forward to {text!r}: it is no HTTP URL; write it as http://host:port")
    if url.query or url.fragment:
        raise ValueError(f"cannot forward to {text!r}: leave out what follows the path; write it as http://host:port")
    return str(url if url.path.strip("/") else url.copy_with(path=ENDPOINT))


class Backend:
    """Sends events one by one. `seconds` is the time that one attempt may take as a whole."""

    def __init__(self, url: str, seconds: float) -> None:
        self._url = forward_url(url)
        self._seconds = seconds
        # Environment variables for proxies are meant for the way out, not for a neighbour of this service.
        self._client = httpx.AsyncClient(timeout=None, trust_env=False, headers={"Accept-Encoding": "identity"})

    @property
    def name(self) -> str:
        """The URL, without any password in it."""
        return str(httpx.URL(self._url).copy_with(username=None, password=None))

    async def post(self, body: bytes) -> Answer:
        """Send one event; whatever happens on the way is an answer too."""
        headers = {"Content-Type": "application/json"}
        try:
            async with asyncio.timeout(self._seconds):
                response = await self._client.post(self._url, content=body, headers=headers)
        except TimeoutError:
            return Answer(AttemptStatus.FAILED, f"no answer from {self.name} within {self._seconds:g} s")
        except httpx.ConnectError as error:
            return Answer(AttemptStatus.UNAVAILABLE, f"cannot connect to {self.name}: {error}")
        except httpx.HTTPError as error:
            return Answer(AttemptStatus.FAILED, f"{self.name} broke off: {error or repr(error)}")
        return _judge(response)

    async def is_healthy(self) -> bool:
        """Whether the consumer answers a question that only a working one can."""
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


def _judge(response: httpx.Response) -> Answer:
    status = response.status_code
    text = f"HTTP {status} {response.text[:MAX_TEXT]}".strip()
    if response.is_success:
        return Answer(AttemptStatus.ACCEPTED, text)
    if status in _REFUSALS and status not in _NOT_THE_EVENTS_FAULT:
        return Answer(AttemptStatus.REFUSED, text)
    retry_after = _seconds(response.headers.get("retry-after"))
    if status >= 500 and retry_after is None:
        return Answer(AttemptStatus.FAILED, text)
    return Answer(AttemptStatus.UNAVAILABLE, text, retry_after)


def _seconds(retry_after: str | None) -> float | None:
    """Seconds that a Retry-After header asks for, as a number or as a date; None where it is neither."""
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
