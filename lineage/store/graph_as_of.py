# SPDX-License-Identifier: Apache-2.0
"""The whole graph of a log as of a time, made of a past state and the events after it, or of all events.

Safe beside a running service: it reads one consistent snapshot and takes no lock.
"""

import logging
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, Protocol

from lineage.events import EventError
from lineage.events.ids import RunId
from lineage.graph import Graph, LineageRecords
from lineage.graph.export import export_text
from lineage.graph.snapshot import Key, Snapshot, restore
from lineage.rules.event_reader import EventReader
from lineage.store.past_states import past_state, restored_state
from lineage.store.rows import (
    PAGE,
    EventRow,
    StoredEvent,
    compacted_through,
    event_rows,
    events_of,
    history_of_run,
    known_since,
    snapshot_page,
    stored_events,
)
from lineage.store.run_loader import RunLoader

logger = logging.getLogger(__name__)


class Compacted(Exception):
    """Retention has compacted later events; `since` (ns) is the earliest time that can be queried."""

    def __init__(self, since: int) -> None:
        super().__init__(since)
        self.since = since


class State(NamedTuple):
    """State file of a service, and the digest that it must have (`state_digest`) to be of the same rules and code."""

    path: Path
    digest: str


def graph_at(path: Path, at: int, reader: EventReader, state: State | None = None) -> bytes:
    """Return the graph export, as canonical JSON, of a file's events of time `at` (ns) and before.

    With `state` its past states are used.

    Raises:
        Compacted: retention has compacted later events.
    """
    with closing(snapshot_of_file(path)) as connection:
        return export_as_of(FileRows(connection), at, reader, state)


def snapshot_of_file(path: Path) -> sqlite3.Connection:
    """Open a file for reading one consistent snapshot of it."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
    connection.execute("BEGIN")
    return connection


class LogRows(Protocol):
    """Rows of one consistent snapshot of a log."""

    def known_since(self) -> int | None:
        """Return the event time (ns) of the last compacted event; None if nothing was compacted."""

    def compacted_through(self) -> int:
        """Return the greatest number of a compacted event; 0 if there is none."""

    def history_of_run(self, run: RunId) -> tuple[Snapshot | None, list[StoredEvent]]:
        """Return the snapshot of a run's compacted events, if any, and all other events of its UUID."""

    def snapshot_page(self, after: Key | None) -> list[Snapshot]:
        """Return a page of snapshots after `after`, in restore order."""

    def event_rows(self, after: int, until: int) -> list[EventRow]:
        """Return a page of rows after number `after`, of event time (ns) `until` or before."""

    def events_of(self, runs: Iterable[str], hashes: Iterable[bytes], after: int, until: int) -> Iterable[EventRow]:
        """Return the rows of the events of runs, and of those with some hashes, after number `after`.

        Of event time (ns) `until` or before, in order of arrival.
        """


class FileRows:
    """Rows of a log file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def known_since(self) -> int | None:
        """Return the event time (ns) of the last compacted event; None if nothing was compacted."""
        return known_since(self._connection)

    def compacted_through(self) -> int:
        """Return the greatest number of a compacted event; 0 if there is none."""
        return compacted_through(self._connection)

    def history_of_run(self, run: RunId) -> tuple[Snapshot | None, list[StoredEvent]]:
        """Return the snapshot of a run's compacted events, if any, and all other events of its UUID."""
        return history_of_run(self._connection, run)

    def snapshot_page(self, after: Key | None) -> list[Snapshot]:
        """Return a page of snapshots after `after`, in restore order."""
        return snapshot_page(self._connection, after)

    def event_rows(self, after: int, until: int) -> list[EventRow]:
        """Return a page of rows after number `after`, of event time (ns) `until` or before."""
        return event_rows(self._connection, after, PAGE, until)

    def events_of(self, runs: Iterable[str], hashes: Iterable[bytes], after: int, until: int) -> Iterable[EventRow]:
        """Return the rows of the events of runs, and of those with some hashes, after number `after`.

        Of event time (ns) `until` or before, in order of arrival.
        """
        return events_of(self._connection, runs, hashes, after, until)


def export_as_of(log: LogRows, at: int, reader: EventReader, state: State | None = None) -> bytes:
    """Return the graph export, as canonical JSON, of a log's events of time `at` (ns) and before.

    Raises:
        Compacted: retention has compacted later events.
    """
    check_known(log, at)
    if state is not None:
        try:
            return _export_with(state, log, at, reader)
        except (sqlite3.Error, ValueError) as error:
            logger.warning("the past states of %s cannot be used: %s", state.path, error)
    return _export_of_all(log, at, reader)


def check_known(log: LogRows, at: int) -> None:
    """Raise Compacted if retention has compacted events after time `at` (ns)."""
    since = log.known_since()
    if since is not None and at < since:
        raise Compacted(since)


def _export_with(state: State, log: LogRows, at: int, reader: EventReader) -> bytes:
    """Return the graph export, made of a past state if one fits."""
    with closing(snapshot_of_file(state.path)) as file:
        (digest,) = file.execute("SELECT digest FROM checkpoint").fetchone()
        found = past_state(file, at, log.compacted_through()) if digest == state.digest else None
        if found is None:
            return _export_of_all(log, at, reader)
        lineage, graph = restored_state(file, found, RunLoader(log, reader, at).load)
        _apply_events(log, found.position, at, reader, lineage)
        return export_text(lineage, graph)


def _export_of_all(log: LogRows, at: int, reader: EventReader) -> bytes:
    """Return the graph export, made of all events."""
    return export_text(*whole_graph(log, at, reader))


def whole_graph(log: LogRows, at: int, reader: EventReader) -> tuple[LineageRecords, Graph]:
    """Return records and graph as of time `at` (ns), made of all events."""
    lineage = LineageRecords()
    _restore_compacted(log, lineage)
    _apply_events(log, 0, at, reader, lineage)
    return lineage, Graph(lineage)


def _restore_compacted(log: LogRows, lineage: LineageRecords) -> None:
    snapshots = log.snapshot_page(None)
    while snapshots:
        restore(lineage, snapshots)
        snapshots = log.snapshot_page(snapshots[-1].key)


def _apply_events(log: LogRows, place: int, at: int, reader: EventReader, lineage: LineageRecords) -> None:
    """Apply the events after number `place`, of time `at` (ns) and before."""
    while rows := log.event_rows(place, at):
        # The service has recorded damaged rows as dead letters.
        for stored in stored_events(rows, lambda _hash, _error: None):
            try:
                lineage.apply(reader.event(stored.original, stored.accepted))
            except EventError as error:
                logger.warning("event %s is left out: %s", stored.original.hash.hex(), error)
        place = rows[-1].seq
