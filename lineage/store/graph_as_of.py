# SPDX-License-Identifier: Apache-2.0
"""`python -m lineage.store.graph_as_of LOG NANOSECONDS [RULES]`: write the graph of a log as of a time.

`LOG` is a file, or the URL of a Postgres database, whose password is in the environment.

Safe beside a running service: it reads one consistent snapshot and takes no lock. Exit code 3 if retention has
compacted events after that time; it then writes the earliest time that can be queried.
"""

import gc
import logging
import os
import sqlite3
import sys
from pathlib import Path
from typing import Protocol

from lineage.events import EventError, canonical_json
from lineage.graph import Graph, LineageRecords, export_graph
from lineage.graph.snapshot import Key, Snapshot, restore
from lineage.rules import Rules, read_rules
from lineage.rules.event_reader import EventReader
from lineage.store.postgres.address import PASSWORD, SCHEMES, PostgresAddress
from lineage.store.rows import PAGE, EventRow, event_rows, known_since, snapshot_page, stored_events

logger = logging.getLogger(__name__)

COMPACTED = 3


class Compacted(Exception):
    """Retention has compacted later events; `since` (ns) is the earliest time that can be queried."""

    def __init__(self, since: int) -> None:
        super().__init__(since)
        self.since = since


def graph_at(path: Path, at: int, reader: EventReader) -> bytes:
    """Return the graph export, as canonical JSON, of a file's events of time `at` (ns) and before.

    Raises:
        Compacted: retention has compacted later events.
    """
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
    try:
        connection.execute("BEGIN")
        return canonical_json(export_as_of(FileRows(connection), at, reader))
    finally:
        connection.close()


class LogRows(Protocol):
    """Rows of one consistent snapshot of a log."""

    def known_since(self) -> int | None:
        """Return the event time (ns) of the last compacted event; None if nothing was compacted."""

    def snapshot_page(self, after: Key | None) -> list[Snapshot]:
        """Return a page of snapshots after `after`, in restore order."""

    def event_rows(self, after: int, until: int) -> list[EventRow]:
        """Return a page of rows after number `after`, of event time (ns) `until` or before."""


class FileRows:
    """Rows of a log file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def known_since(self) -> int | None:
        """Return the event time (ns) of the last compacted event; None if nothing was compacted."""
        return known_since(self._connection)

    def snapshot_page(self, after: Key | None) -> list[Snapshot]:
        """Return a page of snapshots after `after`, in restore order."""
        return snapshot_page(self._connection, after)

    def event_rows(self, after: int, until: int) -> list[EventRow]:
        """Return a page of rows after number `after`, of event time (ns) `until` or before."""
        return event_rows(self._connection, after, PAGE, until)


def export_as_of(log: LogRows, at: int, reader: EventReader) -> dict[str, object]:
    """Return the graph export of a log's events of time `at` (ns) and before.

    Raises:
        Compacted: retention has compacted later events.
    """
    since = log.known_since()
    if since is not None and at < since:
        raise Compacted(since)
    lineage = LineageRecords()
    snapshots = log.snapshot_page(None)
    while snapshots:
        restore(lineage, snapshots)
        snapshots = log.snapshot_page(snapshots[-1].key)
    place = 0
    while rows := log.event_rows(place, at):
        # The service has recorded damaged rows as dead letters.
        for stored in stored_events(rows, lambda _hash, _error: None):
            try:
                lineage.apply(reader.event(stored.original, stored.accepted))
            except EventError as error:
                logger.warning("event %s is left out: %s", stored.original.hash.hex(), error)
        place = rows[-1].seq
    return export_graph(lineage, Graph(lineage))


def _graph_of(location: str, at: int, reader: EventReader) -> bytes:
    if not location.startswith(tuple(f"{scheme}://" for scheme in SCHEMES)):
        return graph_at(Path(location), at, reader)
    # Imported here: without Postgres, the service does not need the driver.
    from lineage.store.postgres.rows_as_of import rows_of

    with rows_of(PostgresAddress(location, os.environ.get(PASSWORD))) as log:
        return canonical_json(export_as_of(log, at, reader))


if __name__ == "__main__":
    # Folding makes no cycles, and the process ends with its query.
    gc.disable()
    try:
        rules = read_rules(Path(sys.argv[3])) if len(sys.argv) > 3 else Rules()
        sys.stdout.buffer.write(_graph_of(sys.argv[1], int(sys.argv[2]), EventReader(rules)))
    except Compacted as error:
        sys.stdout.write(str(error.since))
        sys.exit(COMPACTED)
