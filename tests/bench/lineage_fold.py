# SPDX-License-Identifier: Apache-2.0
"""The pure parts, in process: bytes to event, event to records, records to graph."""

import gc
import time
from collections.abc import Callable
from typing import TypeVar

from lineage.events import Event
from lineage.graph import Graph, LineageRecords
from lineage.rules import Rules
from lineage.rules.event_reader import read_event, restore_event
from tests.bench.figures import Figures, Goal
from tests.bench.warehouse import Warehouse, encode

EVENTS = 9_000
READ_EVERY = 100
"""Events between two readers of the graph, each of whom makes it renew the views of jobs that were touched."""

FOLD = Goal(800, floor=True)
T = TypeVar("T")


def one_round(figures: Figures) -> None:
    """Every pure step over the same events."""
    warehouse = Warehouse(100)
    bodies = [encode(warehouse.event(number)) for number in range(EVENTS)]
    rules = Rules()
    gc.collect()
    seconds, events = _timed(lambda: [read_event(body, rules) for body in bodies])
    figures.add("read: bytes to canonical event, pure", "events/s", EVENTS / seconds)
    encoded = [(event.kind.value, event.encoded) for event in events]
    seconds, _ = _timed(lambda: [restore_event(kind, body) for kind, body in encoded])
    figures.add("restore: log to event, pure", "events/s", EVENTS / seconds)
    seconds, _ = _timed(lambda: _fold(events))
    figures.add(f"fold, graph renewed every {READ_EVERY} events, pure", "events/s", EVENTS / seconds, FOLD)


def _fold(events: list[Event]) -> None:
    lineage = LineageRecords()
    graph = Graph(lineage)
    for number, event in enumerate(events):
        lineage.apply(event)
        if number % READ_EVERY == 0:
            graph.refresh()
    graph.refresh()


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result
