# SPDX-License-Identifier: Apache-2.0
"""Batch job of the tests of `lab export`: totals of Parquet files, grouped, in several tasks."""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

if __name__ == "__main__":
    folder = sys.argv[1]
    spark = SparkSession.builder.getOrCreate()
    orders = spark.range(0, 10_000, numPartitions=4).select("id", (F.col("id") % 7).alias("supplier"))
    orders.write.parquet(f"{folder}/orders")
    totals = spark.read.parquet(f"{folder}/orders").groupBy("supplier").agg(F.sum("id").alias("total"))
    totals.write.parquet(f"{folder}/totals")
    spark.stop()
