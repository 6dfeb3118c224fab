# SPDX-License-Identifier: Apache-2.0
"""Archived statements of columns and versions of datasets in the state file. Equal columns are stored once."""

import sqlite3
from collections.abc import Iterable
from functools import lru_cache

from lineage.events.event import Order
from lineage.events.ids import DatasetId, JobId, RunId
from lineage.graph.dataset_statements import DatasetStatement, PackedColumns
from lineage.store.horizons import END_OF_TIME
from lineage.store.numbered_names import NumberedNames
from lineage.store.packed_ids import packed_id, unpacked_id

_CACHED = 4096
"""Columns in memory."""

_INSERT = "INSERT INTO statements VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_SELECT = (
    "SELECT time, hash, job, run, read, columns, version FROM statements"
    " WHERE dataset = (SELECT number FROM datasets WHERE namespace = ? AND name = ?) AND time <= ?"
)
_LATEST = f"{_SELECT} AND read = ? ORDER BY time DESC, hash DESC LIMIT ?"

_FORGET = """
DELETE FROM statements WHERE dataset = ? AND key IN (
    SELECT key FROM statements WHERE dataset = ? AND time < ? ORDER BY time DESC, hash DESC LIMIT -1 OFFSET ?
)
"""

_Row = tuple[int, bytes, int | None, bytes | str | None, int, int | None, str | None]


class StoredStatements:
    """Table of archived statements, of those up to a time (ns): later ones are not read.

    Not thread-safe; its changes are part of the connection's open transaction.
    """

    def __init__(self, connection: sqlite3.Connection, jobs: NumberedNames[JobId], until: int = END_OF_TIME) -> None:
        self._connection = connection
        self._until = until
        self._jobs = jobs
        self._datasets = NumberedNames(connection, "datasets", DatasetId)
        self._columns = lru_cache(_CACHED)(self._read_columns)

    def add_statements(self, dataset: DatasetId, statements: Iterable[DatasetStatement]) -> None:
        """Add statements about a dataset."""
        number = self._datasets.add(dataset)
        rows = [self._statement_row(number, statement) for statement in statements]
        self._connection.executemany(_INSERT, rows)
        self._datasets.count(number, len(rows))

    def order_of_statement(self, dataset: DatasetId, key: bytes) -> Order | None:
        """Return the order of an archived statement; None if it is not in the archive."""
        query = "SELECT time, hash FROM statements WHERE dataset = ? AND key = ? AND time <= ?"
        row = self._connection.execute(query, (self._datasets.number(dataset), key, self._until)).fetchone()
        return Order(*row) if row else None

    def remove_statement(self, dataset: DatasetId, key: bytes) -> None:
        """Remove a statement."""
        number = self._datasets.number(dataset)
        self._connection.execute("DELETE FROM statements WHERE dataset = ? AND key = ?", (number, key))
        self._datasets.count(number, -1)

    def statements(self, dataset: DatasetId) -> list[DatasetStatement]:
        """Return all archived statements about a dataset, in any order."""
        rows = self._connection.execute(_SELECT, (*dataset, self._until)).fetchall()
        return [self._statement(row) for row in rows]

    def latest_statements(self, dataset: DatasetId, read: bool, number: int) -> list[DatasetStatement]:
        """Return the latest archived statements of a dataset's readers, or of others; at most `number`."""
        rows = self._connection.execute(_LATEST, (*dataset, self._until, read, number)).fetchall()
        return [self._statement(row) for row in rows]

    def statements_of(self, dataset: DatasetId) -> int:
        """Return the number of archived statements about a dataset."""
        return self._datasets.archived(dataset)

    def datasets_with_more(self, number: int) -> list[DatasetId]:
        """Return the datasets with more than a number of archived statements."""
        query = "SELECT namespace, name FROM datasets WHERE archived > ?"
        return [DatasetId(*row) for row in self._connection.execute(query, (number,))]

    def forget_statements(self, dataset: DatasetId, before: int, kept: int) -> int:
        """Remove statements from before a time (ns), but for the newest `kept` of them; return their number."""
        number = self._datasets.number(dataset)
        removed = self._connection.execute(_FORGET, (number, number, before, kept)).rowcount
        self._datasets.count(number, -removed)
        return removed

    def forget_unused_columns(self) -> None:
        """Remove columns that no statement has any more."""
        self._connection.execute(
            "DELETE FROM columns WHERE id NOT IN (SELECT columns FROM statements WHERE columns IS NOT NULL)"
        )
        # Their numbers may be used again.
        self._columns.cache_clear()

    def _statement_row(self, dataset: int, found: DatasetStatement) -> tuple[object, ...]:
        run = found.run
        return (
            *(dataset, found.key, found.order.time, found.order.hash),
            *((self._jobs.add(run.job), packed_id(run.run)) if run else (None, None)),
            *(found.read, self._store_columns(found.columns) if found.columns else None, found.version),
        )

    def _statement(self, row: _Row) -> DatasetStatement:
        time, content_hash, job, run, read, columns, version = row
        stated_by = RunId(unpacked_id(run), self._jobs.name(job)) if job is not None and run is not None else None
        packed = None if columns is None else self._columns(columns)
        return DatasetStatement(Order(time, content_hash), stated_by, bool(read), packed, version)

    def _store_columns(self, columns: PackedColumns) -> int:
        query = "SELECT id FROM columns WHERE digest = ?"
        row = self._connection.execute(query, (columns.digest,)).fetchone()
        if row is None:
            insert = "INSERT INTO columns (digest, body) VALUES (?, ?) RETURNING id"
            row = self._connection.execute(insert, (columns.digest, bytes(columns))).fetchone()
        return int(row[0])

    def _read_columns(self, number: int) -> PackedColumns:
        (body,) = self._connection.execute("SELECT body FROM columns WHERE id = ?", (number,)).fetchone()
        return PackedColumns.of_bytes(body)
