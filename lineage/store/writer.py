# SPDX-License-Identifier: Apache-2.0
"""Group commit: one thread writes all events queued during the previous commit."""

import logging
import queue
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock, Thread
from typing import Generic, TypeVar

from lineage.events import Original
from lineage.store.errors import StoreError
from lineage.store.event_store import EventStore
from lineage.store.offsets import Offsets

logger = logging.getLogger(__name__)

MAX_BATCH = 512
"""Events after which a transaction accepts no further submission: bounds the latency of its first one."""

T = TypeVar("T")


class QueueFull(Exception):
    """The write queue is full."""


@dataclass(frozen=True, slots=True)
class Submission(Generic[T]):
    """Events submitted together; `tag` is returned to the sender. `offsets` are stored with them."""

    events: list[Original]
    tag: T
    offsets: Offsets


@dataclass(frozen=True, slots=True)
class Batch(Generic[T]):
    """Result of submissions written in one transaction: `stored` flags of each, or their common error.

    `accepted` is the time in nanoseconds at which new events count as accepted, `last` the number of the last event
    that the log has now.
    """

    submissions: list[Submission[T]]
    stored: list[list[bool]]
    error: StoreError | None
    accepted: int
    last: int = 0


class EventWriter(Generic[T]):
    """Sole writer of the log; calls `on_batch` on its thread after each commit or failure."""

    def __init__(self, log: EventStore, capacity: int, max_bytes: int, on_batch: Callable[[Batch[T]], None]) -> None:
        self._log = log
        self._capacity = capacity
        self._max_bytes = max_bytes
        self._on_batch = on_batch
        self._queue: queue.SimpleQueue[Submission[T] | None] = queue.SimpleQueue()
        self._lock = Lock()
        self._waiting = 0
        self._waiting_bytes = 0
        self._closed = False
        self._thread = Thread(target=self._run, name="event-writer")
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Return the number of submitted events that are not committed."""
        return self._waiting

    def submit(self, events: list[Original], tag: T, offsets: Offsets | None = None) -> None:
        """Queue events, and the offsets after them, for the next commit, all of them or none.

        Raises:
            QueueFull: the queue has no room for them, or the writer is closed. An empty queue accepts any number up to
                the maximum of bytes.
        """
        size = _size_of(events)
        with self._lock:
            if self._closed or self._waiting_bytes + size > self._max_bytes:
                raise QueueFull
            if self._waiting and self._waiting + len(events) > self._capacity:
                raise QueueFull
            self._waiting += len(events)
            self._waiting_bytes += size
            self._queue.put(Submission(events, tag, offsets or {}))

    def close(self) -> None:
        """Write queued events, then end the thread."""
        with self._lock:
            self._closed = True
            self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        open_for_more = True
        while open_for_more:
            submissions, open_for_more = self._take()
            if submissions:
                batch = self._write(submissions)
                with self._lock:
                    self._waiting -= sum(len(submission.events) for submission in submissions)
                    self._waiting_bytes -= sum(_size_of(submission.events) for submission in submissions)
                self._on_batch(batch)

    def _take(self) -> tuple[list[Submission[T]], bool]:
        """Wait for a submission, then take all queued ones; return False once the writer is closed."""
        submissions: list[Submission[T]] = []
        events = 0
        while events < MAX_BATCH:
            try:
                submission = self._queue.get(block=not submissions)
            except queue.Empty:
                break
            if submission is None:
                return submissions, False
            submissions.append(submission)
            events += len(submission.events)
        return submissions, True

    def _write(self, submissions: list[Submission[T]]) -> Batch[T]:
        events = [event for submission in submissions for event in submission.events]
        accepted = time.time_ns()
        offsets: Offsets = {}
        for submission in submissions:
            offsets |= submission.offsets
        try:
            flags = iter(self._log.append(events, accepted, offsets))
            stored = [[next(flags) for _ in submission.events] for submission in submissions]
            return Batch(submissions, stored, None, accepted, self._log.last())
        except StoreError as error:
            return Batch(submissions, [], error, accepted)
        except Exception as error:
            # The thread must survive any error: without it later requests would never complete.
            logger.exception("writing %d events failed", len(events))
            return Batch(submissions, [], StoreError(f"cannot write: {error!r}"), accepted)


def _size_of(events: list[Original]) -> int:
    return sum(len(event.data) for event in events)
