# SPDX-License-Identifier: Apache-2.0
"""How many events came lately, and how late: a ring of fixed size. Pure: whoever asks says what time it is."""

from collections.abc import Iterator
from dataclasses import dataclass

STEP = 10
"""Seconds of one sample."""

SAMPLES = 180
"""Samples that are kept: half an hour."""


@dataclass(frozen=True, slots=True)
class Sample:
    """`STEP` seconds, from `start` (seconds since 1970): events, and the longest time from an event to the graph.

    `lag` is in seconds, None where no event came.
    """

    start: int
    events: int
    lag: float | None


class Flow:
    """Events of the last half hour by the time at which they came. Clocks that run ahead make no negative lag."""

    def __init__(self, now: float) -> None:
        self._first = int(now) // STEP
        self._last = self._first
        self._events = [0] * SAMPLES
        self._lags = [-1.0] * SAMPLES

    def heard(self, now: float, event_time: float) -> None:
        """An event of `event_time` has come into the graph; both are seconds since 1970."""
        self._go_on(now)
        at = self._last % SAMPLES
        self._events[at] += 1
        self._lags[at] = max(self._lags[at], now - event_time, 0.0)

    def samples(self, now: float) -> list[Sample]:
        """From the start, or half an hour ago, until now: the last sample is the one that still grows."""
        self._go_on(now)
        return list(self._kept())

    def _kept(self) -> Iterator[Sample]:
        for step in range(max(self._first, self._last - SAMPLES + 1), self._last + 1):
            at = step % SAMPLES
            lag = self._lags[at]
            yield Sample(step * STEP, self._events[at], None if lag < 0 else lag)

    def _go_on(self, now: float) -> None:
        """Empty what was not heard of until now. A clock that was put back stays in the sample that it was in."""
        current = int(now) // STEP
        for step in range(max(self._last + 1, current - SAMPLES + 1), current + 1):
            self._events[step % SAMPLES], self._lags[step % SAMPLES] = 0, -1.0
        self._last = max(self._last, current)
