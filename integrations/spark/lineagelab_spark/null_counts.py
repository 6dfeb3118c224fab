# SPDX-License-Identifier: Apache-2.0
"""Nulls that a write has added to the columns of an Iceberg table, from the metrics of its files, without a query.

Each call to the JVM takes some tenth of a millisecond: schemas and metrics are read as a text, not column by column.
"""

import json
import re
from collections.abc import Mapping, Sequence

from py4j.java_gateway import JavaPackage

from lineagelab_spark.java import JavaObject

MAX_FILES = 200
"""Files of one snapshot whose metrics are read, about 1 ms each."""

_ENTRY = re.compile(r"(\d+)=(\d+)")

MAX_SNAPSHOTS = 20
"""Snapshots whose files are read for one event: six for a window of 30 s with a batch every 5 s."""


def null_counts_of_all(jvm: JavaObject, table: JavaObject, snapshots: Sequence[JavaObject]) -> dict[str, int]:
    """Return `null_counts` over snapshots: of columns that all of them have; empty for more than `MAX_SNAPSHOTS`."""
    if not 0 < len(snapshots) <= MAX_SNAPSHOTS:
        return {}
    columns = _columns(jvm, table)
    counts = [_null_counts(jvm, table, snapshot, columns) for snapshot in snapshots]
    return {name: sum(each[name] for each in counts) for name in counts[0] if all(name in each for each in counts)}


def null_counts(jvm: JavaObject, table: JavaObject, snapshot: JavaObject) -> dict[str, int]:
    """Return top-level column -> nulls in the files that a snapshot has added.

    Columns without metrics in one of the files are left out: nested ones, those with the metrics mode `none`, and those
    after the first 100. Empty for a snapshot with more than `MAX_FILES` files.

    Args:
        jvm: of the session.
        table: Iceberg `Table`.
        snapshot: one of its snapshots.
    """
    return _null_counts(jvm, table, snapshot, _columns(jvm, table))


def _null_counts(
    jvm: JavaObject, table: JavaObject, snapshot: JavaObject, columns: Mapping[int, str]
) -> dict[str, int]:
    if int(snapshot.summary().get("added-data-files") or 0) > MAX_FILES:
        return {}
    totals = dict.fromkeys(columns, 0)
    files = _added_files(jvm, table, snapshot).iterator()
    while files.hasNext():
        found = _entries(files.next().nullValueCounts())
        totals = {identity: nulls + found[identity] for identity, nulls in totals.items() if identity in found}
    return {columns[identity]: nulls for identity, nulls in totals.items()}


def _columns(jvm: JavaObject, table: JavaObject) -> dict[int, str]:
    """Return field id -> name of the top-level columns."""
    schema = json.loads(str(jvm.org.apache.iceberg.SchemaParser.toJson(table.schema())))
    return {field["id"]: field["name"] for field in schema["fields"]}


def _entries(counts: JavaObject | None) -> dict[int, int]:
    """Return the entries of a `Map<Integer, Long>`; none without a map."""
    return {int(key): int(value) for key, value in _ENTRY.findall("" if counts is None else str(counts.toString()))}


def _added_files(jvm: JavaObject, table: JavaObject, snapshot: JavaObject) -> JavaObject:
    changes = jvm.org.apache.iceberg.SnapshotChanges
    if isinstance(changes, JavaPackage):  # no such class, in Iceberg before 1.12
        return snapshot.addedDataFiles(table.io())
    return changes.builderFor(table).snapshot(snapshot).build().addedDataFiles()
