# SPDX-License-Identifier: Apache-2.0
"""In-flight window of the log: ordering of events, and the position up to which all are done."""

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass, field

from lineage.events import Event
from lineage.forward.run_ends import ClosedRun
from lineage.graph.mergeable import effective_facet

MAX_EVENTS = 256
MAX_BYTES = 16 * 2**20
"""Limits of events in memory while the backend is slow or down; the others stay in the log."""

Key = tuple[Hashable, ...]


@dataclass(slots=True, eq=False)
class InFlightEvent:
    """One event in flight. `closes` are runs that the service considers ended by it.

    `defect` is the cause if the event cannot be sent at all.
    """

    seq: int
    event: Event
    closes: list[ClosedRun] = field(default_factory=list)
    defect: str | None = None

    finished: asyncio.Event = field(default_factory=asyncio.Event)
    keys: set[Key] = field(default_factory=set)
    _before: list["InFlightEvent"] = field(default_factory=list)

    async def turn(self) -> None:
        """Wait until all events that must be sent before this one are finished."""
        for entry in self._before:
            await entry.finished.wait()
        # Otherwise each entry would keep its predecessors, and so the entire history, in memory.
        self._before = []


class InFlightWindow:
    """Events in flight in order of arrival. Events of the same job, run or dataset are sent in that order.

    The parent of a run is sent before the run: a backend that receives the child first creates the parent itself.
    """

    def __init__(self, cursor: int) -> None:
        self.cursor = cursor
        """Every event up to this number is finished."""

        self._entries: dict[int, InFlightEvent] = {}
        self._last: dict[Key, InFlightEvent] = {}
        self._bytes = 0
        self._room = asyncio.Event()
        self._room.set()

    def __len__(self) -> int:
        return len(self._entries)

    async def room(self) -> None:
        """Wait until the window has room."""
        await self._room.wait()

    def add(self, entry: InFlightEvent) -> None:
        """Add the next event of the log."""
        self.queue(entry)
        self._entries[entry.seq] = entry
        self._bytes += len(entry.event.original.data)
        self._note_room()

    def queue(self, entry: InFlightEvent) -> None:
        """Order an event before the cursor among those in flight."""
        entry.keys = _ordering_keys(entry)
        wanted = entry.keys | _parent_keys(entry.event)
        entry._before = [before for key in wanted if (before := self._last.get(key)) is not None]
        self._last.update(dict.fromkeys(entry.keys, entry))

    def finish(self, entry: InFlightEvent) -> bool:
        """Mark an event as finished. Return True if the cursor has moved."""
        entry.finished.set()
        for key in entry.keys:
            if self._last.get(key) is entry:
                del self._last[key]
        before = self.cursor
        while self._entries and (head := next(iter(self._entries.values()))).finished.is_set():
            del self._entries[head.seq]
            self._bytes -= len(head.event.original.data)
            self.cursor = head.seq
        self._note_room()
        return self.cursor != before

    def _note_room(self) -> None:
        if len(self._entries) < MAX_EVENTS and self._bytes < MAX_BYTES:
            self._room.set()
        else:
            self._room.clear()


def _ordering_keys(entry: InFlightEvent) -> set[Key]:
    """Return the ordering keys of an event and of the runs that it closes."""
    event = entry.event
    keys: set[Key] = set()
    if event.dataset is not None:
        keys.add(("dataset", event.dataset))
    if event.job is not None:
        keys.add(("job", event.job))
    for run in (event.run, *(closing.run for closing in entry.closes)):
        if run is not None:
            keys |= {("run", run.run), ("job", run.job)}
    return keys


def _parent_keys(event: Event) -> set[Key]:
    """Return the key of the run that an event names as parent."""
    facets = (event.body.get("run") or {}).get("facets") or {}
    parent = effective_facet(facets, "parent")
    return set() if parent is None else {("run", parent["run"]["runId"].lower())}
