# SPDX-License-Identifier: Apache-2.0
"""Spark driver that fills the orders table of the lake: `python -m tests.bench.spark_orders ROWS`."""

import sys
from functools import partial

from pyspark.sql import SparkSession

from jobs.shop.orders import SUPPLIERS
from jobs.spark import runtime, tables
from lineagelab_spark import Lineage

DAYS = 2
"""Number of days over which the orders are evenly distributed."""


def _fill_orders(rows: int, spark: SparkSession, lineage: Lineage) -> None:
    table = tables.orders()
    table.create(spark)
    suppliers = ", ".join(f"'{supplier}'" for supplier in SUPPLIERS)
    spark.sql(f"""
        INSERT INTO {table.name}
        SELECT uuid(), 'anvil', CAST(id % 25000 / 100 AS DECIMAL(10, 2)),
            element_at(array({suppliers}), CAST(id % {len(SUPPLIERS)} AS INT) + 1),
            timestampadd(SECOND, id * {DAYS} * 86400 DIV {rows}, TIMESTAMP '2026-11-20 00:00:00')
        FROM range({rows})""")


if __name__ == "__main__":
    raise SystemExit(runtime.run("orders_for_bench", lambda: partial(_fill_orders, int(sys.argv[1]))))
