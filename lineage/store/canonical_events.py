# SPDX-License-Identifier: Apache-2.0
"""Events of the log under canonical names."""

from lineage.events import Event, EventError
from lineage.rules.event_reader import EventReader
from lineage.store.event_store import EventStore


class CanonicalEvents:
    """Applies the naming rules to the events of the log. Thread-safe.

    Events that the rules refuse, which older rules accepted, are left out: they are dead letters already.
    """

    def __init__(self, log: EventStore, reader: EventReader) -> None:
        self._log = log
        self._reader = reader

    def after(self, seq: int, limit: int) -> list[tuple[int, Event]]:
        """Return up to `limit` events after number `seq` with their numbers, in order of arrival.

        The page is empty only at the end of the log.
        """
        while stored := self._log.after(seq, limit):
            found = []
            for event in stored:
                try:
                    found.append((event.seq, self._reader.event(event.original, event.accepted)))
                except EventError:
                    continue
            if found:
                return found
            seq = stored[-1].seq
        return []

    def event(self, content_hash: bytes) -> Event | None:
        """Return the event stored under a hash, or None.

        Raises:
            ValueError: the row is damaged.
            InvalidEvent: the rules refuse it.
        """
        stored = self._log.event(content_hash)
        return None if stored is None else self._reader.event(stored.original, stored.accepted)
