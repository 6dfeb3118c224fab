# SPDX-License-Identifier: Apache-2.0
"""Exponential backoff, and the circuit breaker of a backend."""

import asyncio
import random

FIRST_DELAY = 0.2
MAX_DELAY = 10.0
"""Maximum seconds between two attempts: short enough to find a recovered backend soon, long enough to cost next to
nothing while it is down."""


def delay_before(attempt: int) -> float:
    """Return the seconds to wait before retry number `attempt`, from 1: exponential, with jitter."""
    return float(min(MAX_DELAY, FIRST_DELAY * 2.0 ** min(attempt - 1, 16)) * random.uniform(0.5, 1.0))


class CircuitBreaker:
    """Circuit breaker that holds requests back while the backend is unavailable."""

    def __init__(self) -> None:
        self._failures = 0
        self._tripped_until = 0.0

    @property
    def is_tripped(self) -> bool:
        """Return whether requests must wait."""
        return asyncio.get_running_loop().time() < self._tripped_until

    async def wait(self) -> None:
        """Wait until requests are allowed."""
        while (left := self._tripped_until - asyncio.get_running_loop().time()) > 0:
            await asyncio.sleep(left)

    def trip(self, at_least: float | None = None) -> None:
        """Stop requests for a time that grows with each consecutive failure, at least `at_least` seconds.

        Failures of requests that were in flight at that time are ignored, unless they extend it.
        """
        if self.is_tripped and at_least is None:
            return
        self._failures += 1
        pause = max(delay_before(self._failures), at_least or 0.0)
        self._tripped_until = max(self._tripped_until, asyncio.get_running_loop().time() + pause)

    def reset(self) -> None:
        """Allow requests: the backend responds."""
        self._failures = 0
        self._tripped_until = 0.0
