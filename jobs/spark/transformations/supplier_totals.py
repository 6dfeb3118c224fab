# SPDX-License-Identifier: Apache-2.0
"""Orders to totals of each supplier by day and hour."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

TOTAL_TYPE = "decimal(12,2)"


def supplier_totals(orders: DataFrame) -> DataFrame:
    """Sum and number of the orders of each supplier in each hour of each day, in the session's time zone.

    Args:
        orders: has `supplier`, `bid_time` (timestamp), `price` (decimal).

    Returns:
        `supplier`, `bid_date` (date), `bid_hour` (0 to 23), `total_price` decimal(12,2), `total_count` (bigint).
        A total that does not fit its type is null: the count stays true, and one supplier's hour does not end
        the job.
    """
    return orders.groupBy(
        "supplier",
        F.to_date("bid_time").alias("bid_date"),
        F.hour("bid_time").alias("bid_hour"),
    ).agg(
        F.sum("price").try_cast(TOTAL_TYPE).alias("total_price"),
        F.count("*").alias("total_count"),
    )
