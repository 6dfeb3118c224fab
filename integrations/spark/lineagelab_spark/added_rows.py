# SPDX-License-Identifier: Apache-2.0
"""Rows that a run has added to an Iceberg table, counted from snapshot summaries without a query."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lineagelab_spark.java import JavaObject

RUN_ID_PROPERTY = "lineage-run-id"
"""Property in a snapshot's summary with the id of the run that wrote it."""

MAX_SNAPSHOTS = 500
"""Limit of snapshots read per call. A window of 30 s with a commit every 100 ms has 300."""

_ADDED = "added-records"
CLOCK_SKEW_MILLISECONDS = 60_000


def write_options(run_id: str) -> dict[str, str]:
    """Return the write options that store the run id in the snapshot."""
    return {f"snapshot-property.{RUN_ID_PROPERTY}": run_id}


@dataclass(frozen=True)
class Added:
    """Rows that snapshots have added, and these snapshots."""

    rows: int
    snapshots: list[JavaObject]


@dataclass
class AddedRowsCounter:
    """Counter of the rows that a run has added to a table since the last call.

    Attributes:
        started: start of the run in epoch milliseconds; snapshots older than that, less clock skew, are skipped.
    """

    run_id: str
    started: int
    _counted: frozenset[int] = field(default_factory=frozenset)

    def since_last(self, table: JavaObject) -> "Added":
        """Return what snapshots not counted before have added. `table` is an Iceberg `Table`."""
        rows = 0
        snapshots: list[JavaObject] = []
        seen: set[int] = set()
        snapshot = table.currentSnapshot()
        while snapshot is not None and len(seen) < MAX_SNAPSHOTS:
            number = int(snapshot.snapshotId())
            if number in self._counted or snapshot.timestampMillis() < self.started - CLOCK_SKEW_MILLISECONDS:
                break
            seen.add(number)
            if added := self._rows(snapshot.summary()):
                rows += added
                snapshots.append(snapshot)
            parent = snapshot.parentId()
            snapshot = table.snapshot(parent) if parent is not None else None
        # Keep all of them, not only the newest: after a rollback, an older one ends the loop.
        self._counted = frozenset(seen) or self._counted
        return Added(rows, snapshots)

    def _rows(self, summary: Mapping[str, str]) -> int:
        ours = summary is not None and summary.get(RUN_ID_PROPERTY) == self.run_id
        return int(summary.get(_ADDED) or 0) if ours else 0
