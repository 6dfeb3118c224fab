# SPDX-License-Identifier: Apache-2.0
"""Progress of a start that reads a long log: until it ends, nothing about the graph is answered."""

REPORT_SECONDS = 10.0


class ReadingProgress:
    """Progress from event `first` to `last`, by their numbers; times are in seconds of one clock, `now` the present."""

    def __init__(self, first: int, last: int, now: float) -> None:
        self._first, self._last = first, last
        self._began = self._reported = now

    @property
    def events(self) -> int:
        """Return the number of events to read."""
        return self._last - self._first

    def report(self, position: int, now: float) -> str | None:
        """Return a line after event `position`, every `REPORT_SECONDS`; None in between."""
        if now - self._reported < REPORT_SECONDS:
            return None
        self._reported = now
        return self.text(position, now)

    def text(self, position: int, now: float) -> str:
        """Return the progress after event `position`."""
        done, whole = position - self._first, self.events
        if done <= 0:
            return f"reading {whole:,} events of the log to make the graph again"
        left = (now - self._began) * max(0, whole - done) / done
        return f"read {done:,} of {whole:,} events of the log to make the graph again, about {_duration(left)} left"


def _duration(seconds: float) -> str:
    """Return a duration in the unit that gives it two digits at most."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6_000 else f"{seconds / 3_600:.1f} h"
