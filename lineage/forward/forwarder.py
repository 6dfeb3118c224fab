# SPDX-License-Identifier: Apache-2.0
"""Forwarder: reads the log in order of arrival and sends enriched events to a backend.

Every event up to the durable position is delivered or a dead letter. After a crash, events delivered since then are
sent again: delivery is at-least-once, in order per job, and so per run.
"""

import asyncio
import logging
import time
from collections.abc import Hashable
from functools import partial
from typing import Protocol
from weakref import WeakValueDictionary

from lineage.events import Event, JsonObject, canonical_json
from lineage.events.own_facets import is_internal
from lineage.forward.backend import MIN_TIMEOUT, Backend
from lineage.forward.delivery import Delivery, delay_before
from lineage.forward.enrichment import enrich
from lineage.forward.responses import AttemptStatus
from lineage.graph import Graph, LineageRecords
from lineage.graph.run_record import TERMINAL_RANK
from lineage.metrics.event_delays import EventDelays, Stage
from lineage.rules.event_reader import EventReader
from lineage.store import DeadLetterKind, StoreError, StoreUnusable
from lineage.store.canonical_events import CanonicalEvents
from lineage.store.event_store import EventStore

logger = logging.getLogger(__name__)

PAGE = 32
"""Events per read: an event may have megabytes."""

MAX_EVENTS = 256
MAX_BYTES = 16 * 2**20
"""Limits of events in memory while the backend is slow or down; the others stay in the log."""

REPLAY_TIMEOUT = 15.0
"""Timeout in seconds of a replay request."""

SAVE_INTERVAL = 0.25
"""Seconds between two writes of the position: each write delays commits of events."""

GRACE_SECONDS = 1.0
"""Time limit for requests in flight when the service stops."""


class GraphSource(Protocol):
    """Records and graph that the forwarder reads; they belong to the event loop."""

    @property
    def lineage(self) -> LineageRecords:
        """Return the records of the log."""

    @property
    def graph(self) -> Graph:
        """Return the graph over the records."""

    async def apply_ahead(self, event: Event) -> None:
        """Apply an event of the log that may not have been applied yet; idempotent."""


