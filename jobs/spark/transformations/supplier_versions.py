# SPDX-License-Identifier: Apache-2.0
"""Versions of suppliers: periods in which a supplier's tier is the same."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

GOLD, SILVER, BRONZE = "gold", "silver", "bronze"
GOLD_TOTAL, SILVER_TOTAL = 10_000, 1_000
"""Minimum total of a day for a tier, in the currency of the prices."""


def tier(total: Column) -> Column:
    """Return the tier of a supplier by the total of a day."""
    return F.when(total >= GOLD_TOTAL, GOLD).when(total >= SILVER_TOTAL, SILVER).otherwise(BRONZE)


def supplier_versions(orders: DataFrame) -> DataFrame:
    """Return one row per supplier and period: type 2 of a slowly changing dimension.

    The rows depend on the orders alone, so late orders of an earlier day change the periods that they should have made.

    Args:
        orders: has `supplier`, `bid_time` (timestamp), `price` (decimal).

    Returns:
        `supplier`, `tier`, `valid_from` (date, inclusive), `valid_to` (date, exclusive; null for the current version).
    """
    history = Window.partitionBy("supplier").orderBy("day")
    by_day = orders.groupBy("supplier", F.to_date("bid_time").alias("day")).agg(tier(F.sum("price")).alias("tier"))
    changes = by_day.withColumn("previous", F.lag("tier").over(history)).where(
        F.col("previous").isNull() | (F.col("previous") != F.col("tier"))
    )
    return changes.select(
        "supplier", "tier", F.col("day").alias("valid_from"), F.lead("day").over(history).alias("valid_to")
    )
