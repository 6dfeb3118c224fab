# SPDX-License-Identifier: Apache-2.0
"""Queue of undelivered events for a lineage service.

Guarantees: `Spool.add` never waits for the service. Events are sent in order while the service accepts them, and
retried with backoff while it does not. An event that the service repeatedly answers with an error goes to the end of
the queue, so that it does not block the others; ingestion is order-independent. With a file, an event is kept across
restarts until the service has accepted or rejected it. Beyond the size limit, the oldest heartbeats are dropped first,
then the oldest other events.
"""

import json
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lineagelab_common.client import TIMEOUT, LineageClient, RejectedError, UnavailableError, encode
from lineagelab_common.events import Json
from lineagelab_common.files import remove_file, replace_file
from lineagelab_common.queue_facet import with_queue

MAX_BYTES = 16 * 2**20
"""Size limit of waiting events. An event has 5 to 50 kB."""

FIRST_BACKOFF, MAX_BACKOFF = 0.25, 10.0
"""Seconds between attempts: doubled after each failure."""

ATTEMPTS_IN_ORDER = 3
"""Error responses to one event before it goes to the end of the queue."""

HEARTBEATS = frozenset({"RUNNING", "OTHER"})
"""Types of run events that may be dropped: the next one repeats everything except the statistics of a window."""

log = logging.getLogger(__name__)


class Receiver(Protocol):
    """Receiver of the events of a spool. `url` names it in logs."""

    url: str

    def send(self, event: bytes) -> None:
        """Deliver one event; return when it is accepted. Called by the sending thread only.

        Raises:
            RejectedError: it will never be accepted.
            UnavailableError: a later attempt may succeed.
        """


@dataclass(frozen=True, eq=False)
class Message:
    """Event in a spool, compared by identity, as equal events may be queued twice."""

    event: Json
    body: bytes
    on_delivered: Callable[[], None] | None = None

    @classmethod
    def of(cls, event: Json, on_delivered: Callable[[], None] | None = None) -> "Message":
        return cls(event, encode(event), on_delivered)

    @property
    def is_heartbeat(self) -> bool:
        return self.event.get("eventType") in HEARTBEATS

    @property
    def label(self) -> str:
        """Short description for logs."""
        job = self.event["job"]["name"]
        if "run" not in self.event:
            return f"job {job}"
        return f"{self.event.get('eventType')} of run {self.event['run']['runId']} of {job}"


