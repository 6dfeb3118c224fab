# SPDX-License-Identifier: Apache-2.0
"""Events on their way to the lineage service: kept on disk until it has read them, sent by a thread of its own.

Adding one never waits for the service, and what it could not be told by one launcher is told by the next.
"""

import json
import logging
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx

from lineagelab_flink.launcher_state import write

TIMEOUT_SECONDS = 5.0
"""For a connection, and for each part of an answer."""

MOST_BYTES = 4 * 2**20
"""Of events that wait. An event has 5 to 50 kB; those between START and end are given up first."""

_PATH = "/api/v1/lineage"
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 10.0
_BUSY = frozenset({408, 425, 429})
_STATES = frozenset({"RUNNING", "OTHER"})

log = logging.getLogger(__name__)

Event = dict[str, Any]


class Outbox:
    """Events for one lineage service.

    Args:
        path: where they wait.
        url: root of the service; empty for none, then nothing is kept.
    """

    def __init__(self, path: Path, url: str) -> None:
        self._path = path
        self._url = url.rstrip("/")
        self._events = _load(path)
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="lineage", daemon=True)
        self._thread.start()

    def add(self, event: Event) -> None:
        """Takes an event; once this returns, it is not lost.

        Raises:
            OSError: it cannot be kept.
        """
        if not self._url:
            return
        with self._changed:
            self._events = within(MOST_BYTES, [*self._events, event])
            self._keep()
            self._changed.notify_all()

    def close(self, seconds: float, stop: threading.Event) -> bool:
        """Waits until everything is sent, for so long or until `stop`; whether it is. The rest stays on disk."""
        with self._changed:
            deadline = time.monotonic() + seconds
            while self._events and self._url and time.monotonic() < deadline and not stop.is_set():
                self._changed.wait(_FIRST_PAUSE)
            self._closed = True
            self._changed.notify_all()
            left = len(self._events)
        if left:
            log.warning("%d lineage events wait in %s until the next start", left, self._path)
        return not left

    def _run(self) -> None:
        pause = _FIRST_PAUSE
        with httpx.Client(timeout=TIMEOUT_SECONDS, trust_env=False) as client:
            while (event := self._next()) is not None:
                why = _post(client, self._url + _PATH, event)
                with self._changed:
                    if why is None:
                        if pause > _FIRST_PAUSE:
                            log.info("%s takes lineage again", self._url)
                        pause = _FIRST_PAUSE
                        self._done(event)
                        continue
                    if pause == _FIRST_PAUSE:
                        log.warning("lineage of %s is not taken by %s yet: %s", about(event), self._url, why)
                    # An event that the service cannot stand must not hold up the others; their order means nothing.
                    self._events = [*(kept for kept in self._events if kept is not event), event]
                    self._changed.wait_for(lambda: self._closed, pause)
                    pause = min(2 * pause, _LONGEST_PAUSE)

    def _next(self) -> Event | None:
        with self._changed:
            self._changed.wait_for(lambda: self._closed or (bool(self._url) and bool(self._events)))
            return None if self._closed else self._events[0]

    def _done(self, event: Event) -> None:
        self._events = [kept for kept in self._events if kept is not event]
        try:
            self._keep()
        except OSError as error:
            log.warning("%s cannot be written, its events are told twice: %s", self._path, error)
        self._changed.notify_all()

    def _keep(self) -> None:
        write(self._path, json.dumps(self._events))


def within(most_bytes: int, events: Sequence[Event]) -> list[Event]:
    """The events without the oldest that are too many; those that only say how a run goes are left out first."""
    sizes = [len(json.dumps(event)) for event in events]
    over = sum(sizes) - most_bytes
    gone: set[int] = set()
    by_weight = sorted(range(len(events)), key=lambda place: events[place]["eventType"] not in _STATES)
    for place in by_weight:
        if over <= 0:
            break
        gone.add(place)
        over -= sizes[place]
    return [event for place, event in enumerate(events) if place not in gone]


def about(event: Event) -> str:
    """For people."""
    return f"{event['job']['name']} ({event['eventType']} of run {event['run']['runId']})"


def _post(client: httpx.Client, url: str, event: Event) -> str | None:
    """Why the service has not read an event; None where it has, whatever it thinks of it."""
    try:
        answer = client.post(url, json=event)
    except httpx.HTTPError as error:
        return str(error) or type(error).__name__
    if answer.status_code in _BUSY or answer.is_server_error:
        return f"it answers {answer.status_code}"
    if not answer.is_success:
        log.warning("lineage of %s is refused: %s %.300s", about(event), answer.status_code, answer.text)
    return None


def _load(path: Path) -> list[Event]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return [event for event in found if {"eventType", "run", "job"} <= event.keys()]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, AttributeError, TypeError) as error:
        log.warning("the events in %s cannot be read, and are given up: %s", path, error)
        return []
