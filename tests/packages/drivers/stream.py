# SPDX-License-Identifier: Apache-2.0
"""Streaming driver of a user: Parquet files into a table, by `toTable` and by `foreachBatch`."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lineagelab_spark import BatchOutputs, QueryLineage

spark = SparkSession.builder.appName("shop").master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
lineage = QueryLineage(spark)

orders = spark.createDataFrame([(1, "a", 2.0), (2, "b", 3.0)], "id long, supplier string, price double")
orders.write.mode("overwrite").parquet("stream_orders")
spark.sql("CREATE TABLE IF NOT EXISTS gross (id long, gross double) USING parquet")
spark.sql("CREATE TABLE IF NOT EXISTS by_supplier (supplier string, total double) USING parquet")
stream = spark.readStream.schema(orders.schema).parquet("stream_orders")


def write(batch: DataFrame, number: int, outputs: BatchOutputs) -> None:
    totals = batch.groupBy("supplier").agg(F.sum("price").alias("total"))
    outputs.describe(totals, "by_supplier", by_position=True)
    totals.write.insertInto("by_supplier")


gross = stream.where("id > 0").select("id", (F.col("price") * 1.2).alias("gross")).writeStream.queryName("gross")
lineage.to_table(
    gross.trigger(availableNow=True).option("checkpointLocation", "checkpoint_gross"), "gross"
).awaitTermination()
by_supplier = stream.writeStream.queryName("by_supplier").trigger(availableNow=True)
lineage.foreach_batch(by_supplier.option("checkpointLocation", "checkpoint_by_supplier"), write).awaitTermination()
lineage.close()
spark.stop()
