# SPDX-License-Identifier: Apache-2.0
"""Gets one event after another across, however often that takes, and finds out which will never get there."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from lineage.forward.backend import Answer, AttemptStatus, Backend
from lineage.forward.backoff import CircuitBreaker, delay_before

logger = logging.getLogger(__name__)

REQUESTS_AT_ONCE = 4
"""As many as saturate Marquez; more of them make its database refuse some."""

MIN_TRIES = 5
MIN_STRIKES = 3
"""How often an event must have failed before it is to blame, and how often of it while others were accepted."""

STUBBORN_SECONDS = 60.0
"""After so long an event that nothing else can be compared with is to blame, where the consumer says it is well."""


@dataclass(slots=True)
class _Attempts:
    """How sending one event has gone so far; `accepted` is how many others were when it first failed."""

    accepted: int
    since: float
    tries: int = 0
    strikes: int = 0


class Delivery:
    """At most `REQUESTS_AT_ONCE` requests to one consumer. The caller keeps events in order."""

    def __init__(self, consumer: Backend) -> None:
        self.last_error: str | None = None
        self._consumer = consumer
        self._slots = asyncio.Semaphore(REQUESTS_AT_ONCE)
        self._gate = CircuitBreaker()
        self._failing: dict[int, _Attempts] = {}
        self._accepted = 0
        self._blamed_alone_at = -1
        self._under_way = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._closing = False

    async def send(self, seq: int, make_body: Callable[[], Awaitable[bytes | None]]) -> str | None:
        """Send what `make_body` gives (None: nothing is to be sent) until the consumer has it.

        Returns None once it has, else why it never will. `seq` tells events apart.
        """
        try:
            while True:
                answer = await self._attempt(make_body)
                if answer is None:
                    continue
                if answer.verdict is AttemptStatus.ACCEPTED:
                    return None
                self.last_error = answer.text
                if answer.verdict is AttemptStatus.REFUSED:
                    return answer.text
                if answer.verdict is AttemptStatus.UNAVAILABLE:
                    self._gate.shut(answer.retry_after)
                elif await self._is_to_blame(seq):
                    return f"failed {self._failing[seq].tries} times while the consumer was well: {answer.text}"
                else:
                    await asyncio.sleep(delay_before(self._failing[seq].tries))
        finally:
            self._failing.pop(seq, None)

    async def send_once(self, body: bytes) -> str | None:
        """One attempt, whatever became of others. Returns None where the consumer has taken it, else why not."""
        answer = await self._post(body)
        if answer.verdict is AttemptStatus.ACCEPTED:
            return None
        self.last_error = answer.text
        return answer.text

    async def drain(self, seconds: float) -> None:
        """Begin no more requests; wait for those under way, but not longer than that."""
        self._closing = True
        try:
            async with asyncio.timeout(seconds):
                await self._idle.wait()
        except TimeoutError:
            logger.info("%d requests are given up and made again after the next start", self._under_way)

    async def _attempt(self, make_body: Callable[[], Awaitable[bytes | None]]) -> Answer | None:
        """One request; None where the consumer became unavailable before it could be made."""
        await self._gate.wait()
        async with self._slots:
            if self._gate.is_shut:
                return None
            body = await make_body()
            if body is None:
                return Answer(AttemptStatus.ACCEPTED, "")
            return await self._post(body)

    async def _post(self, body: bytes) -> Answer:
        if self._closing:
            # For ever: whoever closes this cancels what still waits.
            await asyncio.get_running_loop().create_future()
        self._under_way += 1
        self._idle.clear()
        try:
            answer = await self._consumer.post(body)
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._idle.set()
        if answer.verdict is AttemptStatus.ACCEPTED:
            self._accepted += 1
            self._gate.open()
        return answer

    async def _is_to_blame(self, seq: int) -> bool:
        """Whether an event that has failed once more fails because of itself.

        Evidence is that the consumer accepts others meanwhile. Where there are no others, its word must do; but one
        that is well by its word and accepts nothing costs one event only, not one after the other.
        """
        now = asyncio.get_running_loop().time()
        attempts = self._failing.setdefault(seq, _Attempts(self._accepted, now))
        attempts.tries += 1
        if self._accepted > attempts.accepted:
            attempts.strikes += 1
        # What has failed without any other being accepted since speaks against the consumer.
        unexplained = [other for other in self._failing.values() if other.accepted == self._accepted]
        if len(unexplained) >= REQUESTS_AT_ONCE:
            self._gate.shut()
        if attempts.tries < MIN_TRIES or any(other is not attempts for other in unexplained):
            return False
        if attempts.strikes >= MIN_STRIKES:
            return True
        if now - attempts.since < STUBBORN_SECONDS or self._blamed_alone_at == self._accepted:
            return False
        if not await self._consumer.is_healthy():
            return False
        self._blamed_alone_at = self._accepted
        return True
