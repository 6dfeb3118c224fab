# SPDX-License-Identifier: Apache-2.0
"""Features of suppliers, each computed of a fixed number of consecutive orders."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

ORDERS_PER_ROW = 10
"""Orders of which a row of features is computed: always as many, so that features of busy hours compare with others."""


def order_features(orders: DataFrame) -> DataFrame:
    """Return statistics of every `ORDERS_PER_ROW` consecutive orders of a supplier, and the mean of the next ones.

    The newest orders of a supplier are left out until they are as many.

    Args:
        orders: has `order_id`, `supplier`, `bid_time` (timestamp), `price` (decimal).

    Returns:
        `supplier`, `first_order_at`, `last_order_at` (timestamps), `mean_price`, `price_deviation` (of the population),
        `min_price`, `max_price`, and `next_mean_price`, null in the last row of a supplier (all double).
    """
    by_time = Window.partitionBy("supplier").orderBy("bid_time", "order_id")
    numbered = orders.withColumn("block", F.floor((F.row_number().over(by_time) - 1) / ORDERS_PER_ROW))
    price = F.col("price").cast("double")
    blocks = numbered.groupBy("supplier", "block").agg(
        F.min("bid_time").alias("first_order_at"),
        F.max("bid_time").alias("last_order_at"),
        F.avg(price).alias("mean_price"),
        F.stddev_pop(price).alias("price_deviation"),
        F.min(price).alias("min_price"),
        F.max(price).alias("max_price"),
        F.count("*").alias("orders"),
    )
    by_block = Window.partitionBy("supplier").orderBy("block")
    return (
        blocks.where(F.col("orders") == ORDERS_PER_ROW)
        .withColumn("next_mean_price", F.lead("mean_price").over(by_block))
        .drop("block", "orders")
    )
