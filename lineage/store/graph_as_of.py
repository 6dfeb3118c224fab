# SPDX-License-Identifier: Apache-2.0
"""`python -m lineage.store.graph_as_of FILE NANOSECONDS [RULES]`: write the graph of a log file as of a time.

Safe beside a running service: it reads one consistent snapshot and takes no lock. Exit code 3 if retention has
compacted events after that time; it then writes the earliest time that can be queried.
"""

import logging
import sqlite3
import sys
from pathlib import Path

from lineage.events import EventError, canonical_json
from lineage.graph import Graph, LineageRecords, export_graph
from lineage.graph.snapshot import restore
from lineage.rules import Rules, read_rules
from lineage.rules.event_reader import EventReader
from lineage.store.rows import PAGE, event_rows, known_since, snapshot_page, stored_events

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
        return canonical_json(_export_as_of(connection, at, reader))
    finally:
        connection.close()


def _export_as_of(connection: sqlite3.Connection, at: int, reader: EventReader) -> dict[str, object]:
    since = known_since(connection)
    if since is not None and at < since:
        raise Compacted(since)
    lineage = LineageRecords()
    snapshots = snapshot_page(connection, None)
    while snapshots:
        restore(lineage, snapshots)
        snapshots = snapshot_page(connection, snapshots[-1].key)
    place = 0
    while rows := event_rows(connection, place, PAGE, at):
        # The service has recorded damaged rows as dead letters.
        for stored in stored_events(rows, lambda _hash, _error: None):
            try:
                lineage.apply(reader.event(stored.original, stored.accepted))
            except EventError as error:
                logger.warning("event %s is left out: %s", stored.original.hash.hex(), error)
        place = rows[-1].seq
    return export_graph(lineage, Graph(lineage))


if __name__ == "__main__":
    try:
        rules = read_rules(Path(sys.argv[3])) if len(sys.argv) > 3 else Rules()
        sys.stdout.buffer.write(graph_at(Path(sys.argv[1]), int(sys.argv[2]), EventReader(rules)))
    except Compacted as error:
        sys.stdout.write(str(error.since))
        sys.exit(COMPACTED)
