# SPDX-License-Identifier: Apache-2.0
"""Projection of the event log: records and graph in memory."""

import logging
from collections.abc import Iterator

from lineage.events import Event, EventError
from lineage.graph import Graph, LineageRecords
from lineage.graph.snapshot import restore
from lineage.rules.event_reader import EventReader
from lineage.store import DeadLetterKind, StoreError
from lineage.store.event_store import EventStore
from lineage.store.rows import StoredEvent

logger = logging.getLogger(__name__)

_EVENTS_PER_STEP = 50
"""Events applied between two yields to the event loop."""


class Projection:
    """Records and graph of a log's events. Not thread-safe.

    While `restoring`, no event may be applied: runs are restored from their snapshots first.
    `unapplied` holds events that are on disk and not in the graph, by hash, with the cause: an event that cannot be
    applied must not affect others. `position` is the number of the last event of the log up to which all are applied.
    """

    def __init__(self, log: EventStore, reader: EventReader) -> None:
        self.lineage = LineageRecords()
        self.graph = Graph(self.lineage)
        self.unapplied: dict[bytes, tuple[DeadLetterKind, str]] = {}
        self.applied = 0
        self.position = 0
        self.restoring = False
        self._log = log
        self._reader = reader

    def build(self) -> Iterator[None]:
        """Read the log in steps; events that arrive meanwhile may be applied in between.

        While `restoring` they must not be: they are read from the log afterwards.
        """
        self.restoring = True
        for count, snapshot in enumerate(self._log.snapshots.all(), start=1):
            restore(self.lineage, [snapshot])
            if count % _EVENTS_PER_STEP == 0:
                yield
        self.restoring = False
        for count, stored in enumerate(self._log.events(self._park_damaged), start=1):
            self.apply_stored(stored)
            self.position = stored.seq
            if count % _EVENTS_PER_STEP == 0:
                yield
        while self.graph.refresh_some(_EVENTS_PER_STEP):
            yield
        self._release_applied()

    def apply(self, event: Event) -> bool:
        """Apply a stored event; return False if that failed and the event became a dead letter."""
        self.applied += 1
        try:
            self.lineage.apply(event)
        except Exception as error:
            logger.exception("event %s is stored but cannot be applied", event.order.hash.hex())
            self._park_event(DeadLetterKind.FOLD, event.order.hash, repr(error))
            return False
        self.unapplied.pop(event.order.hash, None)
        return True

    def apply_stored(self, stored: StoredEvent) -> bool:
        """Apply the naming rules to an event of the log, and the event; return False if that failed."""
        try:
            event = self._reader.event(stored.original, stored.accepted)
        except EventError as error:
            self._park_event(DeadLetterKind.FOLD, stored.original.hash, str(error))
            return False
        return self.apply(event)

    def replay(self, content_hash: bytes) -> bool:
        """Retry applying a dead letter; return False if it fails again."""
        try:
            stored = self._log.event(content_hash)
        except ValueError as error:
            self._park_damaged(content_hash, error)
            return False
        return stored is not None and self.apply_stored(stored)

    def _park_damaged(self, content_hash: bytes, error: Exception) -> None:
        logger.error("event %s: %s", content_hash.hex(), error)
        self._park_event(DeadLetterKind.DAMAGED, content_hash, str(error))

    def _park_event(self, trouble: DeadLetterKind, content_hash: bytes, error: str) -> None:
        self.unapplied[content_hash] = (trouble, error)
        if not self._log.writes:
            # The writing instance stores it.
            return
        try:
            self._log.dead_letters.park(trouble, content_hash, error)
        except StoreError:
            # It is in memory until the process ends, and detected again at the next start.
            logger.exception("dead letter %s cannot be stored", content_hash.hex())

    def _release_applied(self) -> None:
        """Release dead letters that have been applied."""
        if not self._log.writes:
            return
        for trouble in (DeadLetterKind.FOLD, DeadLetterKind.DAMAGED):
            for content_hash in self._log.dead_letters.hashes(trouble):
                if content_hash not in self.unapplied:
                    self._log.dead_letters.release(trouble, content_hash)
