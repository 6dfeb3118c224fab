# SPDX-License-Identifier: Apache-2.0
"""Which orders are sound, and what is wrong with the others."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

PRICE_TYPE = "decimal(10,2)"

UNREADABLE = "the value is not an Avro order"
NO_ID = "order_id is empty"
BAD_PRICE = f"price is not a {PRICE_TYPE}"
NO_SUPPLIER = "supplier is empty"
BAD_TIME = "bid_time is not between 2000 and 2100"


def price() -> Column:
    """The price of `order` as a number, null where it is none or does not fit.

    `try_cast`, since under ANSI rules a plain cast of one broken row ends the job. More than two decimal places
    are rounded half up.
    """
    return F.col("order.price").try_cast(PRICE_TYPE)


def check(orders: DataFrame) -> DataFrame:
    """The orders with `reason`: null for a sound one, else the first thing that is wrong with it.

    Args:
        orders: has the struct column `order`.
    """
    # The schema has no nulls: an order_id that is null says that the value could not be read at all.
    bid_time = F.col("order.bid_time")
    reason = (
        F.when(F.col("order.order_id").isNull(), UNREADABLE)
        .when(F.col("order.order_id") == "", NO_ID)
        .when(price().isNull(), BAD_PRICE)
        .when(F.col("order.supplier") == "", NO_SUPPLIER)
        .when(~bid_time.between(F.lit("2000-01-01").cast("timestamp"), F.lit("2100-01-01").cast("timestamp")), BAD_TIME)
    )
    return orders.withColumn("reason", reason)
