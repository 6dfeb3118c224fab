# SPDX-License-Identifier: Apache-2.0
"""Index of the orders in the two tables, which makes writes idempotent.

Deduplication uses the contents of the tables, not batch ids. It therefore covers every cause of a repeated batch: a
crash between the two writes, other batch boundaries after a lost checkpoint, and another outcome because the registry
has a new schema.

The orders are kept in an index in the driver, where 5,000 lookups among a million orders take less than 0.1 s. It is a
temporary SQLite database: exact, and spilled to disk when larger than its cache. MERGE joins each batch with the whole
table, and does not prevent duplicates of two concurrent writers: Iceberg commits a MERGE that only inserts as an append
(figures: docs/explanation/measurements.md).

The tables are read once. Before each batch, changes by other writers are detected with one catalog request per table.
Only the appended rows are read then, and the whole tables only after rows were changed or removed.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from jobs.spark import iceberg
from jobs.spark.tables import Table
from lineagelab_spark.java import JavaObject

CACHE_KIB = 64 * 1024
"""Cache size of the index, enough for about 1.4 million orders; the rest is on disk."""


ROWS_PER_PART = 100_000
"""Rows of a table that the driver's heap holds at once while the table is read into the index: a file of 128 MB has
millions, which exceed a heap of 768 MiB."""


@dataclass(frozen=True)
class BatchOrder:
    """Order of a batch, with its keys in the index.

    Attributes:
        identity: order id or record key as bytes, as keys need not be text; None if the record has neither.
        partition: partition of the record.
        offset: offset of the record.
        timestamp: timestamp of the record in milliseconds; it distinguishes records at the same offset of a recreated
            topic.
        is_accepted: True if the order is accepted, False if rejected.
    """

    identity: bytes | None
    partition: int
    offset: int
    timestamp: int
    is_accepted: bool

    @property
    def entries(self) -> tuple[bytes, ...]:
        """Index keys of the order: the identity, if any, then the position in the topic."""
        place = f"@{self.partition}/{self.offset}/{self.timestamp}".encode()
        return (place,) if self.identity is None else (b"=" + self.identity, place)


class KnownOrders:
    """Index of the orders in both tables, for the one driver that writes them.

    Rejected orders are indexed by identity and by position: a record that was rejected under its key, as its value
    could not be decoded, has another order id once its schema is known.

    Args:
        accepted: table of accepted orders.
        rejected: table of rejected orders.
        mark: snapshot property and value that identify this driver's commits.
    """

    def __init__(self, accepted: Table, rejected: Table, mark: tuple[str, str]) -> None:
        self._mark = mark
        identity = F.concat(F.lit(b"="), F.col("order_id").cast("binary"))
        numbers = ("kafka_partition", "kafka_offset", F.unix_millis("kafka_timestamp"))
        place = F.concat(F.lit(b"@"), F.concat_ws("/", *numbers).cast("binary"))
        self._tables = (_Indexed(accepted, (identity,)), _Indexed(rejected, (identity, place)))
        self._index = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        for setting in ("journal_mode = OFF", "synchronous = OFF", f"cache_size = -{CACHE_KIB}"):
            self._index.execute(f"PRAGMA {setting}")
        self._index.execute("CREATE TABLE entry (name BLOB PRIMARY KEY) WITHOUT ROWID")

    def refresh(self, spark: SparkSession) -> None:
        """Read what other writers have changed: their appended rows, or the tables if they changed existing rows."""
        loaded = [iceberg.load(spark, each.table.name) for each in self._tables]
        states = [
            (each, table, iceberg.current_snapshot_id(table)) for each, table in zip(self._tables, loaded, strict=True)
        ]
        if not all(each.has_only_additions(table) for each, table, _ in states):
            self._index.execute("DELETE FROM entry")
            for each in self._tables:
                each.forget()
        for each, table, snapshot in states:
            is_own = each.is_read and iceberg.has_only_changes_of(table, each.snapshot, self._mark)
            if snapshot is not None and not is_own:
                self._add(each.entries(spark, snapshot))
            each.snapshot, each.is_read = snapshot, True

    def snapshot(self, table: Table) -> int | None:
        """Return the id of the snapshot of a table as of the last `refresh`; None if the table had none."""
        return next(each.snapshot for each in self._tables if each.table.name == table.name)

    def among(self, orders: Iterable[BatchOrder]) -> list[BatchOrder]:
        """Return the orders that are in the tables."""
        return [order for order in orders if any(self._has(entry) for entry in order.entries)]

    def add(self, orders: Iterable[BatchOrder]) -> None:
        """Add orders that were written."""
        self._add(entry for order in orders for entry in (order.entries[:1] if order.is_accepted else order.entries))

    def __len__(self) -> int:
        """Return the number of index entries."""
        return int(self._index.execute("SELECT count(*) FROM entry").fetchone()[0])

    def _has(self, entry: bytes) -> bool:
        return self._index.execute("SELECT 1 FROM entry WHERE name = ?", (entry,)).fetchone() is not None

    def _add(self, entries: Iterable[bytes]) -> None:
        self._index.execute("BEGIN")
        self._index.executemany("INSERT OR IGNORE INTO entry VALUES (?)", ((entry,) for entry in entries))
        self._index.execute("COMMIT")


@dataclass
class _Indexed:
    """State of a table in the index.

    Attributes:
        table: indexed table.
        names: columns with the index keys of a row, each binary or null.
        snapshot: latest indexed snapshot; None for a table without snapshots.
        is_read: True after the first read.
    """

    table: Table
    names: tuple[Column, ...]
    snapshot: int | None = None
    is_read: bool = False

    def has_only_additions(self, table: JavaObject) -> bool:
        """Return True if no indexed row of the current table (`iceberg.load`) has changed."""
        return iceberg.has_only_appends(table, self.snapshot)

    def forget(self) -> None:
        """Reset the state to that before the first read."""
        self.snapshot, self.is_read = None, False

    def entries(self, spark: SparkSession, snapshot: int) -> Iterator[bytes]:
        """Return the index keys of the rows of a snapshot that were appended after the indexed one."""
        rows = iceberg.rows_at(spark, self.table.name, snapshot, since=self.snapshot)
        entries = rows.select(F.explode(F.array_compact(F.array(*self.names))).alias("name"))
        parts = iceberg.row_count(iceberg.load(spark, self.table.name)) // ROWS_PER_PART if self.snapshot is None else 0
        if parts > 1:
            # Sorted keys are appended to the index; in random order each insert beyond its cache reads from disk.
            entries = entries.repartitionByRange(parts, "name").sortWithinPartitions("name")
        return (bytes(row["name"]) for row in entries.toLocalIterator())
