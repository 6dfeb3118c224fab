# SPDX-License-Identifier: Apache-2.0
"""Validation of orders."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

COLUMNS = {"order_id": "string", "item": "string", "price": "string", "supplier": "string", "bid_time": "timestamp"}
"""Columns of an order. The price is text, as some prices are not numbers."""

PRICE_TYPE = "decimal(10,2)"

UNREADABLE = "the value is not an Avro order"
NO_ID = "order_id is empty"
BAD_PRICE = f"price is not a {PRICE_TYPE}"
NO_SUPPLIER = "supplier is empty"
BAD_TIME = "bid_time is not between 2000 and 2100"


def late_reason(late_after: int) -> str:
    """Return the rejection reason of late orders."""
    return f"bid_time is more than {late_after} s before the record"


def price() -> Column:
    """Return the price of `order` as a decimal; null if it is not a number or out of range.

    `try_cast`, as in ANSI mode a plain cast of one invalid value fails the job. More than two decimal places
    are rounded half up.
    """
    return F.col("order.price").try_cast(PRICE_TYPE)


def check(orders: DataFrame, late_after: int) -> DataFrame:
    """Add column `reason`: null for a valid order, else the first failed check.

    A reason depends on the record alone, so it is the same whenever the record is read again.

    Args:
        orders: has the struct column `order` of `COLUMNS`, `problem`, and `timestamp` of the record.
        late_after: seconds between an order's time and its record's timestamp above which the order is late.
    """
    # The key of the source table is never null, so a null order_id means that the value could not be decoded.
    bid_time = F.col("order.bid_time")
    earliest, latest = (F.lit(f"{year}-01-01").cast("timestamp") for year in (2000, 2100))
    reason = (
        F.when(F.col("problem").isNotNull(), F.col("problem"))
        .when(F.col("order.order_id").isNull(), UNREADABLE)
        .when(F.col("order.order_id") == "", NO_ID)
        .when(price().isNull(), BAD_PRICE)
        .when(F.coalesce("order.supplier", F.lit("")) == "", NO_SUPPLIER)
        .when(~F.coalesce(bid_time.between(earliest, latest), F.lit(False)), BAD_TIME)
        .when(F.unix_millis("timestamp") - F.unix_millis(bid_time) > late_after * 1000, late_reason(late_after))
    )
    return orders.withColumn("reason", reason)
