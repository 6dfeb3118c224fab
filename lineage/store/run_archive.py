# SPDX-License-Identifier: Apache-2.0
"""Archived runs in the state file: what histories know of each run.

Records of batch runs, which have few events, are made of these again; those of others are stored.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

import msgspec

from lineage.events.event import Order
from lineage.events.ids import DatasetId, JobId, RunId
from lineage.graph.job_runs import ArchivedRun
from lineage.graph.mergeable import Span
from lineage.graph.records import LineageRecords
from lineage.graph.run_history import Authority, Direction, Edge, RunEntry, RunPosition
from lineage.graph.run_record import RunRecord
from lineage.graph.snapshot import decode_run, encode_run
from lineage.store.numbered_names import NumberedNames
from lineage.store.packed_ids import packed_id, unpacked_id
from lineage.store.run_retention import named_parents
from lineage.store.state_records import packed_content, unpacked_content

_CACHED = 8192
"""Sets of edges in memory."""

_COLUMNS = "job, time, hash, run, edges, dropped, detail, ended"
_INSERT = f"INSERT INTO runs ({_COLUMNS}, several_starts, record, parents, first) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)"
_BACKWARDS = f"SELECT {_COLUMNS} FROM runs WHERE job = ? AND time <= ? ORDER BY time DESC"
_STARTED_LATER = f"SELECT {_COLUMNS} FROM runs WHERE job = ? AND time >= ? AND NOT several_starts ORDER BY time"
_SEVERAL_STARTS = f"SELECT {_COLUMNS} FROM runs WHERE job = ? AND several_starts"
_END_OF_TIME = 2**63 - 1

_Order = tuple[int, bytes]


class _Detail(msgspec.Struct, array_like=True):
    """Rest of a row. `starts` None: the run has one START event, at its position. `end`: rank, hash and type."""

    authority: list[str]
    spoke: _Order | None
    starts: list[_Order] | None
    end: tuple[int, bytes, str] | None


_detail_decoder = msgspec.msgpack.Decoder(_Detail)


class _Row(NamedTuple):
    """Row of a run, in the order of `_COLUMNS`."""

    job: int
    time: int
    hash: bytes
    run: bytes | str
    edges: int
    dropped: int
    detail: bytes
    ended: int | None


class StoredRuns:
    """Table of archived runs. Not thread-safe; its changes are part of the connection's open transaction.

    `load` makes the record of a batch run of its events.
    """

    def __init__(
        self, connection: sqlite3.Connection, jobs: NumberedNames[JobId], load: Callable[[RunId], RunRecord]
    ) -> None:
        self._connection = connection
        self._load = load
        self._jobs = jobs
        self._edges_id = lru_cache(_CACHED)(self._store_edges)
        self._edges = lru_cache(_CACHED)(self._read_edges)

    def add(self, run: RunRecord, starts: tuple[Order, ...]) -> None:
        """Add a run with its START events."""
        assert run.entry is not None, "the run is in the history of its job"
        row = self._run_row(run.id.job, ArchivedRun(run.entry, starts, run.terminal))
        body = None if run.is_short else packed_content(encode_run(run, starts))
        parents = named_parents(run.facets.values()) if run.terminal is None else None
        self._connection.execute(_INSERT, (*row, body, parents, run.span.first.time))
        self._jobs.count(row[0], 1)

    def record(self, run: RunId) -> RunRecord:
        """Return the record of an archived run."""
        query = "SELECT record FROM runs WHERE run = ? AND job = ?"
        row = self._connection.execute(query, (packed_id(run.run), self._jobs.number(run.job))).fetchone()
        if row is None or row[0] is None:
            return self._made_of_events(run)
        return decode_run(LineageRecords(), run, unpacked_content(row[0]))

    def _made_of_events(self, run: RunId) -> RunRecord:
        """Return the record of a batch run; without facets if retention has removed it from a log in Postgres."""
        found = self.find(run)
        try:
            return self._load(run)
        except LookupError:
            if found is None:
                raise
            first, last = min(found.starts, default=found.entry.place.order), found.terminal
            ended = last[1] if last is not None else first
            return RunRecord(run, Span(min(first, ended), max(first, ended)), first, first, bool(found.starts), last)

    def remove(self, run: RunId) -> None:
        """Remove a run, which is in memory now."""
        number = self._jobs.number(run.job)
        self._connection.execute("DELETE FROM runs WHERE run = ? AND job = ?", (packed_id(run.run), number))
        self._jobs.count(number, -1)

    def find(self, run: RunId) -> ArchivedRun | None:
        """Return an archived run; None if it is not in the archive."""
        query = f"SELECT {_COLUMNS} FROM runs WHERE run = ? AND job = ?"
        row = self._connection.execute(query, (packed_id(run.run), self._jobs.number(run.job))).fetchone()
        return self._archived(row) if row else None

    def runs(self, job: JobId) -> list[ArchivedRun]:
        """Return all archived runs of a job, in any order."""
        rows = self._connection.execute(f"SELECT {_COLUMNS} FROM runs WHERE job = ?", (self._jobs.number(job),))
        return [self._archived(row) for row in rows.fetchall()]

    def backwards(self, job: JobId, until: Order | None = None) -> Iterator[ArchivedRun]:
        """Yield the archived runs of a job by position, latest first; those before `until`, if given."""
        last = _END_OF_TIME if until is None else until.time
        for _, tied in groupby(
            self._connection.execute(_BACKWARDS, (self._jobs.number(job), last)), lambda row: row[1]
        ):
            found = sorted(map(self._archived, tied), key=lambda run: run.entry.place, reverse=True)
            yield from (run for run in found if until is None or run.entry.place.order < until)

    def first_start_after(self, job: JobId, order: Order, other_than: str) -> Order | None:
        """Return the first START event after `order` of an archived run of a job with another UUID."""
        number, starts = self._jobs.number(job), []
        for _, tied in groupby(self._connection.execute(_STARTED_LATER, (number, order.time)), lambda row: row[1]):
            starts = _starts_after(map(self._archived, tied), order, other_than)
            if starts:
                break
        several = self._connection.execute(_SEVERAL_STARTS, (number,)).fetchall()
        starts += _starts_after(map(self._archived, several), order, other_than)
        return min(starts, default=None)

    def jobs_of(self, run: str) -> set[JobId]:
        """Return the jobs with an archived run of this UUID."""
        rows = self._connection.execute("SELECT job FROM runs WHERE run = ?", (packed_id(run),)).fetchall()
        return {self._jobs.name(number) for (number,) in rows}

    def starts_between(self, first: int, last: int) -> Iterator[int]:
        """Yield the times (ns) of all START events of archived runs, `first` inclusive, `last` exclusive."""
        query = f"SELECT {_COLUMNS} FROM runs WHERE time >= ? AND time < ? AND NOT several_starts"
        several = f"SELECT {_COLUMNS} FROM runs WHERE several_starts"
        for row in (*self._connection.execute(query, (first, last)), *self._connection.execute(several)):
            yield from (order.time for order in self._archived(row).starts if first <= order.time < last)

    def ends_between(self, first: int, last: int) -> Iterator[tuple[int, str]]:
        """Yield time (ns) and event type of the ends of archived runs, `first` inclusive, `last` exclusive."""
        query = "SELECT ended, detail FROM runs WHERE ended >= ? AND ended < ?"
        for ended, detail in self._connection.execute(query, (first, last)):
            end = _detail_decoder.decode(detail).end
            if end is not None:
                yield ended, end[2]

    def archived_of(self, job: JobId) -> int:
        """Return the number of archived runs of a job."""
        return self._jobs.archived(job)

    def _run_row(self, job: JobId, found: ArchivedRun) -> tuple[Any, ...]:
        entry, terminal = found.entry, found.terminal
        order, run = entry.place
        one_start = found.starts == (order,)
        detail = _Detail(
            [str(authority) for authority in entry.authority],
            (entry.spoke.order.time, entry.spoke.order.hash) if entry.spoke else None,
            None if one_start else [(start.time, start.hash) for start in found.starts],
            (terminal[0], terminal[1].hash, terminal[2]) if terminal else None,
        )
        return (
            *(self._jobs.add(job), order.time, order.hash, packed_id(run)),
            *(self._edges_id(entry.edges), self._edges_id(entry.dropped), msgspec.msgpack.encode(detail)),
            *(terminal[1].time if terminal else None, bool(found.starts) and not one_start),
        )

    def _archived(self, values: tuple[Any, ...]) -> ArchivedRun:
        row = _Row(*values)
        detail, run, place = _detail_decoder.decode(row.detail), unpacked_id(row.run), Order(row.time, row.hash)
        entry = RunEntry(
            RunPosition(place, run),
            self._edges(row.edges),
            self._edges(row.dropped),
            tuple(Authority(authority) for authority in detail.authority),
            RunPosition(Order(*detail.spoke), run) if detail.spoke else None,
        )
        starts = (place,) if detail.starts is None else tuple(Order(*start) for start in detail.starts)
        end = detail.end
        terminal = (end[0], Order(row.ended, end[1]), end[2]) if end and row.ended is not None else None
        return ArchivedRun(entry, starts, terminal)

    def _store_edges(self, edges: frozenset[Edge]) -> int:
        body = msgspec.msgpack.encode(sorted([str(side), *dataset] for side, dataset in edges))
        row = self._connection.execute("SELECT id FROM edges WHERE body = ?", (body,)).fetchone()
        if row is None:
            row = self._connection.execute("INSERT INTO edges (body) VALUES (?) RETURNING id", (body,)).fetchone()
        return int(row[0])

    def _read_edges(self, number: int) -> frozenset[Edge]:
        (body,) = self._connection.execute("SELECT body FROM edges WHERE id = ?", (number,)).fetchone()
        return frozenset((Direction(side), DatasetId(*dataset)) for side, *dataset in msgspec.msgpack.decode(body))


def _starts_after(runs: Iterable[ArchivedRun], order: Order, other_than: str) -> list[Order]:
    return [start for run in runs if run.entry.place.run != other_than for start in run.starts if start > order]
