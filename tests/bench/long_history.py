# SPDX-License-Identifier: Apache-2.0
"""Fills a data directory with a long history, without HTTP and with all records in memory: in a third of the time.

The log and the state are those of a service that received the events; its caches are not part of them. An interrupted
fill goes on where it stopped. Ten million events of 20,000 jobs take some two hours, 1 GB of memory and 7 GB of disk.
"""

import time
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

from lineage.events import Original, read_original
from lineage.rules import Rules
from lineage.rules.event_reader import EventReader
from lineage.store import EventLog
from lineage.store.projection import Projection
from lineage.store.state_file import open_state
from tests.bench.run_history import RunHistory
from tests.bench.warehouse import encode

_PART = 1_024
_PARTS_AHEAD = 4
_REPORTED_EVENTS = 100_000
_ALL = 10**9
_UNSAVED = 200_000
"""Changed records with which a checkpoint is made: ten times as many as in the service."""


def fill(data: Path, history: RunHistory, events: int) -> None:
    """Store the first events of a history in a data directory, and make its state; no service may use it.

    Raises:
        ValueError: it has the last event of the history already.
        StoreUnusable: a service uses the directory, or it has no log of this version.
        StoreError: it cannot be written.
    """
    log = EventLog(data)
    try:
        if log.number(_original(history, history.events - 1).hash):
            raise ValueError(f"{data} has the whole history: no event is left to be sent; fill another folder")
        _store(log, history, events)
        _fold(log, data)
    finally:
        log.close()


def _store(log: EventLog, history: RunHistory, events: int) -> None:
    # Repeated events have no number of their own, so that the last ones are stored again: as duplicates.
    starts = range(log.last(), events, _PART)
    with ProcessPoolExecutor(1) as generator:
        ahead = deque(generator.submit(_originals, history, start, events) for start in starts[:_PARTS_AHEAD])
        for count, start in enumerate(starts):
            log.append(ahead.popleft().result())
            if count + _PARTS_AHEAD < len(starts):
                ahead.append(generator.submit(_originals, history, starts[count + _PARTS_AHEAD], events))
            while log.seal():
                pass
            _report("stored", start, _PART)


def _originals(history: RunHistory, first: int, end: int) -> list[Original]:
    return [_original(history, number) for number in range(first, min(first + _PART, end))]


def _original(history: RunHistory, number: int) -> Original:
    """Return an event of the history. Its body has only what the log reads: it goes to another process."""
    found = read_original(encode(history.event(number)))
    return replace(found, body={"job": found.body["job"]})


def _fold(log: EventLog, data: Path) -> None:
    rules = Rules()
    state = open_state(data, rules, log.compacted_through(), log.last(), log.identity)
    folded = Projection(log, EventReader(rules), state)
    folded.max_unsaved = _UNSAVED
    folded.lineage.max_jobs = folded.lineage.max_datasets = _ALL
    position = state.position or 0
    for _ in folded.build(checkpoints=True):
        _report("folded", position, folded.position - position)
        position = max(position, folded.position)
    for _ in folded.save():
        pass
    folded.commit()
    state.close()


def _report(what: str, start: int, number: int) -> None:
    """Print a line where `number` events after `start` reach a multiple of `_REPORTED_EVENTS`."""
    reached = (start + number) // _REPORTED_EVENTS
    if number > 0 and reached > start // _REPORTED_EVENTS:
        print(f"{time.strftime('%H:%M:%S')} {what} {reached * _REPORTED_EVENTS:,} events", flush=True)
