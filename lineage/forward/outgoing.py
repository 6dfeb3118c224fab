# SPDX-License-Identifier: Apache-2.0
"""Events to send for an event of the log: itself, and the ends of runs that it closes."""

import asyncio
from collections import OrderedDict
from typing import Protocol

from lineage.events import Event, RunId, canonical_json
from lineage.events.event import Order
from lineage.forward.enrichment import closing_event, enrich
from lineage.forward.run_ends import ClosedRun, OpenChildren, closed_by, end_of, is_closed_at
from lineage.graph import Graph, LineageRecords
from lineage.graph.job_record import TERMINAL_RANK
from lineage.store import EventLog

ENDED_KEPT = 10_000
_YIELD_EVERY = 5_000


class GraphSource(Protocol):
    """Records and graph that the forwarder reads; they belong to the event loop."""

    @property
    def lineage(self) -> LineageRecords:
        """Return the records of the log."""

    @property
    def graph(self) -> Graph:
        """Return the graph over the records."""


class OutgoingEvents:
    """Builds the events to send from the current records. Call it in order of arrival."""

    def __init__(self, service: GraphSource, log: EventLog) -> None:
        self._service = service
        self._log = log
        self._children = OpenChildren()
        self._ended: OrderedDict[RunId, None] = OrderedDict()

    async def load(self) -> None:
        """Load the runs that are open below a parent."""
        self._children = OpenChildren()
        for job in list(self._service.lineage.jobs.values()):
            for count, run in enumerate(list(job.runs.values()), 1):
                self._children.update(run)
                if count % _YIELD_EVERY == 0:
                    await asyncio.sleep(0)

    async def closes(self, event: Event, seq: int) -> list[ClosedRun]:
        """Return the runs that event number `seq` closes; apply it to the records if it is not yet."""
        lineage, ended = self._service.lineage, None
        # The log is ahead of the graph while a batch is applied; applying an event is idempotent.
        lineage.apply(event)
        if event.run is not None:
            run = lineage.jobs[event.run.job].runs[event.run.run]
            self._children.update(run)
            end = end_of(lineage, run)
            if end is not None and self._children.children_of(run.id) and await self._arrival_number(end.order) <= seq:
                ended = end.order
        return closed_by(lineage, event, self._children, ended)

    def reopen(self, run: RunId) -> None:
        """Reopen a closed run whose end was not sent, so that its parent's end closes it on a retry."""
        self._children.update(self._service.lineage.jobs[run.job].runs[run.run])

    async def completed(self, event: Event, seq: int) -> bytes:
        """Return the event to send for event number `seq`."""
        lineage, ended = self._service.lineage, None
        if event.run is not None and event.event_type not in TERMINAL_RANK:
            end = end_of(lineage, lineage.jobs[event.run.job].runs[event.run.run])
            if end is not None and (event.run in self._ended or await self._arrival_number(end.order) <= seq):
                ended = end.event_type
        self._service.graph.refresh()
        return canonical_json(enrich(event, self._service.lineage, self._service.graph, ended))

    async def closing(self, closing: ClosedRun) -> bytes | None:
        """Return the end of a run that the service closed; None if another end has arrived since."""
        lineage = self._service.lineage
        if not is_closed_at(lineage, closing):
            return None
        record = lineage.jobs[closing.run.job].runs[closing.run.run]
        end = end_of(lineage, record)
        assert end is not None
        self._service.graph.refresh()
        return canonical_json(closing_event(lineage, self._service.graph, record, end))

    def sent(self, event: Event) -> None:
        """Record that a run has ended: no open event may be sent between two terminal events."""
        if event.run is not None and event.event_type in TERMINAL_RANK:
            self._ended[event.run] = None
            self._ended.move_to_end(event.run)
            if len(self._ended) > ENDED_KEPT:
                self._ended.popitem(last=False)

    async def _arrival_number(self, order: Order) -> int:
        return await asyncio.to_thread(self._log.number, order.hash)
