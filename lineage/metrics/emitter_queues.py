# SPDX-License-Identifier: Apache-2.0
"""Queues of the emitters themselves, as their events state them."""

from collections.abc import Iterator
from typing import NamedTuple

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from lineage.events import Event
from lineage.graph.run_record import TERMINAL_RANK
from lineage.metrics.emitter import LABELS, emitter_labels

FACET = "lineageLab_emitterQueue"
"""Run facet with `waiting` and `dropped`, numbers of events."""

MAX_SERIES = 300
"""Emitters that have series; further ones have none."""


class Queue(NamedTuple):
    """Events of an emitter that wait, and those that it has given up since its start."""

    waiting: int
    dropped: int


class EmitterQueues(Collector):
    """Last stated queue of each running job, by producer, namespace and job."""

    def __init__(self) -> None:
        self._queues: dict[tuple[str, str, str], Queue] = {}

    def observe(self, event: Event) -> None:
        """Record what an event states; the end of a run ends its series."""
        if event.job is None:
            return
        labels = emitter_labels(event)
        if event.event_type in TERMINAL_RANK:
            self._queues.pop(labels, None)
        elif (found := _stated(event)) is not None and (labels in self._queues or len(self._queues) < MAX_SERIES):
            self._queues[labels] = found

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        waiting = GaugeMetricFamily("lineage_emitter_waiting", "Events that wait in the emitter.", labels=LABELS)
        dropped = CounterMetricFamily(
            "lineage_emitter_dropped", "Events that the emitter has given up since its start.", labels=LABELS
        )
        for labels, queue in self._queues.items():
            waiting.add_metric(labels, queue.waiting)
            dropped.add_metric(labels, queue.dropped)
        yield waiting
        yield dropped


def _stated(event: Event) -> Queue | None:
    run = event.body.get("run")
    facets = run.get("facets") if isinstance(run, dict) else None
    facet = facets.get(FACET) if isinstance(facets, dict) else None
    if not isinstance(facet, dict):
        return None
    waiting, dropped = _number(facet.get("waiting")), _number(facet.get("dropped"))
    return None if waiting is None or dropped is None else Queue(waiting, dropped)


def _number(value: object) -> int | None:
    # Not isinstance alone: true is an int, too.
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
