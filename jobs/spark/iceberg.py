# SPDX-License-Identifier: Apache-2.0
"""Snapshots of a table by Iceberg's Java API, without a Spark job."""

from collections.abc import Iterator

from pyspark.sql import DataFrame, SparkSession

from lineagelab_spark.java import JavaObject

_REPLACED = "replace"
"""Operation of a snapshot with the same rows in other files."""

_APPENDED = "append"
"""Operation of a snapshot with additional rows."""

MAIN = "main"
"""Branch that readers and writers use by default."""

SNAPSHOT_PROPERTY = "snapshot-property."
"""Prefix of write options that are stored in the summary of the snapshot."""


def load(spark: SparkSession, table: str) -> JavaObject:
    """Return the current state of a table (`catalog.namespace.name`) as `org.apache.iceberg.Table`.

    Spark's catalog caches tables for 30 s, so the table is refreshed.
    """
    jvm: JavaObject = spark._jvm
    loaded: JavaObject = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, table)
    loaded.refresh()
    return loaded


def current_snapshot_id(table: JavaObject) -> int | None:
    """Return the id of the current snapshot; None for a table without snapshots."""
    snapshot = table.currentSnapshot()
    return None if snapshot is None else int(snapshot.snapshotId())


def row_count(table: JavaObject) -> int:
    """Return the number of rows by the summary of the current snapshot."""
    snapshot = table.currentSnapshot()
    return 0 if snapshot is None else int(snapshot.summary().get("total-records") or 0)


def rows_at(spark: SparkSession, table: str, snapshot: int, since: int | None = None) -> DataFrame:
    """Return the rows of a snapshot; only those appended after an earlier one, if that is given."""
    if since is None:
        return spark.read.option("versionAsOf", snapshot).table(table)
    options = {"start-snapshot-id": str(since), "end-snapshot-id": str(snapshot)}
    return spark.read.format("iceberg").options(**options).load(table)


def history(table: JavaObject) -> Iterator[JavaObject]:
    """Return the current snapshot and its ancestors that have not expired, newest first."""
    snapshot = table.currentSnapshot()
    while snapshot is not None:
        yield snapshot
        parent = snapshot.parentId()
        snapshot = None if parent is None else table.snapshot(parent)


def snapshot_times(table: JavaObject) -> list[tuple[int, int]]:
    """Return the id and time of each snapshot, in epoch milliseconds."""
    return [(int(each.snapshotId()), int(each.timestampMillis())) for each in table.snapshots()]


def references(table: JavaObject) -> list[tuple[str, int]]:
    """Return the name and snapshot id of each tag, and of each branch but the main one."""
    return [(str(name), int(found.snapshotId())) for name, found in table.refs().items() if name != MAIN]


def has_only_appends(table: JavaObject, known: int | None) -> bool:
    """Return True if all row changes since a snapshot are appends, so that an incremental read returns them.

    Args:
        table: result of `load`.
        known: id of the snapshot; None for a table that had none. False is returned if the history does not reach it.
    """
    parent: int | None = None
    for snapshot in history(table):
        if snapshot.snapshotId() == known:
            return True
        if snapshot.operation() not in {_APPENDED, _REPLACED}:
            return False
        parent = snapshot.parentId()
    return known is None and parent is None


def has_only_changes_of(table: JavaObject, known: int | None, mark: tuple[str, str]) -> bool:
    """Return True if all row changes since a snapshot are by the writer with this mark.

    Args:
        table: result of `load`.
        known: id of the snapshot; None for a table that had none.
        mark: snapshot property and value that identify the writer.
    """
    name, value = mark
    for snapshot in history(table):
        if snapshot.snapshotId() == known:
            return True
        if snapshot.operation() != _REPLACED and snapshot.summary().get(name) != value:
            return False
    return known is None
