# SPDX-License-Identifier: Apache-2.0
"""Index of what ever was, in the state file: which job used which dataset, which names were connected.

With the runs of jobs it identifies which events part of a past graph depends on (see `lineage.past`). Nothing in it
depends on a time; only retention, which removes runs, does not remove from it.
"""

import json
import sqlite3
from collections.abc import Iterable

from lineage.events import DatasetId, Event, JobId
from lineage.events.own_facets import catalog_statement
from lineage.graph.dataset_lineage import declared_job
from lineage.graph.name_links import NameLink, links_of_event
from lineage.graph.snapshot import Key, Subject
from lineage.store.packed_ids import packed_id, unpacked_id
from lineage.store.rows import row_key

SCHEMA = """
CREATE TABLE uses (            -- every dataset that events of a job ever named
    namespace TEXT NOT NULL,   -- of the dataset
    name TEXT NOT NULL,
    job_namespace TEXT NOT NULL,
    job_name TEXT NOT NULL,
    PRIMARY KEY (namespace, name, job_namespace, job_name)
) STRICT, WITHOUT ROWID;
CREATE INDEX uses_by_job ON uses (job_namespace, job_name);
CREATE TABLE name_links (      -- names of datasets that events ever connected; each pair in both directions
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    other_namespace TEXT NOT NULL,
    other_name TEXT NOT NULL,
    PRIMARY KEY (namespace, name, other_namespace, other_name)
) STRICT, WITHOUT ROWID;
CREATE TABLE other_events (    -- events that are not of runs
    kind TEXT NOT NULL,        -- catalog, dataset, job
    key TEXT NOT NULL,         -- identity of the subject, canonical JSON; of all entries of the catalog the same
    time INTEGER NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (kind, key, time, hash)
) STRICT, WITHOUT ROWID;
"""

_MAX_KNOWN_LINKS = 50_000
"""Pairs of names in memory that are in the table: most events repeat them."""

CATALOG = Key(Subject.CATALOG, ())
"""Subject of all statements about the catalog."""


def subject_of(event: Event) -> Key | None:
    """Return the job or dataset that an event belongs to, or `CATALOG`; None for the event of a run."""
    if event.run is not None:
        return None
    if catalog_statement(event) is not None:
        return CATALOG
    declared = declared_job(event)
    if declared.job is not None:
        return Key(Subject.JOB, tuple(declared.job))
    assert event.dataset is not None, "an event without run and job is of a dataset"
    return Key(Subject.DATASET, tuple(event.dataset))


class HistoryIndex:
    """Writes the index. Not thread-safe; its changes are part of the connection's open transaction.

    What `add` and `add_links` receive stays in memory until `write`.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._known: set[NameLink] = set()
        self._links: list[NameLink] = []
        self._events: list[tuple[str, str, int, bytes]] = []

    def add(self, event: Event) -> None:
        """Add an event; idempotent."""
        self.add_links(links_of_event(event))
        subject = subject_of(event)
        if subject is not None:
            self._events.append((*row_key(subject), event.order.time, event.hash))

    def add_links(self, links: Iterable[NameLink]) -> None:
        """Add pairs of names; idempotent."""
        for link in links:
            if link in self._known or link[0] == link[1]:
                continue
            if len(self._known) >= _MAX_KNOWN_LINKS:
                self._known.clear()
            self._known.add(link)
            self._links.append(link)

    def write(self) -> None:
        """Write what was added."""
        links = [row for one, other in self._links for row in ((*one, *other), (*other, *one))]
        self._connection.executemany("INSERT OR IGNORE INTO name_links VALUES (?, ?, ?, ?)", links)
        self._links = []
        self._connection.executemany("INSERT OR IGNORE INTO other_events VALUES (?, ?, ?, ?)", self._events)
        self._events = []

    def add_uses(self, uses: Iterable[tuple[DatasetId, JobId]]) -> None:
        """Add datasets that jobs use; idempotent."""
        rows = ((*dataset, *job) for dataset, job in uses)
        self._connection.executemany("INSERT OR IGNORE INTO uses VALUES (?, ?, ?, ?)", rows)


class HistoryRead:
    """Reads the index, as of the last checkpoint."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def jobs_using(self, dataset: DatasetId) -> set[JobId]:
        """Return the jobs that ever used the name of a dataset."""
        query = "SELECT job_namespace, job_name FROM uses WHERE namespace = ? AND name = ?"
        return {JobId(*row) for row in self._connection.execute(query, dataset)}

    def used_by(self, job: JobId) -> set[DatasetId]:
        """Return the names of the datasets that a job ever used."""
        query = "SELECT namespace, name FROM uses WHERE job_namespace = ? AND job_name = ?"
        return {DatasetId(*row) for row in self._connection.execute(query, job)}

    def linked_names(self, name: DatasetId) -> set[DatasetId]:
        """Return the names that were ever connected with one directly."""
        query = "SELECT other_namespace, other_name FROM name_links WHERE namespace = ? AND name = ?"
        return {DatasetId(*row) for row in self._connection.execute(query, name)}

    def other_events(self, subject: Key, until: int) -> list[bytes]:
        """Return the hashes of events of a subject that are not of runs, of time `until` (ns) and before."""
        query = "SELECT hash FROM other_events WHERE kind = ? AND key = ? AND time <= ?"
        return [content_hash for (content_hash,) in self._connection.execute(query, (*row_key(subject), until))]

    def runs_of(self, job: JobId, after: int, until: int) -> set[str]:
        """Return the UUIDs of runs of a job with an event of time `until` (ns) or before.

        Runs that are archived under a number up to `after` are left out; runs in memory are not.
        """
        archived = """SELECT run FROM main.runs WHERE number > ? AND first <= ?
                      AND job = (SELECT number FROM main.jobs WHERE namespace = ? AND name = ?)"""
        found = {unpacked_id(run) for (run,) in self._connection.execute(archived, (after, until, *job))}
        loaded = "SELECT run FROM main.records WHERE kind = 'run' AND key > ? AND key < ?"
        return found | {run for (run,) in self._connection.execute(loaded, run_keys(job))}

    def jobs_of_run(self, run: str) -> set[JobId]:
        """Return the jobs that ever had a run with a UUID."""
        archived = """SELECT namespace, name FROM main.jobs WHERE number IN (
            SELECT job FROM main.runs WHERE run = ?1 UNION SELECT job FROM main.removed_runs WHERE run = ?1)"""
        found = {JobId(*row) for row in self._connection.execute(archived, (packed_id(run),))}
        loaded = self._connection.execute("SELECT key FROM main.records WHERE run = ?", (run,))
        return found | {JobId(*json.loads(key)[:2]) for (key,) in loaded}

    def has_job(self, job: JobId) -> bool:
        """Return whether there is a record of a job."""
        return self._has(Key(Subject.JOB, tuple(job)))

    def has_dataset(self, name: DatasetId) -> bool:
        """Return whether there is a record of a dataset under a name, or the name leads to another one."""
        return self._has(Key(Subject.DATASET, tuple(name))) or bool(self.linked_names(name))

    def _has(self, key: Key) -> bool:
        query = "SELECT 1 FROM main.records WHERE kind = ? AND key = ?"
        return self._connection.execute(query, row_key(key)).fetchone() is not None


def run_keys(job: JobId) -> tuple[str, str]:
    """Return texts between which the keys of a job's runs lie: `[namespace,name,UUID]`."""
    _, key = row_key(Key(Subject.JOB, tuple(job)))
    first = key.removesuffix("]")
    return first + ",", first + "-"
