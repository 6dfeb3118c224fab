# SPDX-License-Identifier: Apache-2.0
"""Records of single runs, made of their events in the log."""

from typing import Protocol

from lineage.events import EventError
from lineage.events.event import Event
from lineage.events.ids import RunId
from lineage.graph.mergeable import Span
from lineage.graph.records import LineageRecords
from lineage.graph.run_record import EventParts, RunRecord
from lineage.graph.snapshot import Snapshot, decode_run
from lineage.rules.event_reader import EventReader
from lineage.store.horizons import END_OF_TIME
from lineage.store.rows import StoredEvent


class RunEvents(Protocol):
    """Events of runs."""

    def history_of_run(self, run: RunId) -> tuple[Snapshot | None, list[StoredEvent]]:
        """Return the snapshot of a run's compacted events, if any, and all other events of its UUID."""


class RunLoader:
    """Makes records of runs, of their events of time `until` (ns) and before."""

    def __init__(self, log: RunEvents, reader: EventReader, until: int = END_OF_TIME) -> None:
        self._log = log
        self._reader = reader
        self._until = until

    def load(self, run: RunId) -> RunRecord:
        """Return the record of a run of the log.

        Raises:
            LookupError: the log has no event of the run.
            StoreUnusable: the log is damaged.
        """
        snapshot, stored = self._log.history_of_run(run)
        record = decode_run(LineageRecords(), run, snapshot.content) if snapshot else None
        for found in stored:
            try:
                event = self._reader.event(found.original, found.accepted)
            except EventError:
                # The naming rules refuse it: it is a dead letter.
                continue
            if event.run != run or event.order.time > self._until:
                continue
            if record is None:
                record = RunRecord(run, Span(event.order, event.order))
            record.join(event, _parts(event))
        if record is None:
            raise LookupError(f"the log has no event of run {run.run} of job {run.job.name}")
        return record


def _parts(event: Event) -> EventParts:
    body = event.body
    return EventParts(body["job"].get("facets") or {}, body.get("inputs") or [], body.get("outputs") or [])
