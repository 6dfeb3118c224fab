# SPDX-License-Identifier: Apache-2.0
"""State derived from the log, in a file of its own: records in memory as of a checkpoint, and archived runs.

The file can be deleted at any time: the next start makes it again, from the whole log. Only checkpoints are committed,
so that after a crash all of the file is as of one position of the log.
"""

import hashlib
import json
import logging
import re
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from lineage.events.ids import JobId
from lineage.graph.snapshot import Key, Snapshot, Subject
from lineage.rules import Rules
from lineage.store import history_index, past_parts, past_states
from lineage.store.rows import row_key
from lineage.store.run_retention import named_parents
from lineage.store.state_code import state_code
from lineage.store.state_connection import StateConnection
from lineage.store.state_records import packed_content, state_record

logger = logging.getLogger(__name__)

_SCHEMA = """
CREATE TABLE checkpoint (one INTEGER PRIMARY KEY CHECK (one = 1), digest TEXT NOT NULL, position INTEGER) STRICT;
CREATE TABLE records (
    kind TEXT NOT NULL,     -- catalog, dataset, job, namespace, run
    key TEXT NOT NULL,      -- identity of the subject, canonical JSON
    body BLOB NOT NULL,
    kept INTEGER NOT NULL,  -- whether it is always in memory
    run TEXT,               -- UUID of a run
    parents TEXT,           -- UUIDs that an open run names as parent and root, JSON
    PRIMARY KEY (kind, key)
) STRICT;
CREATE INDEX records_in_memory ON records (kind, key) WHERE kept;
CREATE INDEX other_records ON records (kind, key) WHERE run IS NULL AND NOT kept;
CREATE INDEX open_records ON records (parents) WHERE parents IS NOT NULL;
CREATE INDEX records_of_runs ON records (run) WHERE run IS NOT NULL;
CREATE TABLE lineages (
    namespace TEXT NOT NULL, -- job
    name TEXT NOT NULL,
    body BLOB NOT NULL,      -- derived lineage of the job as of the checkpoint
    PRIMARY KEY (namespace, name)
) STRICT;
CREATE TABLE jobs (
    number INTEGER PRIMARY KEY,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    archived INTEGER NOT NULL DEFAULT 0, -- rows of runs
    UNIQUE (namespace, name)
) STRICT;
CREATE TABLE edges (id INTEGER PRIMARY KEY, body BLOB NOT NULL UNIQUE) STRICT;
CREATE TABLE runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    job INTEGER NOT NULL,
    time INTEGER NOT NULL,  -- position of the run in its job: nanoseconds and hash of its first START
    hash BLOB NOT NULL,
    run ANY NOT NULL,       -- UUID, 16 bytes
    edges INTEGER NOT NULL,
    dropped INTEGER NOT NULL,
    detail BLOB NOT NULL,
    ended INTEGER,          -- nanoseconds
    several_starts INTEGER NOT NULL,
    record BLOB,            -- null: it is made of the events of the run
    parents TEXT,           -- as in records
    first INTEGER NOT NULL  -- first event, nanoseconds
) STRICT;
CREATE TABLE forgotten_runs ( -- runs that retention removed here, and has to remove from the log
    run TEXT NOT NULL,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL
) STRICT;
CREATE TABLE datasets (
    number INTEGER PRIMARY KEY,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    archived INTEGER NOT NULL DEFAULT 0, -- rows of statements
    UNIQUE (namespace, name)
) STRICT;
CREATE TABLE columns (id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, body BLOB NOT NULL) STRICT;
CREATE TABLE statements (
    dataset INTEGER NOT NULL,
    key BLOB NOT NULL,
    time INTEGER NOT NULL,  -- first event with the statement
    hash BLOB NOT NULL,
    job INTEGER,            -- of the run that stated it; null: a dataset event
    run ANY,
    read INTEGER NOT NULL,
    columns INTEGER,
    version TEXT,
    PRIMARY KEY (dataset, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_of_job ON runs (job, time);
CREATE INDEX runs_by_id ON runs (run);
CREATE INDEX runs_by_time ON runs (time);
CREATE INDEX runs_by_end ON runs (ended) WHERE ended IS NOT NULL;
CREATE INDEX open_runs ON runs (parents) WHERE parents IS NOT NULL;
CREATE INDEX runs_with_several_starts ON runs (job) WHERE several_starts;
"""

