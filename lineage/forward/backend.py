# SPDX-License-Identifier: Apache-2.0
"""HTTP client of the backend."""

import asyncio
from collections.abc import Coroutine

import anyio
import httpx

from lineage.events import Event
from lineage.events.timestamps import parse_time
from lineage.forward.responses import AttemptResult, AttemptStatus, classify_response

ENDPOINT = "/api/v1/lineage"

MIN_TIMEOUT = 10.0
MAX_TIMEOUT = 120.0
"""Bounds in seconds of the timeout of one request. Marquez takes up to 1 s, under load more than 10 s: a request that
is sent again while the first one is still processed is stored twice and adds to the load."""

_TIMEOUT_FACTOR = 4.0
"""Ratio of the timeout to the last response time."""

_DECAY = 0.9
"""Factor of the timeout per response, so that one slow response is forgotten after some fast ones."""

_SHOWN_AS = {
    "START": ("RUNNING", "startedAt"),
    "COMPLETE": ("COMPLETED", "endedAt"),
    "ABORT": ("ABORTED", "endedAt"),
    "FAIL": ("FAILED", "endedAt"),
}
"""State of a run after an event, and the field with the event's time."""

_MILLISECOND = 1_000_000


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


def timeout_after(timeout: float, took: float, minimum: float) -> float:
    """Return the next timeout after a response that took some time, all in seconds."""
    return min(max(minimum, _TIMEOUT_FACTOR * took, _DECAY * timeout), MAX_TIMEOUT)


class Backend:
    """HTTP client of a backend with a timeout that adapts to its response times."""

    def __init__(self, url: str, api_key: str | None = None, min_timeout: float = MIN_TIMEOUT) -> None:
        """`api_key` is sent as bearer token; user and password of `url` as basic authentication.

        Raises:
            ValueError: `url` is not one to forward to.
        """
        self.timeout = min_timeout
        self._min_timeout = min_timeout
        self._url = httpx.URL(forward_url(url))
        headers = {"Accept-Encoding": "identity", "Content-Type": "application/json"}
        if api_key is not None:
            headers["Authorization"] = f"Bearer {api_key}"
            self._url = self._url.copy_with(username=None, password=None)
        # Proxy variables apply to internet hosts, not to a backend next to this service.
        self._client = httpx.AsyncClient(timeout=None, trust_env=False, headers=headers)

    @property
    def name(self) -> str:
        """Return the URL without credentials."""
        return str(self._url.copy_with(username=None, password=None))

    async def post(self, body: bytes) -> AttemptResult:
        """Send one event; network errors are results too."""
        timeout = self.timeout
        began = asyncio.get_running_loop().time()
        try:
            response = await _within(timeout, self._client.post(self._url, content=body))
        except TimeoutError:
            # Requests that were sent together expire together: the timeout is doubled once.
            self.timeout = max(self.timeout, min(2 * timeout, MAX_TIMEOUT))
            return AttemptResult(AttemptStatus.FAILED, f"{self.name} did not respond within {timeout:g} s")
        except httpx.ConnectError as error:
            return AttemptResult(AttemptStatus.UNAVAILABLE, f"cannot connect to {self.name}: {error}")
        except httpx.HTTPError as error:
            return AttemptResult(AttemptStatus.FAILED, f"connection to {self.name} failed: {error or repr(error)}")
        took = asyncio.get_running_loop().time() - began
        self.timeout = timeout_after(self.timeout, took, self._min_timeout)
        return classify_response(response)

    async def is_healthy(self) -> bool:
        """Return whether the backend answers a read, for which Marquez queries its database."""
        return await self._get("namespaces?limit=1") is not None

    async def has_applied(self, event: Event) -> bool:
        """Return whether the backend shows the run in the state and with the time that an event gives to it.

        Marquez updates its tables in one transaction, so that an event whose state is there is applied as a whole. Only
        the start and the end of a run can be recognized.
        """
        if event.run is None or event.event_type not in _SHOWN_AS:
            return False
        state, field = _SHOWN_AS[event.event_type]
        run = await self._get(f"jobs/runs/{event.run.run}")
        if not isinstance(run, dict) or run.get("state") != state:
            return False
        return _milliseconds(run.get(field)) == event.order.time // _MILLISECOND

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def _get(self, path: str) -> object:
        """Return the JSON at a path of the backend's API; None if it has none."""
        try:
            response = await _within(self.timeout, self._client.get(self._url.join(path)))
            return response.json() if response.status_code == httpx.codes.OK else None
        except (TimeoutError, httpx.HTTPError, ValueError):
            return None


async def _within(seconds: float, request: Coroutine[None, None, httpx.Response]) -> httpx.Response:
    """Return the response to a request.

    The client library closes connections in a section that only a cancel scope respects: a task that is cancelled while
    it closes several of them leaves the others open. So the request is ended by a scope in every case.

    Raises:
        TimeoutError: there is none in time.
    """
    scope = anyio.CancelScope()

    async def responded() -> httpx.Response | None:
        with scope:
            return await request
        return None

    sending = asyncio.create_task(responded())
    # If the caller is cancelled, no one asks for the error of its request, which asyncio would log.
    sending.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    try:
        await asyncio.wait([sending], timeout=seconds)
    finally:
        if not sending.done():
            scope.cancel()
            await asyncio.wait([sending])
    response = await sending
    if response is None:
        raise TimeoutError
    return response


def _milliseconds(at: object) -> int | None:
    """Return the milliseconds of a time, the precision that a backend keeps at least; None if it is not a time."""
    try:
        return parse_time(at) // _MILLISECOND if isinstance(at, str) else None
    except ValueError:
        return None
