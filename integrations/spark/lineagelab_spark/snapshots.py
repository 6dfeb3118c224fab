# SPDX-License-Identifier: Apache-2.0
"""How many rows a run has added to an Iceberg table: its snapshots say it, and no query need be run."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lineagelab_spark.java import JavaObject

RUN_PROPERTY = "lineage-run-id"
"""In the summary of a snapshot: the run that wrote it. A table tells so where each of its commits came from."""

MOST_SNAPSHOTS = 500
"""That are looked at each time. A window of 30 s with a commit each 100 ms has 300."""

_ADDED = "added-records"
_CLOCKS_DIFFER = 60_000


def write_options(run_id: str) -> dict[str, str]:
    """The options with which a write leaves its run in the table."""
    return {f"snapshot-property.{RUN_PROPERTY}": run_id}


@dataclass
class AddedRows:
    """Counts the rows that a run has added to a table since it was last asked.

    Attributes:
        started: of the run, in milliseconds; what is much older is not looked at.
    """

    run_id: str
    started: int
    _counted: frozenset[int] = field(default_factory=frozenset)

    def since_last(self, table: JavaObject) -> int:
        """Rows added by snapshots that were not counted before. `table` is Iceberg's."""
        rows = 0
        seen: set[int] = set()
        snapshot = table.currentSnapshot()
        while snapshot is not None and len(seen) < MOST_SNAPSHOTS:
            number = int(snapshot.snapshotId())
            if number in self._counted or snapshot.timestampMillis() < self.started - _CLOCKS_DIFFER:
                break
            seen.add(number)
            rows += self._rows(snapshot.summary())
            parent = snapshot.parentId()
            snapshot = table.snapshot(parent) if parent is not None else None
        # The newest one is enough to stop at, unless the table is rolled back behind it: then any of the others is.
        self._counted = frozenset(seen) or self._counted
        return rows

    def _rows(self, summary: Mapping[str, str]) -> int:
        ours = summary is not None and summary.get(RUN_PROPERTY) == self.run_id
        return int(summary.get(_ADDED) or 0) if ours else 0
