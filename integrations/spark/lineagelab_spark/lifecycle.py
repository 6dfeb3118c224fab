# SPDX-License-Identifier: Apache-2.0
"""When a run of a streaming query says what. Pure: the state, what is known now, and the time make the events."""

from dataclasses import dataclass, replace
from enum import StrEnum

from lineagelab_spark.description import Description


class EventType(StrEnum):
    """As OpenLineage names them."""

    START = "START"
    RUNNING = "RUNNING"
    COMPLETE = "COMPLETE"
    FAIL = "FAIL"
    ABORT = "ABORT"


class Phase(StrEnum):
    """Where a run is."""

    WAITING = "it has written nothing, and nothing is said"
    OPEN = "START is said"
    ENDED = "its end is said, or there is nothing to say"


_Step = tuple["Lifecycle", tuple[EventType, ...]]


@dataclass(frozen=True)
class Lifecycle:
    """The state of a run.

    Attributes:
        interval: seconds between RUNNING events, and those for which START waits for a first write.
        due: when something is to be said at the latest; None before the first step and after the end.
        said: what the last event described.
    """

    interval: float
    phase: Phase = Phase.WAITING
    due: float | None = None
    said: Description | None = None

    def step(self, known: Description, end: EventType | None, now: float) -> _Step:
        """The next state, and what to say now, in order.

        A run starts when it is known what it writes, or after an interval in which there was nothing to write: a
        query that waits for data runs. One that ends sooner, before it wrote anything, has no run, unless it failed:
        somebody will look for that.

        Args:
            known: what the run has read and written so far.
            end: how the query has ended; None while it runs.
            now: seconds of any clock that never goes back.
        """
        if self.phase is Phase.ENDED:
            return self, ()
        if end is not None:
            return replace(self, phase=Phase.ENDED, due=None, said=known), self._last_words(known, end)
        if self.phase is Phase.WAITING:
            due = now + self.interval if self.due is None else self.due
            if known.outputs or now >= due:
                return self._say(known, EventType.START, now)
            return replace(self, due=due), ()
        if known != self.said or (self.due is not None and now >= self.due):
            return self._say(known, EventType.RUNNING, now)
        return self, ()

    def _say(self, known: Description, event_type: EventType, now: float) -> _Step:
        return replace(self, phase=Phase.OPEN, due=now + self.interval, said=known), (event_type,)

    def _last_words(self, known: Description, end: EventType) -> tuple[EventType, ...]:
        if self.phase is Phase.OPEN:
            return (end,)
        return (EventType.START, end) if known.outputs or end is EventType.FAIL else ()
