# SPDX-License-Identifier: Apache-2.0
"""When to leave a consumer alone, and for how long."""

import asyncio
import random

FIRST_DELAY = 0.2
MAX_DELAY = 10.0
"""Seconds between two attempts: few enough that a consumer which is back is found soon, and that one which is not
costs next to nothing."""


def delay_before(attempt: int) -> float:
    """Seconds to wait before attempt number `attempt` (the second is 1): exponential, with jitter."""
    return float(min(MAX_DELAY, FIRST_DELAY * 2.0 ** min(attempt - 1, 16)) * random.uniform(0.5, 1.0))


class CircuitBreaker:
    """Holds requests back while the consumer as a whole is unable to take any."""

    def __init__(self) -> None:
        self._failures = 0
        self._shut_until = 0.0

    @property
    def is_shut(self) -> bool:
        """Whether requests have to wait."""
        return asyncio.get_running_loop().time() < self._shut_until

    async def wait(self) -> None:
        """Return when it is open."""
        while (left := self._shut_until - asyncio.get_running_loop().time()) > 0:
            await asyncio.sleep(left)

    def shut(self, at_least: float | None = None) -> None:
        """Close it for a while that grows with every time in a row, `at_least` seconds where the consumer says so.

        Requests that were under way when it closed tell nothing new, unless they ask for more time.
        """
        if self.is_shut and at_least is None:
            return
        self._failures += 1
        pause = max(delay_before(self._failures), at_least or 0.0)
        self._shut_until = max(self._shut_until, asyncio.get_running_loop().time() + pause)

    def open(self) -> None:
        """The consumer answers."""
        self._failures = 0
        self._shut_until = 0.0
