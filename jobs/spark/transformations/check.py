# SPDX-License-Identifier: Apache-2.0
"""Which orders are sound, and what is wrong with the others."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

COLUMNS = {"order_id": "string", "item": "string", "price": "string", "supplier": "string", "bid_time": "timestamp"}
"""What an order comes with. A price is a text: now and then it is no number at all, as in life."""

PRICE_TYPE = "decimal(10,2)"

UNREADABLE = "the value is not an Avro order"
NO_ID = "order_id is empty"
BAD_PRICE = f"price is not a {PRICE_TYPE}"
NO_SUPPLIER = "supplier is empty"
BAD_TIME = "bid_time is not between 2000 and 2100"


def late_reason(late_after: int) -> str:
    """What is wrong with an order that came later than that."""
    return f"bid_time is more than {late_after} s before the record"


def price() -> Column:
    """The price of `order` as a number, null where it is none or does not fit.

    `try_cast`, since under ANSI rules a plain cast of one broken row ends the job. More than two decimal places
    are rounded half up.
    """
    return F.col("order.price").try_cast(PRICE_TYPE)


def check(orders: DataFrame, late_after: int) -> DataFrame:
    """The orders with `reason`: null for a sound one, else the first thing that is wrong with it.

    Every reason is a function of the record alone: it is the same whenever the record is read again.

    Args:
        orders: has the struct column `order` of `COLUMNS`, `problem`, and `timestamp` (the record's own).
        late_after: seconds from an order's time to its record's; an order that took longer is late.
    """
    # The key of the table is never null: an order_id that is says that the value could not be read at all.
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
