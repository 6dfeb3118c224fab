# SPDX-License-Identifier: Apache-2.0
"""The graph in memory and how it is made of the log."""

import logging
from collections.abc import Iterator

from lineage.events import Event
from lineage.graph import Graph, LineageRecords
from lineage.graph.snapshot import restore
from lineage.store import DeadLetterKind, EventLog, StoreError

logger = logging.getLogger(__name__)

_STEP = 50
"""Events after which building lets others have their turn."""


class Projection:
    """Lineage and graph of a log's events. One thread owns it.

    While `restoring`, no event may be applied: a run is put together from its snapshot first.
    `unapplied` are events that are on disk and not in the graph, by hash, with the reason: one event that a defect
    cannot digest must not take the others with it.
    """

    def __init__(self, log: EventLog) -> None:
        self.lineage = LineageRecords()
        self.graph = Graph(self.lineage)
        self.unapplied: dict[bytes, tuple[DeadLetterKind, str]] = {}
        self.applied = 0
        self.restoring = False
        self._log = log

    def build(self) -> Iterator[None]:
        """Read everything from the log, in steps; events that arrive meanwhile may be applied in between.

        Not while `restoring`; they are in the log, and read from there afterwards.
        """
        self.restoring = True
        for count, snapshot in enumerate(self._log.snapshots.all(), start=1):
            restore(self.lineage, [snapshot])
            if count % _STEP == 0:
                yield
        self.restoring = False
        for count, event in enumerate(self._log.events(self._park_damaged), start=1):
            self.apply(event)
            if count % _STEP == 0:
                yield
        while self.graph.refresh_some(_STEP):
            yield
        self._tidy_dead_letters()

    def apply(self, event: Event) -> bool:
        """Join an event that is on disk into the graph; False where that failed and it is a dead letter now."""
        self.applied += 1
        try:
            self.lineage.apply(event)
        except Exception as error:
            logger.exception("event %s is stored but cannot be applied", event.order.hash.hex())
            self._park(DeadLetterKind.FOLD, event.order.hash, repr(error))
            return False
        self.unapplied.pop(event.order.hash, None)
        return True

    def replay(self, content_hash: bytes) -> bool:
        """Try again to apply a dead letter; False where it stays one."""
        try:
            event = self._log.event(content_hash)
        except ValueError as error:
            self._park_damaged(content_hash, error)
            return False
        return event is not None and self.apply(event)

    def _park_damaged(self, content_hash: bytes, error: Exception) -> None:
        logger.error("event %s: %s", content_hash.hex(), error)
        self._park(DeadLetterKind.DAMAGED, content_hash, str(error))

    def _park(self, trouble: DeadLetterKind, content_hash: bytes, error: str) -> None:
        self.unapplied[content_hash] = (trouble, error)
        try:
            self._log.dead_letters.park(trouble, content_hash, error)
        except StoreError:
            # It stays known until the process ends, and is met again at the next start.
            logger.exception("dead letter %s cannot be written down", content_hash.hex())

    def _tidy_dead_letters(self) -> None:
        """Take those off the list that have just been applied."""
        for trouble in (DeadLetterKind.FOLD, DeadLetterKind.DAMAGED):
            for content_hash in self._log.dead_letters.hashes(trouble):
                if content_hash not in self.unapplied:
                    self._log.dead_letters.release(trouble, content_hash)
