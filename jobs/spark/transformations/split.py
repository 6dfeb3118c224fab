# SPDX-License-Identifier: Apache-2.0
"""Split of checked orders to the rows of two tables, each order to exactly one."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.spark.transformations.check import price


def accepted(checked: DataFrame) -> DataFrame:
    """Return the accepted orders.

    Args:
        checked: result of `check`.

    Returns:
        `order_id`, `item`, `price` decimal(10,2), `supplier`, `bid_time`.
    """
    return checked.where("reason is null").select(
        "order.order_id", "order.item", price().alias("price"), "order.supplier", "order.bid_time"
    )


def rejected(checked: DataFrame) -> DataFrame:
    """Return the rejected orders with raw values, reason and position of the record.

    Args:
        checked: result of `check` on that of `first_per_order`.

    Returns:
        `order_id` (the identity, null where the record has none), `reason`, `item`, `price` (the text),
        `supplier`, `bid_time_ms`, `kafka_partition`, `kafka_offset`, `kafka_timestamp`. The time is a number,
        as an invalid one may be in a year that readers of the table cannot represent.
    """
    return checked.where("reason is not null").select(
        F.col("identity").alias("order_id"),
        "reason",
        "order.item",
        "order.price",
        "order.supplier",
        F.unix_millis("order.bid_time").alias("bid_time_ms"),
        F.col("partition").alias("kafka_partition"),
        F.col("offset").alias("kafka_offset"),
        F.col("timestamp").alias("kafka_timestamp"),
    )
