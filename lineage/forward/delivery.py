# SPDX-License-Identifier: Apache-2.0
"""Delivery with retries, and detection of events that the backend will never accept."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from lineage.forward.backend import AttemptResult, AttemptStatus, Backend
from lineage.forward.backoff import CircuitBreaker, delay_before

logger = logging.getLogger(__name__)

MAX_CONCURRENT = 4
"""Maximum concurrent requests: enough to saturate Marquez; with more its database rejects some."""

MIN_TRIES = 5
MIN_FAILURES_WHILE_OTHERS_SUCCEED = 3
"""Failures after which an event is considered the cause, and how many of them while other events were accepted."""

LONE_FAILURE_SECONDS = 60.0
"""Seconds after which an event without others to compare with is considered the cause, if the backend is healthy."""


@dataclass(slots=True)
class _EventAttempts:
    """Attempts at one event; `accepted` is the number of accepted events at its first failure."""

    accepted: int
    since: float
    tries: int = 0
    strikes: int = 0


class Delivery:
    """Delivery to one backend with at most `MAX_CONCURRENT` requests. The caller keeps events in order."""

    def __init__(self, consumer: Backend) -> None:
        self.last_error: str | None = None
        self._consumer = consumer
        self._slots = asyncio.Semaphore(MAX_CONCURRENT)
        self._breaker = CircuitBreaker()
        self._failing: dict[int, _EventAttempts] = {}
        self._accepted = 0
        self._lone_failure_at = -1
        self._in_flight = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._closing = False

    async def send(self, seq: int, make_body: Callable[[], Awaitable[bytes | None]]) -> str | None:
        """Send the result of `make_body` (None: nothing to send) until the backend accepts it.

        Return None on success, else the cause of the permanent failure. `seq` identifies the event.
        """
        try:
            while True:
                answer = await self._attempt_once(make_body)
                if answer is None:
                    continue
                if answer.verdict is AttemptStatus.ACCEPTED:
                    return None
                self.last_error = answer.text
                if answer.verdict is AttemptStatus.REFUSED:
                    return answer.text
                if answer.verdict is AttemptStatus.UNAVAILABLE:
                    self._breaker.trip(answer.retry_after)
                elif await self._is_cause(seq):
                    return f"failed {self._failing[seq].tries} times while the backend was healthy: {answer.text}"
                else:
                    await asyncio.sleep(delay_before(self._failing[seq].tries))
        finally:
            self._failing.pop(seq, None)

    async def send_once(self, body: bytes) -> str | None:
        """Send once, without retries. Return None on success, else the cause."""
        answer = await self._post_body(body)
        if answer.verdict is AttemptStatus.ACCEPTED:
            return None
        self.last_error = answer.text
        return answer.text

    async def drain(self, seconds: float) -> None:
        """Start no more requests; wait up to `seconds` for those in flight."""
        self._closing = True
        try:
            async with asyncio.timeout(seconds):
                await self._idle.wait()
        except TimeoutError:
            logger.info("%d requests were cancelled and will be sent again after the next start", self._in_flight)

    async def _attempt_once(self, make_body: Callable[[], Awaitable[bytes | None]]) -> AttemptResult | None:
        """Send one request; None if the backend became unavailable first."""
        await self._breaker.wait()
        async with self._slots:
            if self._breaker.is_tripped:
                return None
            body = await make_body()
            if body is None:
                return AttemptResult(AttemptStatus.ACCEPTED, "")
            return await self._post_body(body)

    async def _post_body(self, body: bytes) -> AttemptResult:
        if self._closing:
            # Never completes: closing cancels all waiting tasks.
            await asyncio.get_running_loop().create_future()
        self._in_flight += 1
        self._idle.clear()
        try:
            answer = await self._consumer.post(body)
        finally:
            self._in_flight -= 1
            if not self._in_flight:
                self._idle.set()
        if answer.verdict is AttemptStatus.ACCEPTED:
            self._accepted += 1
            self._breaker.reset()
        return answer

    async def _is_cause(self, seq: int) -> bool:
        """Return whether the event itself, and not the backend, causes its failures.

        The evidence is that the backend accepts other events meanwhile. Without others its health check decides; a
        backend that reports healthy and accepts nothing costs one event only, not one after the other.
        """
        now = asyncio.get_running_loop().time()
        attempts = self._failing.setdefault(seq, _EventAttempts(self._accepted, now))
        attempts.tries += 1
        if self._accepted > attempts.accepted:
            attempts.strikes += 1
        # Failures without any accepted event since then indicate that the backend is the cause.
        unexplained = [other for other in self._failing.values() if other.accepted == self._accepted]
        if len(unexplained) >= MAX_CONCURRENT:
            self._breaker.trip()
        if attempts.tries < MIN_TRIES or any(other is not attempts for other in unexplained):
            return False
        if attempts.strikes >= MIN_FAILURES_WHILE_OTHERS_SUCCEED:
            return True
        if now - attempts.since < LONE_FAILURE_SECONDS or self._lone_failure_at == self._accepted:
            return False
        if not await self._consumer.is_healthy():
            return False
        self._lone_failure_at = self._accepted
        return True
