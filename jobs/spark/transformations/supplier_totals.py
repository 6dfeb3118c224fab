# SPDX-License-Identifier: Apache-2.0
"""Aggregation of orders by supplier, day and hour."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

TOTAL_TYPE = "decimal(12,2)"


def supplier_totals(orders: DataFrame) -> DataFrame:
    """Return sum and count of orders by supplier, day and hour, in the session's time zone.

    Args:
        orders: has `supplier`, `bid_time` (timestamp), `price` (decimal).

    Returns:
        `supplier`, `bid_date` (date), `bid_hour` (0 to 23), `total_price` decimal(12,2), `total_count` (bigint).
        A total that overflows its type is null, with a correct count, instead of failing the job.
    """
    return orders.groupBy(
        "supplier",
        F.to_date("bid_time").alias("bid_date"),
        F.hour("bid_time").alias("bid_hour"),
    ).agg(
        F.sum("price").try_cast(TOTAL_TYPE).alias("total_price"),
        F.count("*").alias("total_count"),
    )
