# SPDX-License-Identifier: Apache-2.0
"""Nulls that a write has added to the columns of an Iceberg table, from the metrics of its files, without a query."""

from lineagelab_spark.java import JavaObject

MAX_FILES = 200
"""Files of one snapshot whose metrics are read, about 1 ms each."""


def null_counts(table: JavaObject, snapshot: JavaObject) -> dict[str, int]:
    """Return top-level column -> nulls in the files that a snapshot has added.

    Columns without metrics in one of the files are left out: nested ones, those with the metrics mode `none`, and those
    after the first 100. Empty for a snapshot with more than `MAX_FILES` files.

    Args:
        table: Iceberg `Table`.
        snapshot: one of its snapshots.
    """
    if int(snapshot.summary().get("added-data-files") or 0) > MAX_FILES:
        return {}
    columns = {int(column.fieldId()): str(column.name()) for column in table.schema().columns()}
    totals = dict.fromkeys(columns, 0)
    files = snapshot.addedDataFiles(table.io()).iterator()
    while files.hasNext():
        counts = files.next().nullValueCounts()
        for identity in list(totals):
            found = None if counts is None else counts.get(identity)
            if found is None:
                del totals[identity]
            else:
                totals[identity] += int(found)
    return {columns[identity]: nulls for identity, nulls in totals.items()}
