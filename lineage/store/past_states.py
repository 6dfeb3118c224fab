# SPDX-License-Identifier: Apache-2.0
"""Past states: copies of the checkpoint as of earlier positions of the log.

The graph at a past time is the last past state that has no later event, and the events after its position up to that
time. So it takes the events between two past states, instead of all.
"""

import sqlite3
from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from lineage.events.ids import JobId, RunId
from lineage.graph import Graph, LineageRecords
from lineage.graph.run_record import RunRecord
from lineage.graph.snapshot import Snapshot, Subject, restore, run_position
from lineage.store import past_parts
from lineage.store.state_archive import StateArchive
from lineage.store.state_records import decompressed_record

SCHEMA = """
CREATE TABLE past_states (
    position INTEGER PRIMARY KEY, -- of the log: the last event that it contains
    last_time INTEGER NOT NULL,   -- greatest event time in it, nanoseconds
    last_run INTEGER NOT NULL,    -- archived runs up to this number are in it
    anchor INTEGER NOT NULL,      -- position of the past state that its parts are compressed against, or its own
    after_anchor INTEGER NOT NULL -- number of past states since then
) STRICT;
CREATE TABLE removed_runs (       -- runs that left the archive, as events of them came late
    number INTEGER NOT NULL,
    after INTEGER NOT NULL,       -- last past state that has it
    job INTEGER NOT NULL,
    time INTEGER NOT NULL,
    hash BLOB NOT NULL,
    run ANY NOT NULL,
    edges INTEGER NOT NULL,
    dropped INTEGER NOT NULL,
    detail BLOB NOT NULL,
    ended INTEGER,
    several_starts INTEGER NOT NULL,
    record BLOB
) STRICT;
CREATE INDEX removed_runs_by_id ON removed_runs (run);
CREATE INDEX removed_runs_of_job ON removed_runs (job);
CREATE TRIGGER run_removed AFTER DELETE ON runs BEGIN
    INSERT INTO removed_runs SELECT old.number, max(position), old.job, old.time, old.hash, old.run, old.edges,
        old.dropped, old.detail, old.ended, old.several_starts, old.record
    FROM past_states WHERE last_run >= old.number HAVING max(position) IS NOT NULL;
END;
"""

_MIN_EVENTS = 1_000
"""Events between two past states, at least: applying them takes about a second."""

_EVENTS_PER_RECORD = 2
"""Events between two past states for each record: bounds their size to that of some hundred bytes for each event."""

_AFTER_ANCHOR = 5
"""Past states that are compressed against one anchor: the last ones take half as much as the anchor, or more."""

_RUNS = (
    "CREATE TEMP TABLE removed (number INTEGER PRIMARY KEY)",
    """CREATE TEMP VIEW runs AS SELECT * FROM (
        SELECT number, {columns} FROM main.runs
        UNION ALL SELECT number, {columns} FROM main.removed_runs WHERE after >= {position}
    ) WHERE number <= {last_run} AND number NOT IN (SELECT number FROM temp.removed)""",
    """CREATE TEMP TRIGGER run_is_read INSTEAD OF DELETE ON runs
    BEGIN INSERT INTO removed VALUES (old.number); END""",
)
"""Archived runs as of a past state, which hide those of now."""

_TEMPORARY = (
    "CREATE TEMP TABLE jobs (number INTEGER PRIMARY KEY, namespace TEXT, name TEXT, archived INTEGER DEFAULT 0)",
    """INSERT INTO temp.jobs SELECT number, namespace, name,
        coalesce((SELECT runs FROM (SELECT job, count(*) AS runs FROM temp.runs GROUP BY job) WHERE job = number), 0)
    FROM main.jobs""",
    "CREATE UNIQUE INDEX temp.jobs_by_name ON jobs (namespace, name)",
    "CREATE TEMP TABLE datasets (number INTEGER PRIMARY KEY, namespace TEXT, name TEXT, archived INTEGER DEFAULT 0)",
    "CREATE TEMP TABLE columns (id INTEGER PRIMARY KEY, digest BLOB, body BLOB)",
    "CREATE TEMP TABLE statements AS SELECT * FROM main.statements WHERE false",
    "CREATE TEMP TABLE records AS SELECT * FROM main.records WHERE false",
)
"""Other tables of the archive as of a past state, which hide those of now.

Statements about datasets are not in the graph.
"""

_CACHED_PARTS = 512
"""Parts in memory, some 0.1 MB each."""

_RUN_COLUMNS = "job, time, hash, run, edges, dropped, detail, ended, several_starts, record"


class PastState(NamedTuple):
    """One past state; see the columns of its table."""

    position: int
    last_time: int
    last_run: int


