# SPDX-License-Identifier: Apache-2.0
"""Sends events from a thread of its own, in order, again and again until they are taken. Never raises or blocks."""

import logging
import threading
from collections.abc import Callable

import requests
from openlineage.client.event_v2 import JobEvent, RunEvent, RunState
from openlineage.client.serde import Serde

from lineagelab_spark.outbox import Message, Outbox, Weight

TIMEOUT_SECONDS = 2.0
"""For a connection, and for each part of an answer."""

MOST_BYTES = 16 * 2**20
"""Of events that wait: a service that is away for a day costs no more memory. An event has 5 to 50 kB."""

MOST_ANSWERS = 20
"""How often an event is sent that the service takes and answers with an error of its own, before it is given up."""

_PATH = "/api/v1/lineage"
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 10.0
_BUSY = frozenset({408, 425, 429})

log = logging.getLogger(__name__)


class _Refused(Exception):
    """The service has read the event and does not want it."""


class _Broken(Exception):
    """The service answers, but with an error of its own."""


class Emitter:
    """Sends events to one lineage service.

    Args:
        url: root of the service.
        most_bytes: of events that wait.
    """

    def __init__(self, url: str, most_bytes: int = MOST_BYTES) -> None:
        self._url = url.rstrip("/")
        self._most_bytes = most_bytes
        self._outbox = Outbox(most_bytes)
        self._changed = threading.Condition()
        self._hurried = self._closed = False
        self._dropped = 0
        self._thread: threading.Thread | None = None

    @property
    def dropped(self) -> int:
        """How many events were given up so far."""
        return self._dropped

    def emit(self, event: RunEvent | JobEvent, read: Callable[[], None] | None = None) -> None:
        """Takes an event to be sent. Where too many wait, the oldest states of runs go, and the log says so once.

        Args:
            event: to be sent.
            read: called, from a thread of the emitter's, once the service has read the event.
        """
        message = _message(event, read)
        with self._changed:
            if self._closed:
                log.warning("lineage of %s is not sent: lineage is closed", message.about)
                return
            for gone in self._outbox.add(message):
                self._give_up(gone, f"more than {self._most_bytes} bytes wait for it")
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="lineage emitter", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def close(self, seconds: float) -> None:
        """Waits at most so long until everything is sent; what is left then is lost, and said to be."""
        with self._changed:
            self._hurried = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not len(self._outbox), seconds)
            self._closed = True
            self._changed.notify_all()
            for message in self._outbox.drain():
                self._give_up(message, "no time is left")
            if self._dropped:
                log.warning("%d lineage events were not taken by %s", self._dropped, self._url)

    def _run(self) -> None:
        with requests.Session() as session:
            while (message := self._next()) is not None:
                self._deliver(session, message)
                with self._changed:
                    self._outbox.done(message)
                    self._changed.notify_all()

    def _next(self) -> Message | None:
        with self._changed:
            self._changed.wait_for(lambda: self._closed or len(self._outbox))
            return None if self._closed else self._outbox.first

    def _deliver(self, session: requests.Session, message: Message) -> None:
        """Comes back when an event is taken, refused or given up."""
        pause, broken, troubled = _FIRST_PAUSE, 0, False
        while True:
            try:
                _post(session, self._url, message)
            except _Refused as refused:
                self._give_up(message, str(refused))
                message.is_read()
                return
            except Exception as error:
                # Connections fail in many ways, and none of them may end this thread.
                broken += isinstance(error, _Broken)
                if broken >= MOST_ANSWERS:
                    self._give_up(message, str(error))
                    return
                if not troubled:
                    log.warning("lineage of %s: %s does not take it yet: %s", message.about, self._url, error)
                troubled = True
            else:
                if troubled:
                    log.info("%s takes lineage again", self._url)
                message.is_read()
                return
            if not self._pause(pause, message):
                return
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _pause(self, seconds: float, message: Message) -> bool:
        """False where the event need not be tried again. Whoever closes does not wait for a long pause to end."""
        with self._changed:
            if self._hurried:
                self._changed.wait_for(lambda: self._closed, _FIRST_PAUSE)
            else:
                self._changed.wait_for(lambda: self._hurried, seconds)
            return not self._closed and message in self._outbox

    def _give_up(self, message: Message, why: str) -> None:
        # The first one is worth a line; where there are many, they would drown what the query says.
        if not self._dropped:
            log.warning("lineage of %s is not sent to %s: %s", message.about, self._url, why)
        self._dropped += 1


def _post(session: requests.Session, url: str, message: Message) -> None:
    headers = {"Content-Type": "application/json"}
    answer = session.post(
        url + _PATH, data=message.body, headers=headers, timeout=TIMEOUT_SECONDS, allow_redirects=False, stream=True
    )
    with answer:
        status = answer.status_code
    if status in _BUSY or status >= 500:
        raise _Broken(f"it answers {status}")
    if status >= 300:
        raise _Refused(f"it answers {status}")


def _message(event: RunEvent | JobEvent, read: Callable[[], None] | None) -> Message:
    body = Serde.to_json(event).encode()
    if isinstance(event, JobEvent):
        return Message(body, f"job {event.job.name}", read=read)
    weight = Weight.STATE if event.eventType is RunState.RUNNING else Weight.EDGE
    return Message(body, f"run {event.run.runId} of {event.job.name}", weight, read)
