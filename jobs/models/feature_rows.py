# SPDX-License-Identifier: Apache-2.0
"""Rows of a feature table, read from one snapshot of it with DuckDB."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from lineagelab_sql.lake import quoted


class FeatureTableError(Exception):
    """The table cannot be read; the message says what to do."""


@dataclass(frozen=True)
class FeatureRows:
    """Rows of a snapshot.

    Attributes:
        table: `catalog.schema.name`.
        snapshot: id of the snapshot.
        types: column -> type, in lower case.
        columns: column -> its values, as many for each; null is None.
    """

    table: str
    snapshot: int
    types: Mapping[str, str]
    columns: Mapping[str, Sequence[Any]]

    @classmethod
    def read(
        cls, connection: duckdb.DuckDBPyConnection, table: str, order: Sequence[str], made_by: str
    ) -> "FeatureRows":
        """Read the current snapshot, in the order of some columns.

        Args:
            made_by: task that makes the table, for messages.

        Raises:
            FeatureTableError: there is no such table, or it has no snapshot yet.
        """
        name = ".".join(map(quoted, table.split(".")))
        try:
            # `iceberg_snapshots` takes the name of a table that does not exist as a path.
            connection.execute(f"SELECT * FROM {name} LIMIT 0")
        except duckdb.CatalogException as error:
            raise FeatureTableError(f"there is no table {table}: run `bin/lab run {made_by}` first") from error
        found = connection.execute(
            f"SELECT snapshot_id FROM iceberg_snapshots({name}) ORDER BY sequence_number DESC LIMIT 1"
        ).fetchone()
        if found is None:
            raise FeatureTableError(f"table {table} is empty: run `bin/lab run {made_by}` first")
        (snapshot,) = found
        by = ", ".join(map(quoted, order))
        rows = connection.execute(f"SELECT * FROM {name} AT (VERSION => {int(snapshot)}) ORDER BY {by}")
        types = {column[0]: str(column[1]).lower() for column in rows.description or ()}
        values = list(zip(*rows.fetchall(), strict=True)) or [()] * len(types)
        return cls(table, int(snapshot), types, dict(zip(types, values, strict=True)))

    def without_nulls(self, names: Sequence[str]) -> "FeatureRows":
        """Return the rows in which none of these columns is null."""
        kept = [
            number
            for number, row in enumerate(zip(*(self.columns[name] for name in names), strict=True))
            if None not in row
        ]
        columns = {name: [values[number] for number in kept] for name, values in self.columns.items()}
        return FeatureRows(self.table, self.snapshot, self.types, columns)
