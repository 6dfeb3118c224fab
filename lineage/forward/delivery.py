# SPDX-License-Identifier: Apache-2.0
"""Delivery of one event: retries with backoff, and detection of an event that the backend never accepts."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from lineage.events import Event
from lineage.forward.backend import Backend
from lineage.forward.responses import AttemptResult, AttemptStatus

MAX_CONCURRENT = 4
"""Maximum concurrent requests: enough to saturate Marquez; with more its database rejects some."""

FIRST_DELAY = 0.2
MAX_DELAY = 10.0
"""Maximum seconds between two attempts: short enough to find a recovered backend soon, long enough to cost next to
nothing while it is down."""

MAX_FAILURES_AMONG_OTHERS = 8
"""Failures of an event, each with another event accepted since the one before, after which the event is the cause:
about 30 s."""

MAX_FAILURES_WHILE_HEALTHY = 60
"""Failures of an event, each with a health check that succeeded, after which the event is the cause: about 10 min."""


def delay_before(attempt: int) -> float:
    """Return the seconds to wait before retry number `attempt`, from 1: exponential, with jitter."""
    return float(min(MAX_DELAY, FIRST_DELAY * 2.0 ** min(attempt - 1, 16)) * random.uniform(0.5, 1.0))


@dataclass(slots=True)
class _Failures:
    """Failures of one event that the backend answered with an error or not at all."""

    accepted: int
    """Number of accepted events at the last failure."""

    total: int = 0
    among_others: int = 0
    while_healthy: int = 0


class Delivery:
    """Delivery to one backend with at most `MAX_CONCURRENT` requests. The caller keeps events in order."""

    def __init__(self, backend: Backend) -> None:
        self.last_error: str | None = None
        self._backend = backend
        self._slots = asyncio.Semaphore(MAX_CONCURRENT)
        self._accepted = 0
        self._pauses = 0
        self._paused_until = 0.0
        self._requests: set[asyncio.Task[AttemptResult]] = set()
        self._closing = False

    async def send(
        self,
        event: Event,
        compose: Callable[[], Awaitable[bytes]],
        is_recognizable: Callable[[], Awaitable[bool]],
    ) -> str | None:
        """Send `event` as the body that `compose` returns, until the backend accepts it.

        An event that failed is not sent again if the backend has applied it, and `is_recognizable` tells that no other
        event can have had the same effect.

        Return None on success, else the cause of the permanent failure.
        """
        failures = _Failures(self._accepted)
        while True:
            result = await self.attempt(compose)
            if result.status is AttemptStatus.ACCEPTED:
                return None
            if result.status is AttemptStatus.REFUSED:
                return result.text
            if result.status is AttemptStatus.UNAVAILABLE:
                self._pause(result.retry_after)
                continue
            if await self._is_cause(failures):
                return f"failed {failures.total} times while the backend was healthy: {result.text}"
            await asyncio.sleep(delay_before(failures.total))
            if await is_recognizable() and await self._backend.has_applied(event):
                return None

    async def attempt(self, compose: Callable[[], Awaitable[bytes]]) -> AttemptResult:
        """Send one request when the backend is not paused and a slot is free."""
        async with self._slots:
            while (left := self._paused_until - asyncio.get_running_loop().time()) > 0:
                await asyncio.sleep(left)
            body = await compose()
            if self._closing:
                # Never completes: the caller cancels all deliveries.
                await asyncio.get_running_loop().create_future()
            result = await self._post(body)
        if result.status is AttemptStatus.ACCEPTED:
            self._accepted += 1
            self._pauses = 0
        else:
            self.last_error = result.text
        return result

    async def drain(self, seconds: float) -> None:
        """Start no more requests; wait up to `seconds` for those in flight."""
        self._closing = True
        if self._requests:
            await asyncio.wait(self._requests, timeout=seconds)
            # Their deliveries take note of the results.
            await asyncio.sleep(0)

    async def _post(self, body: bytes) -> AttemptResult:
        request = asyncio.create_task(self._backend.post(body))
        self._requests.add(request)
        request.add_done_callback(self._requests.discard)
        return await request

    def _pause(self, at_least: float | None) -> None:
        """Stop requests for a time that grows with each pause, at least `at_least` seconds.

        Failures of requests that were in flight at that time are ignored, unless they extend it.
        """
        now = asyncio.get_running_loop().time()
        if now < self._paused_until and at_least is None:
            return
        self._pauses += 1
        self._paused_until = max(self._paused_until, now + max(delay_before(self._pauses), at_least or 0.0))

    async def _is_cause(self, failures: _Failures) -> bool:
        """Count a failure; return whether the event itself, and not the backend, causes its failures.

        The evidence is that the backend accepts other events meanwhile. Without others, its health decides: later, as
        a backend can be healthy and unable to write.
        """
        failures.total += 1
        if self._accepted > failures.accepted:
            failures.accepted = self._accepted
            failures.among_others += 1
        elif await self._backend.is_healthy():
            failures.while_healthy += 1
        return (
            failures.among_others >= MAX_FAILURES_AMONG_OTHERS or failures.while_healthy >= MAX_FAILURES_WHILE_HEALTHY
        )
