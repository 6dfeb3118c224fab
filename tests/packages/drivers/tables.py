# SPDX-License-Identifier: Apache-2.0
"""Batch driver of a user: tables of Delta Lake and of Hive, with two lines of lineage."""

import os

from pyspark.sql import SparkSession

from lineagelab_spark import observe

home = os.getcwd()
spark = (
    SparkSession.builder.appName("shop")
    .master("local[1]")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.hadoop.javax.jdo.option.ConnectionURL", f"jdbc:derby:{home}/metastore;create=true")
    .config("spark.jars", os.environ["DELTA_JARS"])
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.sql.warehouse.dir", f"{home}/warehouse")
    .config("spark.ui.enabled", "false")
    .enableHiveSupport()
    .getOrCreate()
)
lineage = observe(spark)

orders = spark.range(5).selectExpr("CAST(id AS INT) AS id", "CAST(id * 2 AS INT) AS price")
orders.write.format("delta").save(f"{home}/orders")
frame = spark.read.format("delta").load(f"{home}/orders")
frame.selectExpr("id", "price + 1 AS more").write.format("delta").mode("overwrite").save(f"{home}/more")
spark.sql(f"CREATE TABLE copies USING delta AS SELECT id, price * 2 AS twice FROM delta.`{home}/orders` WHERE id > 0")
spark.sql(f"INSERT INTO copies SELECT id, more FROM delta.`{home}/more`")
spark.sql("CREATE TABLE totals USING delta AS SELECT id, sum(twice) AS total FROM copies GROUP BY id")
spark.sql("UPDATE totals SET total = total + 1 WHERE id = 2")
spark.sql("DELETE FROM totals WHERE id = 3")
spark.sql(
    f"""
    MERGE INTO totals t USING (SELECT id, more, id + 1 AS other FROM delta.`{home}/more`) m ON t.id = m.id
    WHEN MATCHED AND m.other > 3 THEN UPDATE SET total = m.more
    WHEN MATCHED THEN DELETE
    WHEN NOT MATCHED THEN INSERT (id) VALUES (m.id)
    """
)

spark.sql("CREATE TABLE hive_orders (id INT, price INT) STORED AS TEXTFILE")
spark.sql(f"INSERT INTO hive_orders SELECT id, price FROM delta.`{home}/orders`")
spark.sql("CREATE TABLE hive_totals STORED AS PARQUET AS SELECT id, price * 2 AS twice FROM hive_orders WHERE id > 1")
spark.sql(f"INSERT OVERWRITE DIRECTORY '{home}/exported' STORED AS TEXTFILE SELECT twice FROM hive_totals")
spark.stop()
