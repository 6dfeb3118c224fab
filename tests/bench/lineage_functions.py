# SPDX-License-Identifier: Apache-2.0
"""Rates of the lineage service's pure functions, in process: bytes to event, event to records, records to graph."""

import gc
import time
from collections.abc import Callable
from typing import TypeVar

from lineage.events import Event
from lineage.graph import Graph, LineageRecords
from lineage.rules import Rules
from lineage.rules.event_reader import read_event
from lineage.store.compression import compress, decompress
from tests.bench.figures import Figures, Goal
from tests.bench.warehouse import Warehouse, encode

EVENTS = 9_000
REFRESH_INTERVAL = 100
"""Events between two refreshes of the graph, each of which derives the lineage of all changed jobs."""

APPLY_RATE = Goal(800, floor=True)
T = TypeVar("T")


def measure_round(figures: Figures) -> None:
    """Run every function once over the same events."""
    warehouse = Warehouse(100)
    bodies = [encode(warehouse.event(number)) for number in range(EVENTS)]
    rules = Rules()
    gc.collect()
    seconds, events = _timed(lambda: [read_event(body, rules) for body in bodies])
    figures.add("read: bytes to canonical event, in process", "events/s", EVENTS / seconds)
    compressed = [compress(body) for body in bodies]
    seconds, _ = _timed(lambda: [read_event(decompress(body), rules) for body in compressed])
    figures.add("restore: log to event, in process", "events/s", EVENTS / seconds)
    seconds, _ = _timed(lambda: _apply_all(events))
    name = f"apply to graph, refreshed every {REFRESH_INTERVAL} events, in process"
    figures.add(name, "events/s", EVENTS / seconds, APPLY_RATE)


def _apply_all(events: list[Event]) -> None:
    lineage = LineageRecords()
    graph = Graph(lineage)
    for number, event in enumerate(events):
        lineage.apply(event)
        if number % REFRESH_INTERVAL == 0:
            graph.refresh()
    graph.refresh()


def _timed(function: Callable[[], T]) -> tuple[float, T]:
    began = time.perf_counter()
    result = function()
    return time.perf_counter() - began, result
