# SPDX-License-Identifier: Apache-2.0
"""Forwarder: reads the log in order of arrival and sends enriched events to a backend.

Every event up to the durable cursor is delivered or a dead letter. After a crash, events delivered since the cursor
was stored are sent again: delivery is at-least-once, in order.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from lineage.events import Event, JsonObject, RunId
from lineage.forward.backend import Backend
from lineage.forward.backoff import delay_before
from lineage.forward.delivery import Delivery
from lineage.forward.ordering import InFlightEvent, InFlightWindow
from lineage.forward.outgoing import GraphSource, OutgoingEvents
from lineage.rules.event_reader import EventReader
from lineage.store import DeadLetterKind, EventLog, StoreError
from lineage.store.canonical_events import CanonicalEvents

logger = logging.getLogger(__name__)

PAGE = 32
"""Events per read: an event may have megabytes."""

TIMEOUT_SECONDS = 10.0
"""Timeout of one request; Marquez takes up to 1 s under load."""

REPLAY_SECONDS = 15.0
"""Timeout of a replay request."""

SAVE_SECONDS = 0.25
"""Interval of storing the cursor: each write delays commits of events."""

GRACE_SECONDS = 1.0
"""Time limit for requests in flight when the service stops."""

ENDED_READ = 512
"""Events before the cursor that are read again after a start, to find ended runs."""


@dataclass(frozen=True, slots=True)
class _OutgoingMessage:
    """Event to send; `label` describes it, `closes` is set if it is the end of another run."""

    label: str
    make_body: Callable[[], Awaitable[bytes | None]]
    closes: RunId | None = None


class Forwarder:
    """Forwarder to one backend. Not thread-safe; `start` it once, end it with `close`."""

    def __init__(
        self, service: GraphSource, log: EventLog, reader: EventReader, url: str, seconds: float = TIMEOUT_SECONDS
    ) -> None:
        """`seconds` is the timeout of one request. Raises ValueError if `url` is invalid."""
        self._log = log
        self._events = CanonicalEvents(log, reader)
        self._backend = Backend(url, seconds)
        self._delivery = Delivery(self._backend)
        self._messages = OutgoingEvents(service, log)
        self._window = InFlightWindow(0)
        self._news = asyncio.Event()
        self._moved = asyncio.Event()
        self._saving: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._turns: set[asyncio.Task[None]] = set()
        self._at_end = False
        self._admitted = 0
        self._delivered = 0
        self._parked = 0

    def start(self) -> None:
        """Start from the durable cursor."""
        # The client library would log a line for every request.
        logging.getLogger("httpx").setLevel(logging.WARNING)
        self._task = asyncio.get_running_loop().create_task(self._forward_until_cancelled(), name="forwarder")

    def notify(self) -> None:
        """Signal new events in the log. Call it after they are in the graph."""
        self._at_end = False
        self._news.set()

    @property
    def position(self) -> str:
        """Return the name of the durable cursor; another backend starts at the beginning of the log."""
        return f"forward to {self._backend.name}"

    def status(self) -> JsonObject:
        """Return counts since the start: `delivered`, `parked`; `behind` counts events not yet sent.

        `lastError` is the last error, or None.
        """
        left = 0 if self._at_end else self._log.last() - self._window.cursor
        return {
            "to": self._backend.name,
            "delivered": self._delivered,
            "behind": max(left, len(self._window)),
            "parked": self._parked,
            "lastError": self._delivery.last_error,
            "cursor": self._window.cursor,
        }

    async def replay(self, content_hash: bytes) -> bool:
        """Retry a dead letter in the order of its job; False if it fails again, with an updated cause.

        Raises:
            StoreError: the updated cause could not be stored.
        """
        try:
            event = await asyncio.to_thread(self._events.event, content_hash)
            reason = "the event was compacted" if event is None else await self._resend_event(event)
        except sqlite3.Error:
            raise
        except Exception as error:
            logger.exception("event %s cannot be forwarded", content_hash.hex())
            reason = f"cannot be completed: {error!r}"
        if reason is not None:
            await asyncio.to_thread(self._log.dead_letters.park, DeadLetterKind.FORWARD, content_hash, reason)
        return reason is None

    async def close(self) -> None:
        """Drain requests in flight, store the cursor, stop. Call it before the log is closed."""
        if self._task is not None:
            await self._delivery.drain(GRACE_SECONDS)
            self._task.cancel()
            for turn in self._turns:
                turn.cancel()
            await asyncio.wait([self._task, *self._turns])
            if self._saving is not None:
                # A thread cannot be cancelled: it must not store an older cursor afterwards.
                await asyncio.wait([self._saving])
            if self._window.cursor:
                await self._save_cursor()
        await self._backend.close()

    async def _forward_until_cancelled(self) -> None:
        """Forward until cancelled. After an error, resume from the durable cursor with backoff."""
        failures = 0
        while True:
            delivered = self._delivered
            try:
                await self._forward_from_cursor()
            except Exception as error:
                failures = 1 if self._delivered > delivered else failures + 1
                self._delivery.last_error = f"forwarding failed and will be resumed: {error!r}"
                logger.exception("forwarding to %s failed and will be resumed", self._backend.name)
                await asyncio.sleep(delay_before(failures))

    async def _forward_from_cursor(self) -> None:
        cursor = await asyncio.to_thread(self._log.position, self.position)
        # Register the position first: retention does not compact events after it.
        await asyncio.to_thread(self._log.set_position, self.position, cursor)
        self._window = InFlightWindow(cursor)
        await self._load_runs(cursor)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._keep_cursor())
            self._admitted = cursor
            while True:
                await self._window.room()
                self._news.clear()
                page = await asyncio.to_thread(self._events.after, self._admitted, PAGE)
                for seq, event in page:
                    tasks.create_task(self._deliver_event(await self._admit_event(seq, event)))
                    self._admitted = seq
                if not page and not self._news.is_set():
                    self._at_end = True
                    await self._news.wait()

    async def _load_runs(self, cursor: int) -> None:
        """Load the runs that are open below a parent, and those that ended shortly before the cursor."""
        await self._messages.load()
        place = max(0, cursor - ENDED_READ)
        while page := await asyncio.to_thread(self._events.after, place, PAGE):
            for place, event in page:
                if place > cursor:
                    return
                self._messages.sent(event)

    async def _admit_event(self, seq: int, event: Event) -> InFlightEvent:
        """Add an event of the log to the window."""
        entry = InFlightEvent(seq, event)
        try:
            entry.closes = await self._messages.closes(event, seq)
        except sqlite3.Error:
            raise
        except Exception as error:
            logger.exception("event %s cannot be forwarded", event.order.hash.hex())
            entry.defect = f"cannot be applied: {error!r}"
        self._window.add(entry)
        return entry

    async def _deliver_event(self, entry: InFlightEvent) -> None:
        await entry.turn()
        refusals = [entry.defect] if entry.defect else await self._send_messages(entry)
        self._messages.sent(entry.event)
        if refusals:
            await self._park_event(entry.event, "; ".join(refusals))
        else:
            self._delivered += 1
        if self._window.finish(entry):
            self._moved.set()

    async def _send_messages(self, entry: InFlightEvent) -> list[str]:
        """Send all messages of an event; return the causes of those that were rejected."""
        refusals = []
        for message in self._messages_of(entry):
            try:
                refusal = await self._delivery.send(entry.seq, message.make_body)
            except sqlite3.Error:
                # The log cannot be read; the event is not the cause.
                raise
            except Exception as error:
                logger.exception("event %s cannot be forwarded", entry.event.order.hash.hex())
                refusal = f"cannot be completed: {error!r}"
            if refusal is not None:
                refusals.append(message.label + refusal)
                if message.closes is not None:
                    self._messages.reopen(message.closes)
        return refusals

    def _messages_of(self, entry: InFlightEvent) -> list[_OutgoingMessage]:
        """Return an event and the ends of the runs that it closes, in sending order.

        A run ends before the START that supersedes it, and after its parent.
        """
        event, messages = entry.event, self._messages
        own = [_OutgoingMessage("", partial(messages.completed, event, entry.seq))]
        ends = [
            _OutgoingMessage(f"the end of run {closing.run.run}: ", partial(messages.closing, closing), closing.run)
            for closing in entry.closes
        ]
        return ends + own if event.event_type == "START" else own + ends

    async def _resend_event(self, event: Event) -> str | None:
        """Send an event before the cursor once, in the order of its job. Return the cause of a failure, or None."""
        seq = self._admitted + 1
        entry = InFlightEvent(seq, event, await self._messages.closes(event, seq))
        self._window.queue(entry)
        turn = asyncio.create_task(entry.turn())
        self._turns.add(turn)
        try:
            async with asyncio.timeout(REPLAY_SECONDS):
                await asyncio.shield(turn)
                for message in self._messages_of(entry):
                    body = await message.make_body()
                    if body is not None and (refusal := await self._delivery.send_once(body)) is not None:
                        return message.label + refusal
                return None
        except TimeoutError:
            return f"not sent within {REPLAY_SECONDS:g} s: {self._delivery.last_error or 'the backend is slow'}"
        finally:
            # Later events of the job are sent after earlier ones, whatever its outcome.
            turn.add_done_callback(lambda _: self._end_turn(turn, entry))
            for closing in entry.closes:
                self._messages.reopen(closing.run)

    def _end_turn(self, turn: asyncio.Task[None], entry: InFlightEvent) -> None:
        self._turns.discard(turn)
        self._window.finish(entry)

    async def _park_event(self, event: Event, reason: str) -> None:
        """Record an event as a dead letter; retry until that is stored."""
        name = event.order.hash.hex()
        attempt = 0
        while True:
            try:
                await asyncio.to_thread(self._log.dead_letters.park, DeadLetterKind.FORWARD, event.order.hash, reason)
                break
            except StoreError as error:
                attempt += 1
                self._delivery.last_error = f"event {name} cannot be stored as a dead letter: {error}"
                logger.warning("%s", self._delivery.last_error)
                await asyncio.sleep(delay_before(attempt))
        self._parked += 1
        logger.error("event %s is not forwarded to %s and becomes a dead letter: %s", name, self._backend.name, reason)

    async def _keep_cursor(self) -> None:
        while True:
            await self._moved.wait()
            self._moved.clear()
            await self._save_cursor()
            await asyncio.sleep(SAVE_SECONDS)

    async def _save_cursor(self) -> None:
        cursor = self._window.cursor
        self._saving = asyncio.ensure_future(asyncio.to_thread(self._log.set_position, self.position, cursor))
        try:
            await asyncio.shield(self._saving)
        except StoreError as error:
            self._delivery.last_error = f"cursor {cursor} is not stored: {error}"
            logger.warning("%s; events since then will be sent again after the next start", self._delivery.last_error)
            self._moved.set()
