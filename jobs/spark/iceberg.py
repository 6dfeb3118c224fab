# SPDX-License-Identifier: Apache-2.0
"""What only Iceberg's own interface says of a table: its snapshots, without a Spark job for them."""

from pyspark.sql import SparkSession

from lineagelab_spark.java import JavaObject

_REPLACED = "replace"
"""The operation of a snapshot that has the same rows in other files."""

SNAPSHOT_PROPERTY = "snapshot-property."
"""Prefix of options of a write: what follows is written into the summary of the snapshot that it makes."""


def load(spark: SparkSession, table: str) -> JavaObject:
    """The table (`catalog.namespace.name`) as it is now, `org.apache.iceberg.Table`.

    Spark's catalog keeps tables for half a minute, so it is asked again.
    """
    jvm: JavaObject = spark._jvm
    loaded: JavaObject = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, table)
    loaded.refresh()
    return loaded


def head(table: JavaObject) -> int | None:
    """The id of the current snapshot; None of a table without any."""
    snapshot = table.currentSnapshot()
    return None if snapshot is None else int(snapshot.snapshotId())


def rows_are_as_at(table: JavaObject, known: int | None, mark: tuple[str, str]) -> bool:
    """Whether since a snapshot nobody has changed the rows of a table but whoever leaves this mark.

    Args:
        table: as `load` returns it.
        known: the id of the snapshot, None for a table that had none.
        mark: a property of snapshots and its value.
    """
    name, value = mark
    snapshot = table.currentSnapshot()
    while snapshot is not None and snapshot.snapshotId() != known:
        if snapshot.operation() != _REPLACED and snapshot.summary().get(name) != value:
            return False
        parent = snapshot.parentId()
        snapshot = None if parent is None else table.snapshot(parent)
    return snapshot is not None or known is None
