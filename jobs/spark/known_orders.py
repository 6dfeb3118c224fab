# SPDX-License-Identifier: Apache-2.0
"""Which orders the two tables have: what makes a batch that is written again write nothing.

The tables decide, not the number of a batch. So it does not matter how a batch came to be repeated: after a crash
between the two tables, with other records in it after a lost checkpoint, or with another decision, as the registry
has learnt a schema since.

Looking into the tables for each batch costs 1.0 to 1.7 s with a million orders (a scan of one column), or 0.35 s from
one file and 2.5 to 4 s from the 500 files of a busy hour (ids pushed down to Parquet's bloom filters). So they are
read once, 6 s for a million orders, into an index beside the driver that knows 100 orders in 0.4 ms. It is a temporary
database of SQLite: exact, and on disk where it outgrows its cache. Whether somebody else has changed the tables since
is asked before each batch, which costs a request to the catalog for each.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from jobs.spark import iceberg
from jobs.spark.tables import Table

CACHE_KIB = 64 * 1024
"""Some 1.4 million orders. What is beyond is on disk."""


@dataclass(frozen=True)
class Seen:
    """An order of a batch, as it is looked up.

    Attributes:
        identity: of the order, as bytes, since a key need not be text; None where its record has neither id nor key.
        partition: of its record, as the following.
        offset: within the partition.
        timestamp: in milliseconds: it tells a record from one at the same place in a topic that was made anew.
        is_sound: which of the two tables the order goes to.
    """

    identity: bytes | None
    partition: int
    offset: int
    timestamp: int
    is_sound: bool

    @property
    def entries(self) -> tuple[bytes, ...]:
        """Under which the index may have the order: the identity, if it has one, before the place."""
        place = f"@{self.partition}/{self.offset}/{self.timestamp}".encode()
        return (place,) if self.identity is None else (b"=" + self.identity, place)


class KnownOrders:
    """The index. It belongs to one driver, which is the only one that writes the tables.

    A rejected order is known by its identity and by its place: a record that was rejected under its key, as its
    value could not be read, is the same record when it can be read and tells another id.

    Args:
        accepted: the table of sound orders.
        rejected: the table of the others.
        mark: a property of snapshots and its value, which this driver's snapshots have and no others.
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
        """Reads the tables where they are not as they were left; does nothing otherwise."""
        loaded = [iceberg.load(spark, each.table.name) for each in self._tables]
        unchanged = all(
            each.is_read and iceberg.rows_are_as_at(table, each.snapshot, self._mark)
            for each, table in zip(self._tables, loaded, strict=True)
        )
        if not unchanged:
            self._index.execute("DELETE FROM entry")
        for each, table in zip(self._tables, loaded, strict=True):
            each.snapshot = iceberg.head(table)
            if not unchanged and each.snapshot is not None:
                self._add(each.entries(spark))
            each.is_read = True

    def among(self, orders: Iterable[Seen]) -> list[Seen]:
        """Those of the orders that the tables have."""
        return [order for order in orders if any(self._has(entry) for entry in order.entries)]

    def add(self, orders: Iterable[Seen]) -> None:
        """Notes orders that were written."""
        self._add(entry for order in orders for entry in (order.entries[:1] if order.is_sound else order.entries))

    def __len__(self) -> int:
        """How many entries there are."""
        return int(self._index.execute("SELECT count(*) FROM entry").fetchone()[0])

    def _has(self, entry: bytes) -> bool:
        return self._index.execute("SELECT 1 FROM entry WHERE name = ?", (entry,)).fetchone() is not None

    def _add(self, entries: Iterable[bytes]) -> None:
        self._index.execute("BEGIN")
        self._index.executemany("INSERT OR IGNORE INTO entry VALUES (?)", ((entry,) for entry in entries))
        self._index.execute("COMMIT")


@dataclass
class _Indexed:
    """A table as far as the index knows it.

    Attributes:
        table: the table.
        names: the columns under whose values the index has its rows, each binary or null.
        snapshot: the last one that is in the index; None of a table without any.
        is_read: False before the first time.
    """

    table: Table
    names: tuple[Column, ...]
    snapshot: int | None = None
    is_read: bool = False

    def entries(self, spark: SparkSession) -> Iterator[bytes]:
        """All of them, as of the snapshot."""
        rows = spark.read.option("versionAsOf", self.snapshot).table(self.table.name)
        entries = rows.select(F.explode(F.array_compact(F.array(*self.names))).alias("name"))
        return (bytes(row["name"]) for row in entries.toLocalIterator())
