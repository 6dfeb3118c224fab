# SPDX-License-Identifier: Apache-2.0
"""The service without HTTP: accepts events durably and keeps the graph current.

One event loop owns the graph; the writer's thread owns the disk. An event is acknowledged after its commit
and after it is in the graph, so that its sender reads what he wrote.
"""

import asyncio
import logging
from collections import Counter, deque

from lineage.events import Event
from lineage.fold import Graph, Lineage
from lineage.ingest import read_event
from lineage.rules import Rules
from lineage.store import Batch, EventLog, EventWriter

logger = logging.getLogger(__name__)

_UNAPPLIED_KEPT = 100


class Service:
    """Rules, log and graph behind the API. Make it in the event loop that uses it; end it with `close`."""

    def __init__(self, log: EventLog, rules: Rules, queue_size: int) -> None:
        """Rebuild the graph from the log and start the writer."""
        self.log = log
        self.lineage = Lineage()
        self.graph = Graph(self.lineage)
        self.refused: Counter[str] = Counter()
        self.accepted = 0
        self.duplicates = 0
        self.stored = 0
        self._unapplied: deque[dict[str, str]] = deque(maxlen=_UNAPPLIED_KEPT)
        self._rules = rules
        self._loop = asyncio.get_running_loop()
        self.logged = 0
        for event in log.events():
            self._apply(event)
        self._writer: EventWriter[asyncio.Future[bool]] = EventWriter(log, queue_size, self._on_batch)

    @property
    def waiting(self) -> int:
        """Events that wait for their commit."""
        return self._writer.waiting

    async def ingest(self, data: bytes) -> bool:
        """Store one event; on return it is on disk and in the graph. False if it was there before.

        Raises:
            EventError: the event must not be stored.
            QueueFull, StoreFull, StoreError: it could not be stored now; nothing of it was.
        """
        event = read_event(data, self._rules)
        done: asyncio.Future[bool] = self._loop.create_future()
        self._writer.submit(event, done)
        return await done

    def defects(self) -> list[dict[str, str]]:
        """Events (`hash`) that could not be applied, jobs (`job`) whose view could not be derived; `error` each."""
        failed = sorted(self.graph.failed.items())
        jobs = [{"job": f"{job.namespace}/{job.name}", "error": error} for job, error in failed]
        return [*self._unapplied, *jobs]

    async def close(self) -> None:
        """Write what is queued, answer its senders, close the log."""
        await asyncio.to_thread(self._writer.close)
        await asyncio.sleep(0)
        self.log.close()

    def _on_batch(self, batch: Batch[asyncio.Future[bool]]) -> None:
        self._loop.call_soon_threadsafe(self._settle, batch)

    def _settle(self, batch: Batch[asyncio.Future[bool]]) -> None:
        if batch.error is not None:
            for done in batch.tags:
                if not done.cancelled():
                    done.set_exception(batch.error)
            return
        for event, done, is_new in zip(batch.events, batch.tags, batch.stored, strict=True):
            self.accepted += 1
            if is_new:
                self.stored += 1
                self._apply(event)
            else:
                self.duplicates += 1
            if not done.cancelled():
                done.set_result(is_new)

    def _apply(self, event: Event) -> None:
        """Join an event that is on disk into the graph.

        Should that fail, the event stays in the log and is listed, and the service goes on: one event that a
        defect cannot digest must not take the others with it.
        """
        self.logged += 1
        try:
            self.lineage.apply(event)
        except Exception as error:
            logger.exception("event %s is stored but cannot be applied", event.order.hash.hex())
            self._unapplied.append({"hash": event.order.hash.hex(), "error": repr(error)})