class BoundedQueue:
    """Messages in order, with a limit on their total size. Not thread-safe."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._messages: deque[Message] = deque()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._messages)

    def __contains__(self, message: Message) -> bool:
        return message in self._messages

    @property
    def messages(self) -> list[Message]:
        return list(self._messages)

    @property
    def first(self) -> Message | None:
        return self._messages[0] if self._messages else None

    def add(self, message: Message) -> list[Message]:
        """Append a message; return those dropped for it: the oldest heartbeats, then the oldest other messages."""
        self._messages.append(message)
        self._bytes += len(message.body)
        dropped = []
        while self._bytes > self._max_bytes:
            victim = next((each for each in self._messages if each.is_heartbeat), self._messages[0])
            self.remove(victim)
            dropped.append(victim)
        return dropped

    def remove(self, message: Message) -> bool:
        """Remove a message; return False if it was dropped already."""
        if message not in self._messages:
            return False
        self._messages.remove(message)
        self._bytes -= len(message.body)
        return True

    def move_to_end(self, message: Message) -> None:
        if self.remove(message):
            self.add(message)


class Spool:
    """Queue of events for one receiver, sent by a background thread.

    Args:
        receiver: receiver, or the root URL of a lineage service; with an empty URL, events are discarded.
        path: file that keeps the events; None keeps them in memory.
        max_bytes: size limit of waiting events.
        is_needed: called before an event is sent; False discards it. May raise `UnavailableError`.
        background: False starts no thread; `flush` sends.
        timeout: seconds for the connection, and for each part of a response.
    """

    def __init__(
        self,
        receiver: str | Receiver,
        path: Path | None = None,
        *,
        max_bytes: int = MAX_BYTES,
        is_needed: Callable[[Json], bool] = lambda event: True,
        background: bool = True,
        timeout: float = TIMEOUT,
    ) -> None:
        self._client = LineageClient(receiver, timeout) if isinstance(receiver, str) else receiver
        self._is_enabled = bool(receiver)
        self._path = path
        self._max_bytes = max_bytes
        self._is_needed = is_needed
        self._background = background
        self._queue = BoundedQueue(max_bytes)
        self._changed = threading.Condition()
        self._is_closing = self._is_closed = False
        self._dropped = 0
        self._thread: threading.Thread | None = None
        for event in _load(path) if path is not None else ():
            self._queue.add(Message.of(event))
        if len(self._queue):
            self._start()

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def dropped(self) -> int:
        """Number of events that were rejected, dropped for the size limit or lost at the end."""
        return self._dropped

    def add(self, event: Json, on_delivered: Callable[[], None] | None = None) -> None:
        """Queue an event; RUNNING events get a facet with the state of the queue. With a file, it is on disk when this
        returns.

        Args:
            event: with a job, and with a run unless it is about the job alone.
            on_delivered: called, by the sending thread, once the service has accepted or rejected the event.

        Raises:
            OSError: the file cannot be written.
        """
        if not self._is_enabled:
            return
        message = Message.of(with_queue(event, len(self._queue), self._dropped), on_delivered)
        with self._changed:
            if self._is_closed:
                log.warning("%s is not sent: its spool is closed", message.label)
                return
            for dropped in self._queue.add(message):
                self._drop(dropped, f"more than {self._max_bytes} bytes wait")
            self._save()
            self._start()
            self._changed.notify_all()

    def flush(self) -> bool:
        """Try to send each event once, in this thread, until the service does not respond; return whether all left."""
        with self._changed:
            waiting = self._queue.messages if self._is_enabled else []
            if not waiting:
                self._save()  # removes a damaged file
        for message in waiting:
            error = self._attempt(message)
            if error is None:
                self._finish(message)
                continue
            log.warning("%s was not accepted by %s: %s; kept for a retry", message.label, self._client.url, error)
            if not error.has_answered:
                break
        return not len(self._queue)

    def close(self, seconds: float, cancel: threading.Event | None = None) -> bool:
        """Wait up to `seconds`, or until `cancel` is set, for the queue to drain; return whether it did.

        What is left stays in the file; without a file, it is lost.
        """
        deadline = time.monotonic() + seconds
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
            while len(self._queue) and (left := deadline - time.monotonic()) > 0:
                if cancel is not None and cancel.is_set():
                    break
                self._changed.wait(min(left, FIRST_BACKOFF))
            self._is_closed = True
            self._changed.notify_all()
            left_over = self._queue.messages
            if self._path is None:
                for message in left_over:
                    self._queue.remove(message)
                    self._drop(message, "the spool was closed")
            elif left_over:
                log.warning("%d lineage events stay in %s until the next start", len(left_over), self._path)
            if self._dropped:
                log.warning("%d lineage events were not accepted by %s", self._dropped, self._client.url)
        return not left_over

    def _start(self) -> None:
        if self._thread is None and self._background and self._is_enabled:
            self._thread = threading.Thread(target=self._run, name="lineage spool", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        backoff, failures = FIRST_BACKOFF, 0
        failing: Message | None = None
        while (message := self._next()) is not None:
            error = self._attempt(message)
            if error is None:
                if backoff > FIRST_BACKOFF:
                    log.info("%s accepts lineage events again", self._client.url)
                backoff, failures, failing = FIRST_BACKOFF, 0, None
                self._finish(message)
                continue
            if backoff == FIRST_BACKOFF:
                log.warning("%s is not accepted by %s, retrying: %s", message.label, self._client.url, error)
            failures = failures + error.has_answered if message is failing else int(error.has_answered)
            failing = message
            self._wait(backoff, message)
            backoff = min(2 * backoff, MAX_BACKOFF)
            if failures >= ATTEMPTS_IN_ORDER:
                failures = 0
                with self._changed:
                    self._queue.move_to_end(message)

    def _next(self) -> Message | None:
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or len(self._queue))
            return None if self._is_closed else self._queue.first

    def _wait(self, seconds: float, message: Message) -> None:
        """Pause before the next attempt; `close` shortens the pause."""
        with self._changed:
            if self._is_closing:
                self._changed.wait_for(lambda: self._is_closed, FIRST_BACKOFF)
            else:
                self._changed.wait_for(lambda: self._is_closing or message not in self._queue, seconds)

    def _attempt(self, message: Message) -> UnavailableError | None:
        """Send a message; return the error where it has to be retried."""
        try:
            if self._is_needed(message.event):
                self._client.send(message.body)
        except RejectedError as error:
            with self._changed:
                self._drop(message, str(error))
        except UnavailableError as error:
            return error
        return None

    def _finish(self, message: Message) -> None:
        if message.on_delivered is not None:
            message.on_delivered()  # before it leaves the queue, for which `close` waits
        with self._changed:
            if self._queue.remove(message):
                try:
                    self._save()
                except OSError as error:
                    log.warning("cannot write %s, its events will be sent twice: %s", self._path, error)
            self._changed.notify_all()

    def _save(self) -> None:
        if self._path is None:
            return
        if len(self._queue):
            replace_file(self._path, json.dumps([message.event for message in self._queue.messages]))
        else:
            remove_file(self._path)

    def _drop(self, message: Message, reason: str) -> None:
        """Count an event that is given up. Only the first is logged here, and their number when the spool closes."""
        if not self._dropped:
            log.warning("%s is not sent to %s: %s", message.label, self._client.url, reason)
        self._dropped += 1


def _load(path: Path) -> list[Json]:
    """Read the events of a file; none where it does not exist or is damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(found, list):
            raise ValueError("not a list of events")
        return [event for event in found if is_event(event)]
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        log.warning("cannot read the lineage events in %s, they are lost: %s", path, error)
        return []


def is_event(value: object) -> bool:
    """Return whether a value has what a spool needs of an event: a job's name, and a run's id if it has a run."""
    if not isinstance(value, dict) or not isinstance(value.get("job"), dict) or "name" not in value["job"]:
        return False
    run = value.get("run")
    return "run" not in value or (isinstance(run, dict) and "runId" in run)
