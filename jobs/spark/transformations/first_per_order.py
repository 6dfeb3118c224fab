# SPDX-License-Identifier: Apache-2.0
"""One record for each order, the same one every time."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from jobs.spark.transformations.decode import UNKNOWN_SCHEMA


def first_per_order(decoded: DataFrame) -> DataFrame:
    """The first record of each order by its place in the topic, with the order's `identity`.

    An order is known by its `order_id`, or by the record's key where that cannot be read. A record with neither
    is an order of its own, with a null identity.

    Args:
        decoded: what `decode` returns.

    Returns:
        The columns of `decoded`, `identity` (string, nullable), and `is_unsure` (boolean): the schema of one of the
        order's records is not known. Read with it, that record may turn out to be another order's.
    """
    identity = F.coalesce(_text("order.order_id"), _text("key"))
    # Beside the identity, not in its stead: an order_id may look like a place.
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
    """A text, null where it is empty."""
    return F.nullif(F.col(column), F.lit(""))
