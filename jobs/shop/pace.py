# SPDX-License-Identifier: Apache-2.0
"""How many orders are due, and when the next one is. No I/O, no clock."""

from dataclasses import dataclass

LARGEST_BATCH = 500
"""A shop that is behind catches up in transactions of this many orders at most."""


@dataclass(frozen=True)
class Pace:
    """So many orders per second, the first one at once."""

    rate: float

    def due(self, elapsed: float, done: int) -> int:
        """How many orders to write now, `elapsed` seconds after the start, with `done` of them written."""
        return max(0, min(int(elapsed * self.rate) + 1 - done, LARGEST_BATCH))

    def seconds_to_next(self, elapsed: float, done: int) -> float:
        """How long until one more than `done` is due."""
        return max(0.0, done / self.rate - elapsed)
