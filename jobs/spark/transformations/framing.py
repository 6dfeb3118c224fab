# SPDX-License-Identifier: Apache-2.0
"""Confluent's wire format: a byte 0, the id of the writer's schema in four bytes, then the Avro datum."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

MAGIC = b"\0"
HEADER_BYTES = 5
MAX_ID = 2**31 - 1


def header() -> Column:
    """Return the header of `value`; shorter if `value` is."""
    return F.substring("value", 1, HEADER_BYTES)


def first_byte() -> Column:
    """Return the first byte of `value`, which is `MAGIC` in this format."""
    return F.substring("value", 1, 1)


def header_of(schema_id: int) -> Column:
    """Return the header of values with this schema."""
    return F.lit(MAGIC + schema_id.to_bytes(HEADER_BYTES - 1, "big"))


def datum() -> Column:
    """Return the part of `value` after the header."""
    return F.expr(f"substring(value, {HEADER_BYTES + 1})")


def schema_id(seen: bytes) -> int | None:
    """Return the schema id in a header; None if the header is invalid."""
    if len(seen) != HEADER_BYTES or seen[:1] != MAGIC:
        return None
    number = int.from_bytes(seen[1:], "big")
    return number if number <= MAX_ID else None


def headers(records: DataFrame) -> DataFrame:
    """Count records by header.

    Args:
        records: has the column `value` (binary).

    Returns:
        `header` (binary), null for records without a value, and `count` (bigint), most frequent first. Values
        without a valid header are counted under an empty one, so that any number of them is one row.
    """
    has_id = (F.length("value") >= HEADER_BYTES) & (F.substring("value", 2, 1) < F.lit(b"\x80"))
    framed = F.when((first_byte() == F.lit(MAGIC)) & has_id, header()).otherwise(F.lit(b""))
    seen = F.when(F.col("value").isNotNull(), framed)
    return records.groupBy(seen.alias("header")).count().orderBy(F.desc("count"), "header")
