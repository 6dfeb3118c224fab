# SPDX-License-Identifier: Apache-2.0
"""Rate limiter of the shop. No I/O, no clock."""

from dataclasses import dataclass

MAX_BATCH = 500
"""Maximum orders per transaction while the shop catches up."""


@dataclass(frozen=True)
class Pace:
    """Constant rate in orders per second, starting immediately."""

    rate: float

    def due(self, elapsed: float, done: int) -> int:
        """Return the number of orders to write now, `elapsed` seconds after the start with `done` written."""
        return max(0, min(int(elapsed * self.rate) + 1 - done, MAX_BATCH))

    def seconds_to_next(self, elapsed: float, done: int) -> float:
        """Return the seconds until order `done + 1` is due."""
        return max(0.0, done / self.rate - elapsed)