_PAGE = 500
_PRAGMAS = ("synchronous = NORMAL", "journal_mode = WAL", "wal_autocheckpoint = 0", "cache_size = -32768")
"""The WAL is moved into the file by `commit`, and not while events are applied."""

_PATTERN = "state-*.db"

_READ_WHEN_USED = frozenset({Subject.DATASET, Subject.JOB, Subject.RUN})
"""Kinds of records that need not be in memory, except for datasets of which events state names: others depend on them.
"""


class StateFile:
    """One file of derived state. Not thread-safe.

    `position` is the number of the last event that the state contains; None before the first checkpoint. `reader` is
    a connection that reads the last checkpoint, also while `connection` writes the next one.
    """

    def __init__(self, path: Path, digest: str) -> None:
        """Create the file, or open an existing one.

        Raises:
            sqlite3.Error: it is damaged, or cannot be written.
        """
        self.path = path
        self.connection = StateConnection(path)
        try:
            for pragma in _PRAGMAS:
                self.connection.execute(f"PRAGMA {pragma}")
            if not self.connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                schema = f"{_SCHEMA} {past_states.SCHEMA} {past_parts.SCHEMA} {history_index.SCHEMA}"
                self.connection.executescript(f"BEGIN; {schema} COMMIT;")
                self.connection.execute("INSERT INTO checkpoint VALUES (1, ?, NULL)", (digest,))
            self.digest, self.position = self.connection.execute("SELECT digest, position FROM checkpoint").fetchone()
            self.connection.begin()
            self.past_states = past_states.PastStates(self.connection)
            self.index = history_index.HistoryIndex(self.connection)
            self.reader = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        except sqlite3.Error:
            self.connection.close()
            raise

    def records_in_memory(self) -> Iterator[Snapshot]:
        """Yield the records of the last checkpoint that must be in memory, in restore order."""
        query = """SELECT kind, key, body FROM records
                   WHERE kept AND (kind, key) > (?, ?) ORDER BY kind, key LIMIT ?"""
        for row in self._rows(query):
            yield state_record(*row)

    def other_names(self) -> Iterator[tuple[Subject, list[str]]]:
        """Yield kind, namespace and name of the jobs and datasets that are read when they are used."""
        query = """SELECT kind, key FROM records
                   WHERE run IS NULL AND NOT kept AND (kind, key) > (?, ?) ORDER BY kind, key LIMIT ?"""
        for kind, key in self._rows(query):
            yield Subject(kind), json.loads(key)

    def write(self, records: Iterable[Snapshot]) -> None:
        """Write changed records."""
        self.connection.executemany(
            """INSERT INTO records VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (kind, key) DO UPDATE
               SET body = excluded.body, kept = excluded.kept, parents = excluded.parents""",
            map(_record_row, records),
        )

    def remove(self, keys: Iterable[Key]) -> None:
        """Remove records that are no longer in memory."""
        self.connection.executemany("DELETE FROM records WHERE kind = ? AND key = ?", map(row_key, keys))

    def lineages(self) -> Iterator[tuple[JobId, bytes]]:
        """Yield the lineage of jobs as of the last checkpoint."""
        query = "SELECT namespace, name, body FROM lineages WHERE (namespace, name) > (?, ?) ORDER BY 1, 2 LIMIT ?"
        for namespace, name, body in self._rows(query):
            yield JobId(namespace, name), body

    def write_lineages(self, lineages: Iterable[tuple[JobId, bytes | None]]) -> None:
        """Write the lineage of jobs; remove that of a job without any."""
        for job, body in lineages:
            if body is None:
                self.connection.execute("DELETE FROM lineages WHERE namespace = ? AND name = ?", job)
            else:
                self.connection.execute("REPLACE INTO lineages VALUES (?, ?, ?)", (*job, body))

    def commit(self, position: int) -> None:
        """Make a checkpoint: the state contains all events up to number `position`.

        Raises:
            sqlite3.Error, StoreError: the changes since the last checkpoint were lost.
        """
        self.connection.execute("UPDATE checkpoint SET position = ?", (position,))
        self.connection.checkpoint()
        self.position = position

    def close(self) -> None:
        """Close the file; changes since the last checkpoint are lost."""
        self.reader.close()
        self.connection.close()

    def _rows(self, query: str) -> Iterator[Any]:
        """Yield the rows of a query for a page after a key, which is in their first two columns."""
        place = ("", "")
        while rows := self.connection.execute(query, (*place, _PAGE)).fetchall():
            yield from rows
            place = rows[-1][:2]

    def delete(self) -> None:
        """Delete the file. It stays open for requests in progress, until nothing refers to it any more."""
        _unlink(self.path)


