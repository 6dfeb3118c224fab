# SPDX-License-Identifier: Apache-2.0
"""Profile of a frame by one query: exact, and spilling to disk where its values do not fit in memory."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, BinaryType, DataType, MapType, StructType

from lineagelab_common.table_profile import ColumnProfile, TableProfile

_NESTED = (ArrayType, MapType, StructType)


def profile_frame(frame: DataFrame, name: str) -> TableProfile:
    """Return the profile of all rows of a frame. Of nested columns only the nulls are counted."""
    fields = frame.schema.fields
    # Each row becomes one row per column, so that one aggregation counts the values of all columns.
    cells = F.explode(
        F.array(*(F.struct(F.lit(at).alias("at"), _text(frame, at).alias("value")) for at in range(len(fields))))
    )
    values = frame.select(cells.alias("cell")).groupBy("cell.at", "cell.value").agg(F.count(F.lit(1)).alias("rows"))
    is_value = F.col("value").isNotNull()
    found = {
        row["at"]: row
        for row in values.groupBy("at")
        .agg(
            F.sum("rows").alias("all"),
            F.coalesce(F.sum(F.when(~is_value, F.col("rows"))), F.lit(0)).alias("nulls"),
            F.count("value").alias("distinct"),
            # The least of the most frequent values, so that a repetition gives the same.
            F.min(F.when(is_value, F.struct((-F.col("rows")).alias("order"), "value"))).alias("top"),
        )
        .collect()
    }
    columns = []
    for at, field in enumerate(fields):
        row, is_nested = found.get(at), isinstance(field.dataType, _NESTED)
        top = None if row is None or is_nested else row["top"]
        columns.append(
            ColumnProfile(
                field.name,
                field.dataType.simpleString(),
                nulls=row["nulls"] if row else 0,
                distinct=None if is_nested else row["distinct"] if row else 0,
                top=None if top is None else top["value"],
                top_rows=0 if top is None else -top["order"],
            )
        )
    return TableProfile(name, max((row["all"] for row in found.values()), default=0), columns)


def _text(frame: DataFrame, at: int) -> Column:
    """Return a column as text that differs where its values do; of a nested one, only whether it is null."""
    kind: DataType = frame.schema.fields[at].dataType
    column = frame[at]
    if isinstance(kind, _NESTED):
        return F.when(column.isNotNull(), F.lit(""))
    return F.base64(column) if isinstance(kind, BinaryType) else column.cast("string")
