# SPDX-License-Identifier: Apache-2.0
"""Retention of runs: archived runs whose events were all compacted leave the state, but for the newest of each job.

No edge depends on an archived run, so that the graph stays the same. Kept are runs without an end, which may still end,
and those that others need: those that an open run names as parent or root, which decide whether it counts as ended, and
those that announced that a dataset was dropped or renamed, which they did not do if they failed.
"""

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator

from lineage.events.ids import JobId, JsonObject, RunId
from lineage.graph.records import LineageRecords
from lineage.store.horizons import Horizons
from lineage.store.packed_ids import unpacked_id

KEPT_RUNS = 100
"""Archived runs of each job that are always kept: the newest."""

_SLICE = 200
"""Runs removed between two yields to the event loop."""

_JOBS = "SELECT number, namespace, name FROM jobs WHERE archived > ?"
_OLDER = """
SELECT number, run FROM (SELECT number, run, ended FROM runs WHERE job = ? ORDER BY time DESC LIMIT -1 OFFSET ?)
WHERE ended < ?
"""
_PARENTS = """
SELECT parents FROM records WHERE parents IS NOT NULL UNION SELECT parents FROM runs WHERE parents IS NOT NULL
"""


def named_parents(facets: JsonObject) -> str | None:
    """Return the UUIDs of the runs that the facets of a run name as parent and root, in JSON; None without any."""
    parent = facets.get("parent")
    if not parent:
        return None
    named = [parent["run"]["runId"], *([parent["root"]["run"]["runId"]] if parent.get("root") else [])]
    return json.dumps([run.lower() for run in named])


def forget_runs(
    connection: sqlite3.Connection,
    lineage: LineageRecords,
    horizons: Horizons,
    have_events: Callable[[Collection[str]], set[str]],
) -> Iterator[list[RunId]]:
    """Remove archived runs that ended before the horizon of their namespace; yield some in each step.

    `have_events` returns which of some UUIDs have events that are not compacted: their runs stay. The removal is part
    of the connection's open transaction.
    """
    needed = {run for (runs,) in connection.execute(_PARENTS).fetchall() for run in json.loads(runs)}
    needed |= {run.run for run in lineage.runs_that_changed_datasets()}
    for number, namespace, name in connection.execute(_JOBS, (KEPT_RUNS,)).fetchall():
        job, horizon = JobId(namespace, name), horizons.of(namespace)
        if horizon is None or lineage.has_whole_history(job):
            continue
        rows = connection.execute(_OLDER, (number, KEPT_RUNS, horizon.time)).fetchall()
        for start in range(0, len(rows), _SLICE):
            part = {unpacked_id(run): row for row, run in rows[start : start + _SLICE]}
            gone = part.keys() - needed
            gone -= have_events(gone)
            _remove(connection, number, [part[run] for run in gone])
            lineage.forget_archived(job, len(gone))
            connection.executemany("INSERT INTO forgotten_runs VALUES (?, ?, ?)", [(run, *job) for run in gone])
            yield [RunId(run, job) for run in sorted(gone)]


def forgotten_runs(connection: sqlite3.Connection, lineage: LineageRecords) -> list[RunId]:
    """Return the runs to be removed from the log, also those of a retention that a crash ended.

    A run of which an event arrived since has a record again, and stays.
    """
    rows = connection.execute("SELECT DISTINCT run, namespace, name FROM forgotten_runs").fetchall()
    runs = [RunId(run, JobId(namespace, name)) for run, namespace, name in rows]
    return [run for run in runs if (found := lineage.run(run.run, run.job)) is None or found.id != run]


def _remove(connection: sqlite3.Connection, job: int, rows: Iterable[int]) -> None:
    numbers = [(row,) for row in rows]
    connection.executemany("DELETE FROM runs WHERE number = ?", numbers)
    # No past graph needs them either.
    connection.executemany("DELETE FROM removed_runs WHERE number = ?", numbers)
    connection.execute("UPDATE jobs SET archived = archived - ? WHERE number = ?", (len(numbers), job))