class PastStates:
    """Table of past states. Not thread-safe; its changes are part of the connection's open transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        last = connection.execute("SELECT max(position) FROM past_states").fetchone()[0]
        self._due = self._next_after(last or 0)

    def is_due(self, position: int) -> bool:
        """Return whether a checkpoint at a position of the log shall stay as a past state."""
        return position >= self._due

    def keep(self, position: int, last_time: int) -> None:
        """Keep a copy of the state, which is as of a position; its last event is of `last_time` (ns)."""
        connection = self._connection
        connection.execute("DELETE FROM past_states WHERE position = ?", (position,))
        connection.execute("DELETE FROM past_parts WHERE position = ?", (position,))
        query = "SELECT anchor, after_anchor + 1 FROM past_states WHERE position < ? ORDER BY position DESC LIMIT 1"
        anchor, after_anchor = connection.execute(query, (position,)).fetchone() or (position, 0)
        if after_anchor > _AFTER_ANCHOR:
            anchor, after_anchor = position, 0
        past_parts.store_parts(connection, position, anchor)
        insert = "INSERT INTO past_states SELECT ?, ?, coalesce(max(number), 0), ?, ? FROM runs"
        connection.execute(insert, (position, last_time, anchor, after_anchor))
        self._due = self._next_after(position)

    def remove_before(self, position: int) -> None:
        """Remove past states from which events were compacted that came after them, up to this position."""
        self._connection.execute("DELETE FROM past_states WHERE position < ?", (position,))
        unused = "position < ? AND position NOT IN (SELECT anchor FROM past_states)"
        self._connection.execute(f"DELETE FROM past_parts WHERE {unused}", (position,))
        self._connection.execute("DELETE FROM removed_runs WHERE after < ?", (position,))

    def _next_after(self, position: int) -> int:
        (records,) = self._connection.execute("SELECT count(*) FROM records").fetchone()
        return position + max(_MIN_EVENTS, _EVENTS_PER_RECORD * int(records))


def past_state(connection: sqlite3.Connection, at: int, since: int) -> PastState | None:
    """Return the last past state of position `since` or later without an event after `at` (ns), if there is one."""
    query = """SELECT position, last_time, last_run FROM past_states
               WHERE last_time <= ? AND position >= ? ORDER BY position DESC LIMIT 1"""
    row = connection.execute(query, (at, since)).fetchone()
    return PastState(*row) if row else None


def show_archived_runs(connection: sqlite3.Connection, found: PastState) -> None:
    """Let `runs` be the archived runs as of a past state, for this connection."""
    values = {"columns": _RUN_COLUMNS, "position": found.position, "last_run": found.last_run}
    for statement in _RUNS:
        connection.execute(statement.format_map(values))


class PastRecords:
    """Records of a past state by key: the parts that have them are read when they are used."""

    def __init__(self, connection: sqlite3.Connection, found: PastState) -> None:
        self._connection = connection
        self._position = found.position
        query = "SELECT kind, key, part FROM past_parts WHERE position = ? AND NOT is_lineages ORDER BY part"
        rows = connection.execute(query, (found.position,)).fetchall()
        self._firsts = [(kind, key) for kind, key, _ in rows]
        self._numbers = [part for *_, part in rows]
        self._part = lru_cache(_CACHED_PARTS)(self._read)

    def record(self, kind: str, key: str) -> Snapshot | None:
        """Return the record with a key, or None."""
        at = bisect_right(self._firsts, (kind, key)) - 1
        content = self._part(self._numbers[at]).get((kind, key)) if at >= 0 else None
        return None if content is None else decompressed_record(kind, key, content)

    def between(self, kind: str, first: str, last: str) -> list[Snapshot]:
        """Return the records of a kind with keys from `first` to `last`."""
        begin = max(0, bisect_right(self._firsts, (kind, first)) - 1)
        end = bisect_right(self._firsts, (kind, last))
        return [
            decompressed_record(*key, content)
            for part in self._numbers[begin:end]
            for key, content in self._part(part).items()
            if key[0] == kind and first <= key[1] <= last
        ]

    def _read(self, part: int) -> dict[tuple[str, str], bytes]:
        rows = past_parts.read_part(self._connection, self._position, part).rows
        return {(kind, key): content for kind, key, content in rows}


def restored_state(
    connection: sqlite3.Connection, found: PastState, load: Callable[[RunId], RunRecord]
) -> tuple[LineageRecords, Graph]:
    """Return records and graph of a past state; `load` makes the record of an archived batch run of its events.

    The connection is not used for anything else afterwards: tables of the same names hide those of the file.

    Raises:
        ValueError: the past state is damaged.
    """
    show_archived_runs(connection, found)
    for statement in _TEMPORARY:
        connection.execute(statement)
    lineage = LineageRecords(StateArchive(connection, load))
    graph = Graph(lineage)
    runs: list[Snapshot] = []
    lineages: list[tuple[JobId, bytes]] = []
    for is_lineages, rows in past_parts.read_parts(connection, found.position):
        if is_lineages:
            lineages += [(JobId(namespace, name), packed) for namespace, name, packed in rows]
            continue
        snapshots = [decompressed_record(*row) for row in rows]
        runs += [snapshot for snapshot in snapshots if snapshot.key.subject is Subject.RUN]
        restore(lineage, (snapshot for snapshot in snapshots if snapshot.key.subject is not Subject.RUN))
    restore(lineage, sorted(runs, key=run_position))
    for job, packed in lineages:
        graph.restore(job, packed, lambda dataset: dataset)
    return lineage, graph
