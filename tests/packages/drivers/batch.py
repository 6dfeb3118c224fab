# SPDX-License-Identifier: Apache-2.0
"""Batch driver of a user: Parquet files, and two lines of lineage. The receiver is configured by the environment."""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lineagelab_spark import observe

spark = SparkSession.builder.appName("shop").master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
lineage = observe(spark)

orders = spark.createDataFrame([(1, "a", 2.0), (2, "b", 3.0)], "id long, supplier string, price double")
orders.write.mode("overwrite").parquet("orders")
suppliers = spark.createDataFrame([("a", "Ada"), ("b", "Bo")], "supplier string, name string")
suppliers.write.mode("overwrite").parquet("suppliers")

spark.read.parquet("orders").createOrReplaceTempView("orders")
spark.read.parquet("suppliers").createOrReplaceTempView("suppliers")
spark.sql(
    """
    SELECT name, sum(price) AS total, max_by(id, price) AS dearest, rank() OVER (ORDER BY sum(price)) AS place
    FROM orders JOIN suppliers USING (supplier) WHERE id > 0 GROUP BY name
    """
).write.mode("overwrite").parquet("totals")
spark.table("orders").withColumn("net", F.when(F.col("price") > 2, F.col("price") * 0.8)).drop("price").write.mode(
    "overwrite"
).csv("net")
spark.table("orders").select(F.upper("supplier").alias("code")).write.mode("overwrite").saveAsTable("codes")
spark.sql("INSERT INTO codes SELECT name FROM suppliers")
spark.stop()
