# SPDX-License-Identifier: Apache-2.0
"""State machine of a streaming query's run: state, current lineage and time decide which events are due. Pure."""

from dataclasses import dataclass, replace

from lineagelab_common.text_enum import TextEnum
from lineagelab_spark.description import Description


class EventType(TextEnum):
    """OpenLineage event types."""

    START = "START"
    RUNNING = "RUNNING"
    COMPLETE = "COMPLETE"
    FAIL = "FAIL"
    ABORT = "ABORT"


class RunPhase(TextEnum):
    """Phase of a run."""

    WAITING = "no write seen and no event sent"
    OPEN = "START sent"
    ENDED = "terminal event sent, or run not reported"


_Step = tuple["Lifecycle", tuple[EventType, ...]]


@dataclass(frozen=True)
class Lifecycle:
    """Immutable state of a run.

    Attributes:
        interval: seconds between RUNNING events, and maximum delay of START while there is no write.
        due: deadline of the next event; None before the first step and after the end.
        reported: inputs and outputs in the last event.
    """

    interval: float
    phase: RunPhase = RunPhase.WAITING
    due: float | None = None
    reported: Description | None = None

    def step(self, known: Description, end: EventType | None, now: float) -> _Step:
        """Return the next state and the events to send now, in order.

        START is sent when the first output is known, or after one interval without a write: a query that waits for
        data is running. A query that ends earlier without a write is not reported, unless it failed.

        Args:
            known: inputs and outputs of the run so far.
            end: terminal event type; None while the query runs.
            now: seconds of a monotonic clock.
        """
        if self.phase is RunPhase.ENDED:
            return self, ()
        if end is not None:
            return replace(self, phase=RunPhase.ENDED, due=None, reported=known), self._terminal_events(known, end)
        if self.phase is RunPhase.WAITING:
            due = now + self.interval if self.due is None else self.due
            if known.outputs or now >= due:
                return self._emit(known, EventType.START, now)
            return replace(self, due=due), ()
        if known != self.reported or (self.due is not None and now >= self.due):
            return self._emit(known, EventType.RUNNING, now)
        return self, ()

    def _emit(self, known: Description, event_type: EventType, now: float) -> _Step:
        return replace(self, phase=RunPhase.OPEN, due=now + self.interval, reported=known), (event_type,)

    def _terminal_events(self, known: Description, end: EventType) -> tuple[EventType, ...]:
        if self.phase is RunPhase.OPEN:
            return (end,)
        return (EventType.START, end) if known.outputs or end is EventType.FAIL else ()
