# SPDX-License-Identifier: Apache-2.0
"""What is to be sent because of an event of the log: itself, and the ends of runs that it closes."""

import asyncio
from collections import OrderedDict
from typing import Protocol

from lineage.events import Event, RunId, canonical_json
from lineage.fold import Graph, Lineage
from lineage.fold.records import TERMINAL_RANK
from lineage.forward.arrivals import Arrivals
from lineage.forward.complete import closing_event, complete
from lineage.forward.ends import OpenChildren, closed_by, end_of, is_closed_by

ENDED_KEPT = 10_000
_YIELD_EVERY = 5_000


class Folded(Protocol):
    """What the forwarder needs of the service: records and graph, which belong to the event loop."""

    @property
    def lineage(self) -> Lineage:
        """The records of everything that is in the log."""

    @property
    def graph(self) -> Graph:
        """The graph over them."""


class Messages:
    """Makes messages of the records as they are. To be told of events in the order of their arrival."""

    def __init__(self, service: Folded, arrivals: Arrivals) -> None:
        self._service = service
        self._arrivals = arrivals
        self._children = OpenChildren()
        self._ended: OrderedDict[RunId, None] = OrderedDict()

    async def learn(self) -> None:
        """Learn from the records which runs are open below a parent."""
        self._children = OpenChildren()
        for job in list(self._service.lineage.jobs.values()):
            for count, run in enumerate(list(job.runs.values()), 1):
                self._children.note(run)
                if count % _YIELD_EVERY == 0:
                    await asyncio.sleep(0)

    def closes(self, event: Event) -> list[RunId]:
        """The runs that an event closes. Sees to it that the event is in the records."""
        lineage = self._service.lineage
        # The log is ahead of the graph while a batch is applied; applying an event twice changes nothing.
        lineage.apply(event)
        if event.run is not None:
            self._children.note(lineage.jobs[event.run.job].runs[event.run.run])
        return closed_by(lineage, event, self._children)

    def reopen(self, run: RunId) -> None:
        """The end of a closed run has not gone out: its parent's end is to close it again when it is sent again."""
        self._children.note(self._service.lineage.jobs[run.job].runs[run.run])

    async def completed(self, event: Event, seq: int) -> bytes:
        """The message of an event that has arrived under number `seq`."""
        lineage, ended = self._service.lineage, None
        if event.run is not None and event.event_type not in TERMINAL_RANK:
            end = end_of(lineage, lineage.jobs[event.run.job].runs[event.run.run])
            if end is not None and (event.run in self._ended or await self._arrived(end.order.hash) <= seq):
                ended = end.event_type
        self._service.graph.refresh()
        return canonical_json(complete(event, self._service.lineage, self._service.graph, ended))

    async def closing(self, event: Event, run: RunId) -> bytes | None:
        """The end of a run that an event closes; None where the run has since got an end of its own."""
        lineage = self._service.lineage
        if not is_closed_by(lineage, run, event):
            return None
        record = lineage.jobs[run.job].runs[run.run]
        end = end_of(lineage, record)
        assert end is not None
        self._service.graph.refresh()
        return canonical_json(closing_event(lineage, self._service.graph, record, end))

    def sent(self, event: Event) -> None:
        """Remember that a run has ended: should it end again, later and harder, nothing may come in between."""
        if event.run is not None and event.event_type in TERMINAL_RANK:
            self._ended[event.run] = None
            self._ended.move_to_end(event.run)
            if len(self._ended) > ENDED_KEPT:
                self._ended.popitem(last=False)

    async def _arrived(self, content_hash: bytes) -> int:
        return await asyncio.to_thread(self._arrivals.number, content_hash)
