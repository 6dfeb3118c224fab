# SPDX-License-Identifier: Apache-2.0
"""Delays of events by emitter and job, as a histogram of Prometheus. Time is a parameter."""

from enum import StrEnum

from prometheus_client import CollectorRegistry, Histogram, disable_created_metrics

from lineage.events import Event
from lineage.metrics.emitter import LABELS, emitter_labels

# Times of creation would double the number of series; Prometheus does not need them.
disable_created_metrics()  # type: ignore[no-untyped-call]

BUCKETS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Upper bounds in seconds."""

MAX_SERIES = 300
"""Pairs of emitter and job that have series of their own; each has 13 for each stage. Further ones share those of an
empty job."""


class Stage(StrEnum):
    """End of a delay that begins with the event time."""

    ACCEPTED = "accepted"
    """The event arrived, and is valid."""

    VISIBLE = "visible"
    """The event is on disk and in the graph."""

    FORWARDED = "forwarded"
    """The backend that events are forwarded to has accepted it."""


class EventDelays:
    """Delays since the start. A clock that runs ahead never makes one negative."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._histogram = Histogram(
            "lineage_event_delay_seconds",
            "Time from an event's own until it was accepted, visible in the graph, or forwarded.",
            ("stage", *LABELS),
            registry=self.registry,
            buckets=BUCKETS,
        )
        self._known: set[tuple[str, str, str]] = set()

    def observe(self, stage: Stage, event: Event, time: float) -> None:
        """Record that an event has reached a stage at `time`, seconds since 1970."""
        labels = self._labels(event)
        self._histogram.labels(stage, *labels).observe(max(0.0, time - event.order.time / 1e9))

    def _labels(self, event: Event) -> tuple[str, str, str]:
        """Return the labels of an event, empty ones beyond `MAX_SERIES`."""
        labels = emitter_labels(event)
        if labels in self._known:
            return labels
        if len(self._known) >= MAX_SERIES:
            return ("", "", "")
        self._known.add(labels)
        return labels
