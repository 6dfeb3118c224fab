# SPDX-License-Identifier: Apache-2.0
"""Deterministic deduplication of records by order."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from jobs.spark.transformations.decode import UNKNOWN_SCHEMA


def first_per_order(decoded: DataFrame) -> DataFrame:
    """Return the first record of each order by partition and offset, with the order's `identity`.

    The identity is the `order_id`, or the record's key if the value cannot be decoded. A record with neither is a
    separate order with a null identity.

    Args:
        decoded: result of `decode`.

    Returns:
        The columns of `decoded`, `identity` (string, nullable), and `is_unsure` (boolean): the schema of one of the
        order's records is unknown; decoded with it, that record may belong to another order.
    """
    identity = F.coalesce(_text("order.order_id"), _text("key"))
    # A second partition column, not a fallback identity: an order_id may look like a position.
    place = F.when(F.col("identity").isNull(), F.concat_ws("/", "partition", "offset"))
    same_order = Window.partitionBy("identity", place)
    is_unknown = F.coalesce(F.col("problem") == UNKNOWN_SCHEMA, F.lit(False))
    return (
        decoded.withColumn("identity", identity)
        .withColumn("is_unsure", F.max(is_unknown).over(same_order))
        .withColumn("copy", F.row_number().over(same_order.orderBy("partition", "offset")))
        .where("copy = 1")
        .drop("copy")
    )


def _text(column: str) -> Column:
    """Return a text column, with empty text as null."""
    return F.nullif(F.col(column), F.lit(""))
