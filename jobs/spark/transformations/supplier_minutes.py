# SPDX-License-Identifier: Apache-2.0
"""Stateful aggregation of a stream of orders by supplier and minute of event time."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.spark.transformations.supplier_totals import TOTAL_TYPE


def supplier_minutes(orders: DataFrame, allowed_delay: str) -> DataFrame:
    """Return count and sum of orders by supplier and minute; a minute is final when the watermark has passed its end.

    Args:
        orders: stream with `supplier`, `bid_time` (timestamp), `price` (decimal).
        allowed_delay: delay of the watermark, as `10 minutes`. Later orders are not counted.
    """
    minutes = orders.withWatermark("bid_time", allowed_delay).groupBy("supplier", F.window("bid_time", "1 minute"))
    totals = minutes.agg(F.count("*").alias("order_count"), F.sum("price").try_cast(TOTAL_TYPE).alias("total_price"))
    return totals.select(
        "supplier",
        F.col("window.start").alias("window_start"),
        F.col("window.end").alias("window_end"),
        "order_count",
        "total_price",
    )
