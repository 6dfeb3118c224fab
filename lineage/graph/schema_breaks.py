# SPDX-License-Identifier: Apache-2.0
"""Schema changes that can break readers: columns that the current schema of a dataset removed or retyped."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lineage.events.ids import DatasetId, JsonObject, RunId, identity_json
from lineage.events.schema_fields import column_types
from lineage.events.timestamps import format_time
from lineage.graph.dataset_record import DatasetRecord
from lineage.graph.dataset_statements import PackedColumns
from lineage.graph.records import LineageRecords
from lineage.graph.records_by_name import READS_PER_PART


class SchemaBreak(NamedTuple):
    """The last change of a dataset's columns, if it removed or retyped some.

    `since` is the event time (ns) and `run` the run of the first statement with the current columns. Nested columns
    are named by path. `retyped` is column, former type and current type; a type is empty if it is not known.
    """

    since: int
    run: RunId
    removed: tuple[str, ...]
    retyped: tuple[tuple[str, str, str], ...]


class _Written(NamedTuple):
    """Columns that a run stated as the writer of a dataset."""

    time: int
    run: RunId
    columns: PackedColumns


def schema_break(record: DatasetRecord) -> SchemaBreak | None:
    """Return the break of the current schema; None if its last change only added columns, or there was none.

    Compared are statements of one job that writes: others may spell its types in another way, and readers may name
    only a part of the columns.
    """
    written = [
        _Written(found.order.time, found.run, found.columns)
        for found in record.statements.all()
        if not found.read and found.run and found.columns
    ]
    if not written or written[-1].columns.digest != record.columns_digest():
        return None
    last, first = _last_change([found for found in written if found.run.job == written[-1].run.job])
    if last is None:
        return None
    former, now = column_types(last.columns.fields), column_types(first.columns.fields)
    removed = tuple(sorted(former.keys() - now.keys()))
    kept = ((name, former[name], now[name]) for name in sorted(former.keys() & now.keys()))
    retyped = tuple((name, old, new) for name, old, new in kept if old != new and old and new)
    return SchemaBreak(first.time, first.run, removed, retyped) if removed or retyped else None


class SchemaBreaks:
    """Breaks of all datasets. Run `steps` before reading to update them.

    Not thread-safe: one thread owns the records and this.
    """

    def __init__(self, lineage: LineageRecords) -> None:
        self.lineage = lineage
        self._changes = lineage.follow()
        self._changes.datasets.update(lineage.datasets)
        self._seen: dict[DatasetId, tuple[bytes, int]] = {}
        self.found: dict[DatasetId, SchemaBreak] = {}
        """Break of each dataset that has one."""

    def steps(self) -> Iterator[None]:
        """Look at the datasets that have changed; yields after each slice."""
        self._changes.jobs.clear()
        for count, name in enumerate(list(self._changes.datasets), 1):
            self._update(name)
            self._changes.datasets.discard(name)
            if count % READS_PER_PART == 0:
                yield

    def rows(self) -> list[JsonObject]:
        """Return `{"namespace", "name", "since", "run", "job", "removed", "retyped"}` of each break, sorted by name."""
        return [
            {
                **identity_json(name),
                "since": format_time(found.since),
                "run": found.run.run,
                "job": identity_json(found.run.job),
                "removed": list(found.removed),
                "retyped": [
                    {"column": column, "before": before, "after": after} for column, before, after in found.retyped
                ],
            }
            for name, found in sorted(self.found.items())
        ]

    def _update(self, name: DatasetId) -> None:
        record = self.lineage.datasets.get(name)
        if record is None or self.lineage.catalog.is_deleted_dataset(record):
            self._seen.pop(name, None)
            self.found.pop(name, None)
            return
        # Former statements may lie in the archive: they are read once per change of the columns, not per commit.
        seen = record.columns_digest(), record.statements.revision
        if self._seen.get(name) == seen:
            return
        self._seen[name] = seen
        found = schema_break(record)
        if found is None:
            self.found.pop(name, None)
        else:
            self.found[name] = found


def _last_change(written: Sequence[_Written]) -> tuple[_Written | None, _Written]:
    """Return the last statement with other columns than the last one, if any, and the one after it."""
    first = written[-1]
    for found in reversed(written):
        if found.columns.digest != first.columns.digest:
            return found, first
        first = found
    return None, first
