# SPDX-License-Identifier: Apache-2.0
"""Group commit: one thread writes what has queued up while the last commit was on its way to the disk."""

import logging
import queue
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock, Thread
from typing import Generic, TypeVar

from lineage.events import Event
from lineage.store.errors import StoreError
from lineage.store.log import EventLog

logger = logging.getLogger(__name__)

MAX_BATCH = 512
"""Events of one transaction: bounds how long the first of them waits for the last."""

T = TypeVar("T")


class QueueFull(Exception):
    """More events wait for the disk than the queue may hold."""


@dataclass(frozen=True, slots=True)
class Batch(Generic[T]):
    """What became of events that were written together: `stored` flags, or the error that all of them share.

    `tags` are what their submitters gave, in the same order.
    """

    events: list[Event]
    tags: list[T]
    stored: list[bool]
    error: StoreError | None


class EventWriter(Generic[T]):
    """Owns the log's writing side; `on_batch` is called on its thread after each commit or failure."""

    def __init__(self, log: EventLog, capacity: int, on_batch: Callable[[Batch[T]], None]) -> None:
        self._log = log
        self._capacity = capacity
        self._on_batch = on_batch
        self._queue: queue.SimpleQueue[tuple[Event, T] | None] = queue.SimpleQueue()
        self._lock = Lock()
        self._waiting = 0
        self._closed = False
        self._thread = Thread(target=self._run, name="event-writer")
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Events submitted whose commit is not done."""
        return self._waiting

    def submit(self, event: Event, tag: T) -> None:
        """Queue an event for the next commit.

        Raises:
            QueueFull: the queue is at capacity, or the writer is closed.
        """
        with self._lock:
            if self._closed or self._waiting >= self._capacity:
                raise QueueFull
            self._waiting += 1
            self._queue.put((event, tag))

    def close(self) -> None:
        """Write what is queued, then end the thread."""
        with self._lock:
            self._closed = True
            self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        open_for_more = True
        while open_for_more:
            entries, open_for_more = self._take()
            if entries:
                batch = self._write([event for event, _ in entries], [tag for _, tag in entries])
                with self._lock:
                    self._waiting -= len(entries)
                self._on_batch(batch)

    def _take(self) -> tuple[list[tuple[Event, T]], bool]:
        """Wait for an event, then take all that queued up behind it; False once the writer is closed."""
        entries: list[tuple[Event, T]] = []
        while len(entries) < MAX_BATCH:
            try:
                entry = self._queue.get(block=not entries)
            except queue.Empty:
                break
            if entry is None:
                return entries, False
            entries.append(entry)
        return entries, True

    def _write(self, events: list[Event], tags: list[T]) -> Batch[T]:
        try:
            return Batch(events, tags, self._log.append(events), None)
        except StoreError as error:
            return Batch(events, tags, [], error)
        except Exception as error:
            # The thread must outlive whatever happens: without it every later request would wait for ever.
            logger.exception("writing %d events failed", len(events))
            return Batch(events, tags, [], StoreError(f"cannot write: {error!r}"))
