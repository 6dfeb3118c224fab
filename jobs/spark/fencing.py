# SPDX-License-Identifier: Apache-2.0
"""Fencing of a second driver that appends to the same Iceberg tables.

A driver claims a table with an empty snapshot that has its run id. An append has two steps: Spark writes the rows to a
staged snapshot, which no reader sees, and `publish` makes it the current one by a compare-and-swap on the table's main
branch. The swap succeeds only if the branch is where the driver has checked it: without the claim of another driver,
and without rows of another writer. Spark's own append cannot be checked so, as Iceberg repeats it on any newer state.

The latest claim is valid, so a restarted driver starts at once and needs no lease to expire. A driver that was paused,
or believed to be dead, fails at its next batch.
"""

import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from jobs.spark import iceberg
from jobs.spark.runtime import JobError
from lineagelab_spark.java import JavaObject

STAGING = {"write.wap.enabled": "true"}
"""Table properties that make Iceberg stage the appends of a session with `_STAGED_ID`."""

_STAGED_ID = "spark.wap.id"
_STAGED_ID_PROPERTY = "wap.id"
_CONFLICT = "CommitFailedException"


class FencedError(JobError):
    """Another driver has claimed the table."""


@dataclass(frozen=True)
class Claim:
    """Right of one run of a driver to append to tables.

    Attributes:
        name: prefix of the snapshot properties: `NAME.run`, `NAME.claim`.
        run: id of the run.
    """

    name: str
    run: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def mark(self) -> tuple[str, str]:
        """Snapshot property and value that identify the run's commits."""
        return f"{self.name}.run", self.run

    def take(self, spark: SparkSession, name: str) -> None:
        """Claim a table; drivers that claimed it before cannot append any more."""
        table = iceberg.load(spark, name)
        properties = table.properties()
        if any(properties.get(key) != value for key, value in STAGING.items()):
            update = table.updateProperties()
            for key, value in STAGING.items():
                update.set(key, value)
            update.commit()
        append = table.newFastAppend()
        for key, value in (self.mark, (self._claim, f"process {os.getpid()} on {socket.gethostname()}")):
            append.set(key, value)
        append.commit()

    def verify(self, table: JavaObject) -> None:
        """Check the claim in the current state of a table.

        Args:
            table: result of `iceberg.load`.

        Raises:
            FencedError: another driver has claimed the table, or the claim is not in its history.
        """
        key, run = self.mark
        for snapshot in iceberg.history(table):
            summary = snapshot.summary()
            if summary.get(key) == run:
                return
            if other := summary.get(self._claim):
                raise FencedError(
                    f"cannot append to {table.name()}: another driver took it over ({other}, run {summary.get(key)}). "
                    "Its orders are not written twice. Stop one of the two drivers; the latest that starts owns the "
                    "table"
                )
        raise FencedError(
            f"cannot append to {table.name()}: the claim of run {run} is not in the table's history, as the table was "
            "replaced or rolled back. Restart the driver"
        )

    @contextmanager
    def staged(self, frame: DataFrame) -> Iterator[str]:
        """Make appends of a frame's session staged snapshots within the context; provide the id for `publish`."""
        staged = f"{self.run}-{uuid.uuid4().hex}"
        frame.sparkSession.conf.set(_STAGED_ID, staged)
        try:
            yield staged
        finally:
            frame.sparkSession.conf.unset(_STAGED_ID)

    def publish(self, table: JavaObject, staged: str, known: int | None) -> bool:
        """Make a staged snapshot the current one if only this run has changed rows since a snapshot.

        Args:
            table: result of `iceberg.load`.
            staged: id of `staged`.
            known: id of the snapshot whose rows the driver has taken into account.

        Returns:
            False if another writer committed meanwhile; the rows must be compared with the table and staged again.

        Raises:
            FencedError: another driver has claimed the table.
        """
        manager = table.manageSnapshots()  # refreshes the table; its commit fails if the table changes after this
        self.verify(table)
        snapshot = next(each for each in table.snapshots() if each.summary().get(_STAGED_ID_PROPERTY) == staged)
        if snapshot.parentId() != iceberg.current_snapshot_id(table):
            return False
        if not iceberg.has_only_changes_of(table, known, self.mark):
            return False
        try:
            manager.replaceBranch(iceberg.MAIN, snapshot.snapshotId()).commit()
        except Py4JJavaError as error:
            if error.java_exception.getClass().getSimpleName() != _CONFLICT:
                raise
            return False
        return True

    @property
    def _claim(self) -> str:
        return f"{self.name}.claim"