class Forwarder:
    """Forwarder to one backend. Not thread-safe; `start` it once, end it with `close`."""

    def __init__(
        self,
        service: GraphSource,
        log: EventStore,
        reader: EventReader,
        url: str,
        api_key: str | None = None,
        min_timeout: float = MIN_TIMEOUT,
        *,
        delays: EventDelays | None = None,
    ) -> None:
        """Record the delays of delivered events in `delays`; `min_timeout` is the smallest timeout of a request (s).

        Raises:
            ValueError: `url` is invalid.
        """
        self._delays = delays
        self._service = service
        self._log = log
        self._events = CanonicalEvents(log, reader)
        self._backend = Backend(url, api_key, min_timeout)
        self._delivery = Delivery(self._backend)
        self._task: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self._changed = asyncio.Condition()
        self._read = 0
        self._in_flight: dict[int, Event] = {}
        self._locks: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()
        self._delivered = 0
        self._parked = 0

    def start(self) -> None:
        """Start from the durable position."""
        # The client library would log a line for every request.
        logging.getLogger("httpx").setLevel(logging.WARNING)
        self._task = asyncio.get_running_loop().create_task(self._forward_until_cancelled(), name="forwarder")

    def notify(self) -> None:
        """Signal new events in the log. Call it after they are in the graph."""
        self._news.set()

    @property
    def position(self) -> str:
        """Return the name of the durable position; another backend starts at the beginning of the log."""
        return f"forward to {self._backend.name}"

    @property
    def _cursor(self) -> int:
        """Return the number up to which every event is delivered or a dead letter."""
        return next(iter(self._in_flight), self._read + 1) - 1

    def status(self) -> JsonObject:
        """Return counts since the start: `delivered`, `parked`; `behind` counts events not yet sent.

        `lastError` is the last error, or None.
        """
        return {
            "to": self._backend.name,
            "delivered": self._delivered,
            "behind": self._log.last() - self._cursor,
            "parked": self._parked,
            "lastError": self._delivery.last_error,
            "cursor": self._cursor,
        }

    async def replay(self, content_hash: bytes) -> bool:
        """Retry a dead letter once, in the order of its job; False if it fails again, with an updated cause.

        Raises:
            StoreError: the updated cause could not be stored.
        """
        cause = await self._resend(content_hash)
        if cause is not None:
            await asyncio.to_thread(self._log.dead_letters.park, DeadLetterKind.FORWARD, content_hash, cause)
        return cause is None

    async def close(self) -> None:
        """Drain requests in flight, store the position, stop. Call it before the log is closed."""
        if self._task is not None:
            await self._delivery.drain(GRACE_SECONDS)
            self._task.cancel()
            await asyncio.wait([self._task])
            if self._cursor:
                await self._save_position()
        await self._backend.close()

    async def _forward_until_cancelled(self) -> None:
        """Forward until cancelled. After an error, resume from the durable position with backoff."""
        failures = 0
        while True:
            delivered = self._delivered
            try:
                await self._forward_from_position()
            except Exception as error:
                failures = 1 if self._delivered > delivered else failures + 1
                self._delivery.last_error = f"forwarding failed and will be resumed: {error!r}"
                logger.exception("forwarding to %s failed and will be resumed", self._backend.name)
                await asyncio.sleep(delay_before(failures))

    async def _forward_from_position(self) -> None:
        self._in_flight.clear()
        self._read = await asyncio.to_thread(self._log.position, self.position)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._keep_position(self._read))
            while True:
                self._news.clear()
                last, page = await asyncio.to_thread(self._read_page)
                for seq, event in page:
                    async with self._changed:
                        await self._changed.wait_for(self._has_room)
                    self._in_flight[seq] = event
                    self._read = seq
                    tasks.create_task(self._forward_event(seq, event))
                if not page:
                    # Rows that are left out, such as damaged ones, may follow the last event.
                    self._read = max(self._read, last)
                    await self._news.wait()

    def _read_page(self) -> tuple[int, list[tuple[int, Event]]]:
        last = self._log.last()
        return last, self._events.after(self._read, PAGE)

    def _has_room(self) -> bool:
        held = sum(len(event.original.data) for event in self._in_flight.values())
        return len(self._in_flight) < MAX_EVENTS and held < MAX_BYTES

    def _turn(self, event: Event) -> asyncio.Lock:
        """Return the lock of an event's job or dataset. It is fair: events take it in the order in which they ask."""
        return self._locks.setdefault(event.job or event.dataset, asyncio.Lock())

    async def _forward_event(self, seq: int, event: Event) -> None:
        async with self._turn(event):
            cause = await self._deliver(seq, event)
            if cause is None:
                self._delivered += 1
                if self._delays is not None:
                    self._delays.observe(Stage.FORWARDED, event, time.time())
            else:
                await self._park(event, cause)
            del self._in_flight[seq]
        async with self._changed:
            self._changed.notify_all()

    async def _deliver(self, seq: int, event: Event) -> str | None:
        """Send an event until it is accepted. Return None, or the cause for which it never is.

        An event that only this service understands is not sent.
        """
        if is_internal(event):
            return None
        try:
            compose, is_recognizable = partial(self._compose, seq, event), partial(self._is_only_end, event)
            return await self._delivery.send(event, compose, is_recognizable)
        except (StoreError, StoreUnusable):
            # The log cannot be read; the event is not the cause.
            raise
        except Exception as error:
            logger.exception("event %s cannot be forwarded", event.hash.hex())
            return f"cannot be enriched: {error!r}"

    async def _is_only_end(self, event: Event) -> bool:
        """Return whether an event is no terminal event beside others of its run.

        A weaker terminal event that is sent first gives the run the state and the time of the strongest one.
        """
        if event.run is None or event.event_type not in TERMINAL_RANK:
            return True
        _, stored = await asyncio.to_thread(self._log.history_of_run, event.run)
        return sum(found.original.body.get("eventType") in TERMINAL_RANK for found in stored) <= 1

    async def _compose(self, seq: int, event: Event) -> bytes:
        """Return the body to send for event number `seq`."""
        # The log is ahead of the graph while a batch is applied; applying an event is idempotent.
        await self._service.apply_ahead(event)
        ended = await self._has_ended_before(seq, event)
        lineage, graph = self._service.lineage, self._service.graph
        graph.refresh()
        return canonical_json(enrich(event, lineage, graph, ended))

    async def _has_ended_before(self, seq: int, event: Event) -> bool:
        """Return whether the end of an event's run is before number `seq` in the log, and so before it in the order."""
        if event.run is None or event.event_type in TERMINAL_RANK:
            return False
        terminal = self._service.lineage.jobs[event.run.job].runs[event.run.run].terminal
        return terminal is not None and await asyncio.to_thread(self._log.number, terminal[1].hash) < seq

    async def _park(self, event: Event, cause: str) -> None:
        """Store an event as a dead letter."""
        await asyncio.to_thread(self._log.dead_letters.park, DeadLetterKind.FORWARD, event.hash, cause)
        self._parked += 1
        name = event.hash.hex()
        logger.error("event %s is not forwarded to %s and becomes a dead letter: %s", name, self._backend.name, cause)

    async def _resend(self, content_hash: bytes) -> str | None:
        """Send an event of the log once. Return None on success, else the cause."""
        try:
            event = await asyncio.to_thread(self._events.event, content_hash)
            if event is None:
                return "the event was compacted"
            async with asyncio.timeout(REPLAY_TIMEOUT), self._turn(event):
                result = await self._delivery.attempt(partial(self._compose, self._read + 1, event))
        except (StoreError, StoreUnusable):
            raise
        except TimeoutError:
            return f"not sent within {REPLAY_TIMEOUT:g} s: {self._delivery.last_error or 'the backend is slow'}"
        except Exception as error:
            logger.exception("event %s cannot be forwarded", content_hash.hex())
            return f"cannot be enriched: {error!r}"
        return None if result.status is AttemptStatus.ACCEPTED else result.text

    async def _keep_position(self, saved: int) -> None:
        """Store the position when it has moved."""
        while True:
            async with self._changed:
                while self._cursor == saved:
                    await self._changed.wait()
            saved = await self._save_position()
            await asyncio.sleep(SAVE_INTERVAL)

    async def _save_position(self) -> int:
        """Store the position; return it. If that fails, events since then are sent again after the next start."""
        cursor = self._cursor
        saving = asyncio.create_task(asyncio.to_thread(self._log.set_position, self.position, cursor))
        try:
            await asyncio.shield(saving)
        except asyncio.CancelledError:
            # A thread cannot be cancelled: it must not store an older position after a newer one.
            await asyncio.wait([saving])
            raise
        except StoreError as error:
            self._delivery.last_error = f"position {cursor} is not stored: {error}"
            logger.warning("%s; events since then will be sent again after the next start", self._delivery.last_error)
        return cursor
