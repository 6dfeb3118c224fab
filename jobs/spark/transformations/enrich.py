# SPDX-License-Identifier: Apache-2.0
"""Enrichment of orders with their bids and the tier of their supplier. The functions are for `DataFrame.transform`."""

from collections.abc import Collection
from datetime import date

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.spark.transformations.check import PRICE_TYPE


def of_days(orders: DataFrame, days: Collection[date]) -> DataFrame:
    """Add `bid_date` (date) to orders, and keep those of the given days."""
    return orders.withColumn("bid_date", F.to_date("bid_time")).where(F.col("bid_date").isin(*sorted(days)))


def with_bids(orders: DataFrame, bids: DataFrame) -> DataFrame:
    """Add `bid_count` and `best_bid`, the highest valid price of an order's bids, and `margin`: best bid less price.

    A bid that was captured twice counts once: bids are distinct by supplier, price and time.

    Args:
        orders: has `order_id` and `price` (decimal).
        bids: has `order_id`, `price` (text), `supplier` and `bid_time`.
    """
    distinct = bids.select("order_id", "price", "supplier", "bid_time").distinct()
    best = distinct.groupBy("order_id").agg(
        F.count("*").alias("bid_count"), F.max(F.col("price").try_cast(PRICE_TYPE)).alias("best_bid")
    )
    return (
        orders.join(best, "order_id", "left")
        .withColumn("bid_count", F.coalesce("bid_count", F.lit(0)))
        .withColumn("margin", F.col("best_bid") - F.col("price"))
    )


def with_tier(orders: DataFrame, versions: DataFrame) -> DataFrame:
    """Add the `tier` of each order's supplier on the day of the order; null if there is no version for it.

    Args:
        orders: has `supplier` and `bid_date`.
        versions: result of `supplier_versions`.
    """
    version = versions.select(F.col("supplier").alias("version_of"), "tier", "valid_from", "valid_to")
    day = F.col("bid_date")
    is_valid = (day >= F.col("valid_from")) & (F.col("valid_to").isNull() | (day < F.col("valid_to")))
    joined = orders.join(version, (F.col("supplier") == F.col("version_of")) & is_valid, "left")
    return joined.drop("version_of", "valid_from", "valid_to")
