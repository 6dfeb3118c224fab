# SPDX-License-Identifier: Apache-2.0
"""Publish-subscribe feed of events applied to the graph."""

import asyncio
from collections.abc import AsyncIterator

from lineage.events import Event, JsonObject, Kind
from lineage.events.timestamps import format_time

BACKLOG = 1_000
"""Queued messages per subscriber; a slower subscriber gets `RESYNC` instead."""

RESYNC = "resync"
"""Message: earlier messages may be missing, read the graph again. First message of every subscription."""

EVENT = "event"
"""Message: an event was applied to the graph."""

Message = tuple[str, JsonObject]


class TooManyListeners(Exception):
    """The feed has its maximum of subscribers."""


class ChangeFeed:
    """Feed of messages to at most `max_listeners` subscribers. Not thread-safe: belongs to the event loop."""

    def __init__(self, max_listeners: int = 64) -> None:
        self._max_listeners = max_listeners
        self._listeners: set[asyncio.Queue[Message | None]] = set()
        self._closed = False

    def check_room(self) -> None:
        """Raise TooManyListeners if a further subscriber would be refused."""
        if len(self._listeners) >= self._max_listeners:
            raise TooManyListeners

    @property
    def listeners(self) -> int:
        """Return the number of subscribers."""
        return len(self._listeners)

    def publish(self, event: Event) -> None:
        """Publish an applied event."""
        if self._listeners:
            message = (EVENT, _event_summary(event))
            for listener in self._listeners:
                if listener.qsize() >= BACKLOG:
                    while not listener.empty():
                        listener.get_nowait()
                    listener.put_nowait((RESYNC, {}))
                else:
                    listener.put_nowait(message)

    async def subscribe(self, heartbeat: float) -> AsyncIterator[Message | None]:
        """Yield messages; None after `heartbeat` seconds without one. Ends when the feed is closed.

        Raises:
            TooManyListeners: the feed has its maximum of subscribers.
        """
        if self._closed:
            return
        self.check_room()
        listener: asyncio.Queue[Message | None] = asyncio.Queue()
        self._listeners.add(listener)
        try:
            yield RESYNC, {}
            while True:
                try:
                    message = await asyncio.wait_for(listener.get(), heartbeat)
                except TimeoutError:
                    yield None
                    continue
                if message is None:
                    return
                yield message
        finally:
            self._listeners.discard(listener)

    def close(self) -> None:
        """End all subscriptions; new ones end at once."""
        self._closed = True
        for listener in self._listeners:
            listener.put_nowait(None)


def _event_summary(event: Event) -> JsonObject:
    content: JsonObject = {"kind": event.kind.value, "eventTime": format_time(event.order.time)}
    if event.job is not None:
        content["job"] = event.job._asdict()
    if event.dataset is not None:
        content["dataset"] = event.dataset._asdict()
    if event.kind is Kind.RUN and event.run is not None:
        content["run"] = event.run.run
        content["eventType"] = event.event_type
    return content
