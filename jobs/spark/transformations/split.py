# SPDX-License-Identifier: Apache-2.0
"""Checked orders to the rows of the two tables that they go to: each order to exactly one."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.spark.transformations.check import price


def accepted(checked: DataFrame) -> DataFrame:
    """The sound orders.

    Args:
        checked: what `check` returns.

    Returns:
        `order_id`, `item`, `price` decimal(10,2), `supplier`, `bid_time`.
    """
    return checked.where("reason is null").select(
        "order.order_id", "order.item", price().alias("price"), "order.supplier", "order.bid_time"
    )


def rejected(checked: DataFrame) -> DataFrame:
    """The others as they came, with the reason and the place of the record.

    Args:
        checked: what `check` returns of what `first_per_order` returned.

    Returns:
        `order_id` (the identity, null where the record has none), `reason`, `item`, `price` (the text),
        `supplier`, `bid_time_ms`, `kafka_partition`, `kafka_offset`, `kafka_timestamp`. The time stays a number,
        since a broken one may lie in a year that readers of the table cannot represent.
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
