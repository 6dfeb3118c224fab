# SPDX-License-Identifier: Apache-2.0
"""The part of the log that is on its way: which event may go out when, and up to where all is done."""

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass, field

from lineage.events import Event
from lineage.forward.facets import standing
from lineage.forward.run_ends import Closing

MAX_EVENTS = 256
MAX_BYTES = 16 * 2**20
"""Bounds of what is in memory while the consumer is slow or gone; the rest stays in the log."""

Key = tuple[Hashable, ...]


@dataclass(slots=True, eq=False)
class InFlightEvent:
    """One event on its way. `closes` are runs that the service takes to have ended at it.

    `defect` is set where the event cannot be sent at all, and says why.
    """

    seq: int
    event: Event
    closes: list[Closing] = field(default_factory=list)
    defect: str | None = None

    finished: asyncio.Event = field(default_factory=asyncio.Event)
    _keys: set[Key] = field(default_factory=set)
    _before: list["InFlightEvent"] = field(default_factory=list)

    async def turn(self) -> None:
        """Return when everything that must go out before this event has gone out."""
        for entry in self._before:
            await entry.finished.wait()
        # Each would else keep its own forerunners, and so the whole history, in memory.
        self._before = []


class InFlightWindow:
    """Events in order of arrival. What speaks of the same job, run or dataset goes out in that order.

    The parent of a run goes out before the run: a consumer that hears of the child first makes the parent up.
    """

    def __init__(self, cursor: int) -> None:
        self.cursor = cursor
        """Every event up to this number is done with."""

        self._entries: dict[int, InFlightEvent] = {}
        self._last: dict[Key, InFlightEvent] = {}
        self._bytes = 0
        self._room = asyncio.Event()
        self._room.set()

    def __len__(self) -> int:
        return len(self._entries)

    async def room(self) -> None:
        """Return when there is room for more."""
        await self._room.wait()

    def add(self, entry: InFlightEvent) -> None:
        """Put in the next event of the log."""
        self.queue(entry)
        self._entries[entry.seq] = entry
        self._bytes += len(entry.event.encoded)
        self._note_room()

    def queue(self, entry: InFlightEvent) -> None:
        """Have an event wait for its turn that the cursor has passed already."""
        entry._keys = _keys(entry)
        wanted = entry._keys | _parent_keys(entry.event)
        entry._before = [before for key in wanted if (before := self._last.get(key)) is not None]
        self._last.update(dict.fromkeys(entry._keys, entry))

    def finish(self, entry: InFlightEvent) -> bool:
        """An event is done with. True where the cursor has moved."""
        entry.finished.set()
        for key in entry._keys:
            if self._last.get(key) is entry:
                del self._last[key]
        before = self.cursor
        while self._entries and (head := next(iter(self._entries.values()))).finished.is_set():
            del self._entries[head.seq]
            self._bytes -= len(head.event.encoded)
            self.cursor = head.seq
        self._note_room()
        return self.cursor != before

    def _note_room(self) -> None:
        if len(self._entries) < MAX_EVENTS and self._bytes < MAX_BYTES:
            self._room.set()
        else:
            self._room.clear()


def _keys(entry: InFlightEvent) -> set[Key]:
    """What an event speaks of, itself or by what it closes."""
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
    """The run that an event names as the parent of its own."""
    facets = (event.body.get("run") or {}).get("facets") or {}
    parent = standing(facets, "parent")
    return set() if parent is None else {("run", parent["run"]["runId"].lower())}
