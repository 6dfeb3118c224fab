# SPDX-License-Identifier: Apache-2.0
"""Event rate and lag of the last half hour in a ring buffer. Time is a parameter."""

from collections.abc import Iterator
from dataclasses import dataclass

STEP = 10
"""Length of one sample in seconds."""

SAMPLES = 180
"""Number of samples: half an hour."""


@dataclass(frozen=True, slots=True)
class Sample:
    """`STEP` seconds, from `start` (seconds since 1970): events, and the longest time from an event to the graph.

    `lag` is in seconds, None without events.
    """

    start: int
    events: int
    lag: float | None


class IngestMetrics:
    """Events of the last half hour by arrival time. A clock that runs ahead never makes the lag negative."""

    def __init__(self, now: float) -> None:
        self._first = int(now) // STEP
        self._last = self._first
        self._events = [0] * SAMPLES
        self._lags = [-1.0] * SAMPLES

    def record(self, now: float, event_time: float) -> None:
        """Count an event applied to the graph; both times are seconds since 1970."""
        self._advance_to(now)
        at = self._last % SAMPLES
        self._events[at] += 1
        self._lags[at] = max(self._lags[at], now - event_time, 0.0)

    def samples(self, now: float) -> list[Sample]:
        """Return the samples since the start, at most half an hour; the last one is still being filled."""
        self._advance_to(now)
        return list(self._samples_in_window())

    def _samples_in_window(self) -> Iterator[Sample]:
        for step in range(max(self._first, self._last - SAMPLES + 1), self._last + 1):
            at = step % SAMPLES
            lag = self._lags[at]
            yield Sample(step * STEP, self._events[at], None if lag < 0 else lag)

    def _advance_to(self, now: float) -> None:
        """Clear the samples up to now. If the clock was set back, the current sample stays."""
        current = int(now) // STEP
        for step in range(max(self._last + 1, current - SAMPLES + 1), current + 1):
            self._events[step % SAMPLES], self._lags[step % SAMPLES] = 0, -1.0
        self._last = max(self._last, current)
