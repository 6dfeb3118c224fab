# SPDX-License-Identifier: Apache-2.0
"""One record for each order, the same one every time."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F


def first_per_order(decoded: DataFrame) -> DataFrame:
    """The first record of each order by its place in the topic, with the order's `identity`.

    An order is known by its `order_id`, or by the record's key where that cannot be read. A record with neither
    is an order of its own, with a null identity.

    Args:
        decoded: what `decode` returns.

    Returns:
        The columns of `decoded` and `identity` (string, nullable).
    """
    identity = F.coalesce(_text("order.order_id"), _text("key"))
    # Beside the identity, not in its stead: an order_id may look like a place.
    place = F.when(F.col("identity").isNull(), F.concat_ws("/", "partition", "offset"))
    same_order = Window.partitionBy("identity", place).orderBy("partition", "offset")
    return (
        decoded.withColumn("identity", identity)
        .withColumn("copy", F.row_number().over(same_order))
        .where("copy = 1")
        .drop("copy")
    )


def _text(column: str) -> Column:
    """A text, null where it is empty."""
    return F.nullif(F.col(column), F.lit(""))
