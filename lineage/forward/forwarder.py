# SPDX-License-Identifier: Apache-2.0
"""Reads the log in order of arrival and sends what it means to a consumer.

Every event up to the durable cursor is delivered or parked. After a kill, what was delivered since the cursor was
last stored is sent once more: at least once, in order.
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
from lineage.store import DeadLetterKind, EventLog, StoreError

logger = logging.getLogger(__name__)

PAGE = 32
"""Events read at once: as an event may have megabytes, a page of them must not be large."""

TIMEOUT_SECONDS = 10.0
"""For one attempt; Marquez takes up to 1 s under load."""

REPLAY_SECONDS = 15.0
"""Who asks for a parked event to be sent again does not wait longer than that."""

SAVE_SECONDS = 0.25
"""Between two writes of the cursor: each one costs those who wait for a commit of theirs."""

GRACE_SECONDS = 1.0
"""How long requests under way may go on when the service ends."""

ENDED_READ = 512
"""Events before the cursor that are read again after a start, for the ends of runs among them."""


@dataclass(frozen=True, slots=True)
class _Message:
    """Something to send; `label` tells people what, `closes` is set where it is the end of another run."""

    label: str
    make_body: Callable[[], Awaitable[bytes | None]]
    closes: RunId | None = None


class Forwarder:
    """Feeds one consumer. Belongs to the event loop that calls it; `start` it once, end it with `close`."""

    def __init__(self, service: GraphSource, log: EventLog, url: str, seconds: float = TIMEOUT_SECONDS) -> None:
        """`seconds` is the time that one attempt may take. Raises ValueError where `url` is none to post to."""
        self._log = log
        self._consumer = Backend(url, seconds)
        self._delivery = Delivery(self._consumer)
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
        """Begin where the last forwarder of this log has ended."""
        # The client library would log a line for every request.
        logging.getLogger("httpx").setLevel(logging.WARNING)
        self._task = asyncio.get_running_loop().create_task(self._run(), name="forwarder")

    def notify(self) -> None:
        """There may be new events in the log. To be called after they are in the graph."""
        self._at_end = False
        self._news.set()

    @property
    def position(self) -> str:
        """The name of the durable cursor: another consumer begins at the beginning of the log."""
        return f"forward to {self._consumer.name}"

    def status(self) -> JsonObject:
        """`delivered` and `parked` count events since the start; those `behind` are in the log and neither yet.

        `lastError` is the last thing that went wrong, None where nothing has.
        """
        left = 0 if self._at_end else self._log.last() - self._window.cursor
        return {
            "to": self._consumer.name,
            "delivered": self._delivered,
            "behind": max(left, len(self._window)),
            "parked": self._parked,
            "lastError": self._delivery.last_error,
            "cursor": self._window.cursor,
        }

    async def replay(self, content_hash: bytes) -> bool:
        """Try once more to send a parked event, in its job's turn; False where it stays parked, with a new reason.

        Raises:
            StoreError: the new reason could not be written down.
        """
        try:
            event = await asyncio.to_thread(self._log.event, content_hash)
            reason = "the event has left the log" if event is None else await self._resend(event)
        except sqlite3.Error:
            raise
        except Exception as error:
            logger.exception("event %s cannot be forwarded", content_hash.hex())
            reason = f"cannot be completed: {error!r}"
        if reason is not None:
            await asyncio.to_thread(self._log.dead_letters.park, DeadLetterKind.FORWARD, content_hash, reason)
        return reason is None

    async def close(self) -> None:
        """Give requests under way a moment, store the cursor, end. To be called before the log is closed."""
        if self._task is not None:
            await self._delivery.drain(GRACE_SECONDS)
            self._task.cancel()
            for turn in self._turns:
                turn.cancel()
            await asyncio.wait([self._task, *self._turns])
            if self._saving is not None:
                # A thread cannot be cancelled: it must not store an older cursor after the last one.
                await asyncio.wait([self._saving])
            if self._window.cursor:
                await self._save_cursor()
        await self._consumer.close()

    async def _run(self) -> None:
        """Forward for ever. Where reading the log fails, go on from the durable cursor, ever more slowly."""
        failures = 0
        while True:
            delivered = self._delivered
            try:
                await self._session()
            except Exception as error:
                failures = 1 if self._delivered > delivered else failures + 1
                self._delivery.last_error = f"forwarding broke off and is taken up again: {error!r}"
                logger.exception("forwarding to %s broke off and is taken up again", self._consumer.name)
                await asyncio.sleep(delay_before(failures))

    async def _session(self) -> None:
        cursor = await asyncio.to_thread(self._log.position, self.position)
        # Retention leaves alone what a known reader has not read, so be known before anything is sent.
        await asyncio.to_thread(self._log.set_position, self.position, cursor)
        self._window = InFlightWindow(cursor)
        await self._learn(cursor)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._keep_cursor())
            self._admitted = cursor
            while True:
                await self._window.room()
                self._news.clear()
                page = await asyncio.to_thread(self._log.after, self._admitted, PAGE)
                for seq, event in page:
                    tasks.create_task(self._deliver(await self._admit(seq, event)))
                    self._admitted = seq
                if not page and not self._news.is_set():
                    self._at_end = True
                    await self._news.wait()

    async def _learn(self, cursor: int) -> None:
        """Learn which runs are open below a parent, and which have ended not far before the cursor."""
        await self._messages.learn()
        place = max(0, cursor - ENDED_READ)
        while page := await asyncio.to_thread(self._log.after, place, PAGE):
            for place, event in page:
                if place > cursor:
                    return
                self._messages.sent(event)

    async def _admit(self, seq: int, event: Event) -> InFlightEvent:
        """Put an event of the log into the window."""
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

    async def _deliver(self, entry: InFlightEvent) -> None:
        await entry.turn()
        refusals = [entry.defect] if entry.defect else await self._send(entry)
        self._messages.sent(entry.event)
        if refusals:
            await self._park(entry.event, "; ".join(refusals))
        else:
            self._delivered += 1
        if self._window.finish(entry):
            self._moved.set()

    async def _send(self, entry: InFlightEvent) -> list[str]:
        """Send all messages of an event; returns what is refused, and why."""
        refusals = []
        for message in self._messages_of(entry):
            try:
                refusal = await self._delivery.send(entry.seq, message.make_body)
            except sqlite3.Error:
                # The log cannot be read, which is no fault of the event.
                raise
            except Exception as error:
                logger.exception("event %s cannot be forwarded", entry.event.order.hash.hex())
                refusal = f"cannot be completed: {error!r}"
            if refusal is not None:
                refusals.append(message.label + refusal)
                if message.closes is not None:
                    self._messages.reopen(message.closes)
        return refusals

    def _messages_of(self, entry: InFlightEvent) -> list[_Message]:
        """An event and the ends of the runs that it closes.

        A run ends before the START that takes its place, and after the parent that took it along.
        """
        event, messages = entry.event, self._messages
        own = [_Message("", partial(messages.completed, event, entry.seq))]
        ends = [
            _Message(f"the end of run {closing.run.run}: ", partial(messages.closing, closing), closing.run)
            for closing in entry.closes
        ]
        return ends + own if event.event_type == "START" else own + ends

    async def _resend(self, event: Event) -> str | None:
        """Send an event that the cursor has passed, once, in its job's turn. Returns why that failed."""
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
            return f"no turn within {REPLAY_SECONDS:g} s: {self._delivery.last_error or 'the consumer is slow'}"
        finally:
            # What came behind it goes out after what came before it, whatever became of it.
            turn.add_done_callback(lambda _: self._end_turn(turn, entry))
            for closing in entry.closes:
                self._messages.reopen(closing.run)

    def _end_turn(self, turn: asyncio.Task[None], entry: InFlightEvent) -> None:
        self._turns.discard(turn)
        self._window.finish(entry)

    async def _park(self, event: Event, reason: str) -> None:
        """Put an event on the list of dead letters, as soon as that can be written."""
        name = event.order.hash.hex()
        attempt = 0
        while True:
            try:
                await asyncio.to_thread(self._log.dead_letters.park, DeadLetterKind.FORWARD, event.order.hash, reason)
                break
            except StoreError as error:
                attempt += 1
                self._delivery.last_error = f"event {name} cannot be put on the list of dead letters: {error}"
                logger.warning("%s", self._delivery.last_error)
                await asyncio.sleep(delay_before(attempt))
        self._parked += 1
        logger.error("event %s is not forwarded to %s, which goes on: %s", name, self._consumer.name, reason)

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
            logger.warning("%s; after the next start, events since are sent again", self._delivery.last_error)
            self._moved.set()