def _record_row(record: Snapshot) -> tuple[str, str, bytes, bool, str | None, str | None]:
    key, content = record
    kept = key.subject not in _READ_WHEN_USED or bool(content.get("names"))
    if key.subject is not Subject.RUN:
        return *row_key(key), packed_content(content), kept, None, None
    facets = {name: register[-1] for name, register in content["facets"].items() if name == "parent"}
    parents = named_parents(facets) if content["terminal"] is None else None
    return *row_key(key), packed_content(content), kept, key.identity[-1], parents


def open_state(directory: Path, rules: Rules, first: int, last: int, log: str = "") -> StateFile:
    """Open the state of a data directory; an empty one if none fits, or is readable.

    The state must contain event `first` of the log, if any, up to which events may have been compacted, and nothing
    after its last event, `last`. State of other naming rules, of another log than that of identity `log`, or of another
    version of the service, does not fit. Other files are deleted.
    """
    digest = state_digest(rules, log)
    chosen: StateFile | None = None
    for path in sorted(directory.glob(_PATTERN), reverse=True):
        found = _usable(path, digest, range(first, last + 1)) if chosen is None else None
        if found is None:
            _unlink(path)
        chosen = chosen or found
    return chosen or new_state(directory, rules, log)


def new_state(directory: Path, rules: Rules, log: str = "") -> StateFile:
    """Create an empty state beside the one in use."""
    numbers = [int(path.stem.removeprefix("state-")) for path in directory.glob(_PATTERN)]
    return StateFile(directory / f"state-{max(numbers, default=0) + 1:08}.db", state_digest(rules, log))


def state_digest(rules: Rules, log: str) -> str:
    """Return the digest of what the state depends on beside events: log, naming rules, the code that folds, Python."""
    digest = hashlib.sha256(repr((rules_content(rules), log, sys.version_info[:2])).encode())
    for path in state_code():
        digest.update(path.read_bytes())
    return digest.hexdigest()


def rules_content(rules: Rules) -> tuple[object, ...]:
    """Return all that naming rules consist of, in a form whose text is complete."""
    namespaces = [(rule.canonical, rule.hosts, _patterns_content(rule.patterns)) for rule in rules.namespaces]
    catalogs = [
        (
            *(catalog.name, catalog.uri, catalog.warehouse),
            [(alias.name, alias.namespaces, _patterns_content(alias.patterns)) for alias in catalog.aliases],
        )
        for catalog in rules.catalogs
    ]
    return namespaces, catalogs, rules.symlinks, rules.unify_spellings


def _patterns_content(patterns: tuple[re.Pattern[str], ...]) -> list[tuple[str, int]]:
    """Return patterns and flags; the text of a pattern object is cut after 200 characters."""
    return [(pattern.pattern, pattern.flags) for pattern in patterns]


def delete_states(directory: Path) -> None:
    """Delete all state of a data directory, whose log was replaced; no service may run."""
    for path in directory.glob(_PATTERN):
        _unlink(path)


def _usable(path: Path, digest: str, positions: range) -> StateFile | None:
    try:
        found = StateFile(path, digest)
    except sqlite3.Error as error:
        logger.warning("the state in %s cannot be read (%s); it is made again from the log", path, error)
        return None
    if found.digest == digest and found.position in positions:
        return found
    found.close()
    return None


def _unlink(path: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
