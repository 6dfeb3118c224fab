# SPDX-License-Identifier: Apache-2.0
"""Profile of a table: rows, nulls, distinct values and the most frequent value of each column, as facets. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from lineagelab_common.events import EventWriter, Json

KEY_SHARES, KEY_SHARES_SCHEMA = "lineageLab_keyShares", "urn:lineage-lab:schemas:KeySharesInputDatasetFacet:1"
"""Name and schema of the facet `{"columns": {NAME: {"share", "rows", "value"?}}}` of an input."""


@dataclass(frozen=True)
class ColumnProfile:
    """Column of a table.

    Attributes:
        type: as the engine spells it.
        nulls: number of rows without a value.
        distinct: number of values; None where they were not counted, and for nested types.
        top: the most frequent value as text; None without any value, and for nested types.
        top_rows: number of rows that have it.
        least, greatest: of a column of numbers, else None.
    """

    name: str
    type: str
    nulls: int
    distinct: int | None
    top: str | None
    top_rows: int
    least: float | None = None
    greatest: float | None = None


@dataclass(frozen=True)
class TableProfile:
    """Profile of a table, or of one snapshot of it; `name` is that of the engine, `lake.sales.orders`."""

    name: str
    rows: int
    columns: Sequence[ColumnProfile]

    def facets(self, writer: EventWriter, *, with_values: bool) -> Json:
        """Return input facets: the standard's metrics, and the shares of the most frequent values.

        Args:
            writer: of the facets.
            with_values: name these values, which may be personal data.
        """
        metrics, shares = {}, {}
        for column in self.columns:
            found = {
                "nullCount": column.nulls,
                "count": self.rows - column.nulls,
                "distinctCount": column.distinct,
                "min": column.least,
                "max": column.greatest,
            }
            metrics[column.name] = {key: value for key, value in found.items() if value is not None}
            if column.top is not None and self.rows:
                share: Json = {"share": column.top_rows / self.rows, "rows": column.top_rows}
                shares[column.name] = share | ({"value": column.top} if with_values else {})
        return {
            "dataQualityMetrics": writer.facet("dataQualityMetrics", rowCount=self.rows, columnMetrics=metrics),
            KEY_SHARES: writer.facet(KEY_SHARES_SCHEMA, columns=shares),
        }


def profile_job(table: str) -> str:
    """Return the name of the job that profiles a table, `profile.sales.orders` for `lake.sales.orders`."""
    return f"profile.{table.split('.', 1)[-1]}"
