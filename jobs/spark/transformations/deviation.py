# SPDX-License-Identifier: Apache-2.0
"""Deviation of prices from those of the same item and day. The function is for `DataFrame.transform`."""

import pandas as pd
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F


def median_absolute_deviation(values: pd.Series) -> float:
    """Return the median distance of the values from their median, which outliers do not affect; NaN without values."""
    return float((values - values.median()).abs().median())


def with_deviation(orders: DataFrame) -> DataFrame:
    """Add `price_deviation` (double): distance from the median price of the item on that day.

    The unit is the median absolute deviation of these prices; null if that is 0, as for a single order.

    Args:
        orders: has `item`, `bid_date` and `price` (decimal); all orders of each day.
    """
    price = F.col("price").cast("double")
    same = Window.partitionBy("item", "bid_date")
    spread_of = F.pandas_udf(median_absolute_deviation, "double")  # type: ignore[attr-defined]  # missing in its stubs
    spread = spread_of(price).over(same)
    return orders.withColumn("price_deviation", (price - F.median(price).over(same)) / F.nullif(spread, F.lit(0.0)))
