# SPDX-License-Identifier: Apache-2.0
"""What happens, told to whoever listens as it happens."""

import asyncio
from collections.abc import AsyncIterator

from lineage.events import Event, JsonObject, Kind
from lineage.events.timestamps import format_time

BACKLOG = 1_000
"""Messages that wait for a slow listener; one that falls behind further is told to read everything anew."""

RESYNC = "resync"
"""To a listener: messages may be missing, read the graph anew. The first message of every listener."""

EVENT = "event"
"""To a listener: an event is in the graph."""

Message = tuple[str, JsonObject]


class ChangeFeed:
    """Hands messages to listeners. Belongs to the event loop."""

    def __init__(self) -> None:
        self._listeners: set[asyncio.Queue[Message | None]] = set()
        self._closed = False

    @property
    def listeners(self) -> int:
        """How many listen."""
        return len(self._listeners)

    def tell(self, event: Event) -> None:
        """Tell of an event that has been applied."""
        if self._listeners:
            message = (EVENT, _summary(event))
            for listener in self._listeners:
                if listener.qsize() >= BACKLOG:
                    while not listener.empty():
                        listener.get_nowait()
                    listener.put_nowait((RESYNC, {}))
                else:
                    listener.put_nowait(message)

    async def listen(self, heartbeat: float) -> AsyncIterator[Message | None]:
        """Messages as they come; None after `heartbeat` seconds without one. Ends when the service does."""
        if self._closed:
            return
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
        """End every listener's stream, and those that would still begin."""
        self._closed = True
        for listener in self._listeners:
            listener.put_nowait(None)


def _summary(event: Event) -> JsonObject:
    content: JsonObject = {"kind": event.kind.value, "eventTime": format_time(event.order.time)}
    if event.job is not None:
        content["job"] = event.job._asdict()
    if event.dataset is not None:
        content["dataset"] = event.dataset._asdict()
    if event.kind is Kind.RUN and event.run is not None:
        content["run"] = event.run.run
        content["eventType"] = event.event_type
    return content
