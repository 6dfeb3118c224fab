# SPDX-License-Identifier: Apache-2.0
"""Does in small what the drivers do, so that the JVM meets the classes that they load: `bin/lab setup` runs it once.

The JVM that it starts is told to write those classes to an archive when it ends (`infra.toolchain.class_data`); from
there they come in a fraction of the time. What this leaves out is loaded as ever, so nothing here decides whether a
job is right. There is no broker, store or catalog while a kit is set up: a small server stands in for the last two, and
of Kafka's client, only what comes before a broker's answer is met.

Environment: `PYSPARK_SUBMIT_ARGS`, as drivers have it.
"""

import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro, to_avro

from infra.namespaces import spark_lineage
from jobs.spark.launch_training_server import BUCKET, Server, serving
from lineagelab_spark.java import JavaObject

NOBODY = "127.0.0.1:1"
"""Where no broker is."""

ORDER = '{"type":"record","name":"order","fields":[{"name":"v","type":["null","string"]},{"name":"n","type":"long"}]}'

SECONDS = 300
"""More than a slow machine takes for any step. Writing the archive takes 10 to 30."""


def main() -> int:
    """0 once the JVM has ended, and written its archive."""
    with TemporaryDirectory() as folder, serving() as server:
        spark = _session(server, Path(folder))
        try:
            _batch(spark)
            _stream(spark, Path(folder))
            _kafka(spark)
        finally:
            spark.stop()
    return _await_jvm()


def _session(server: Server, folder: Path) -> SparkSession:
    settings = {
        "spark.app.name": "training",
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        **_catalog("lake", server, type="hadoop", warehouse=f"s3a://{BUCKET}/lake"),
        **_catalog("rest", server, type="rest", uri=server.url),
        "spark.hadoop.fs.s3a.endpoint": server.url,
        "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.access.key": "training",
        "spark.hadoop.fs.s3a.secret.key": "training",
        **spark_lineage(server.url),
    }
    builder = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _catalog(name: str, server: Server, **options: str) -> dict[str, str]:
    files = {
        "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        "s3.endpoint": server.url,
        "s3.path-style-access": "true",
        "s3.access-key-id": "training",
        "s3.secret-access-key": "training",
        "client.region": "us-east-1",
    }
    prefix = f"spark.sql.catalog.{name}"
    named = {f"{prefix}.{option}": value for option, value in {**options, **files}.items()}
    return {prefix: "org.apache.iceberg.spark.SparkCatalog", **named}


def _batch(spark: SparkSession) -> None:
    """A table is made, filled, joined with itself, summed up and overwritten in part; Avro is read and written."""
    spark.sql("CREATE NAMESPACE lake.a")
    spark.sql(
        "CREATE TABLE lake.a.orders (v string, n decimal(10,2), at timestamp) USING iceberg PARTITIONED BY (days(at))"
    )
    spark.sql("CREATE TABLE lake.a.totals (day date, v string, total decimal(12,2)) USING iceberg PARTITIONED BY (day)")
    orders = _orders(spark.range(1000).select(F.col("id").alias("n"), F.current_timestamp().alias("at")))
    orders.writeTo("lake.a.orders").append()
    known = spark.table("lake.a.orders").select("v")
    orders.join(known, "v", "left_anti").writeTo("lake.a.orders").append()
    spark.table("lake.a.orders").filter(F.col("v").isin([str(n) for n in range(100)])).count()
    totals = (
        spark.table("lake.a.orders")
        .groupBy(F.to_date("at").alias("day"), "v")
        .agg(F.sum("n").cast("decimal(12,2)").alias("total"))
    )
    totals.writeTo("lake.a.totals").overwritePartitions()
    spark.sql("CALL lake.system.rewrite_data_files(table => 'lake.a.orders')").collect()
    spark.sql("CALL lake.system.expire_snapshots(table => 'lake.a.orders', retain_last => 1)").collect()
    with suppress(PySparkException):  # there is no such table, but the catalog's client has been loaded
        spark.table("rest.a.orders").count()


def _orders(frame: DataFrame) -> DataFrame:
    """Rows through Avro and back, as the ETL does."""
    record = F.struct((F.col("n") % 50).cast("string").alias("v"), F.col("n"))
    decoded = frame.select(from_avro(to_avro(record, ORDER), ORDER).alias("o"), "at")
    return decoded.select("o.v", F.expr("try_cast(o.n AS decimal(10,2))").alias("n"), "at")


def _stream(spark: SparkSession, folder: Path) -> None:
    """One query writes to a table by itself, one by a function for each batch; the checkpoint is in the store."""
    spark.createDataFrame([(1, "2026-01-01 00:00:00")], "n long, at string").write.json(str(folder / "source"))
    source = spark.readStream.schema("n long, at timestamp").json(str(folder / "source"))

    def write(batch: DataFrame, batch_id: int) -> None:
        kept = _orders(batch).persist()
        kept.writeTo("lake.a.orders").append()
        kept.unpersist()

    writer = source.writeStream.queryName("by_batch").trigger(availableNow=True).foreachBatch(write)
    writer.option("checkpointLocation", f"s3a://{BUCKET}/by_batch").start().awaitTermination(SECONDS)
    orders = _orders(source)
    writer = orders.writeStream.queryName("by_itself").trigger(availableNow=True).outputMode("append")
    writer.option("checkpointLocation", f"s3a://{BUCKET}/by_itself").toTable("lake.a.orders").awaitTermination(SECONDS)


def _kafka(spark: SparkSession) -> None:
    """What reading a topic begins with; nobody answers."""
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", NOBODY).option("subscribe", "orders")
    for limit in ("request", "default.api"):
        reader = reader.option(f"kafka.{limit}.timeout.ms", "500")
    with suppress(PySparkException, Py4JError):
        reader.load().count()


def _await_jvm() -> int:
    """Lets the JVM end, which it does when its standard input does, and waits for it."""
    gateway: JavaObject = SparkContext._gateway
    jvm = gateway.proc
    jvm.stdin.close()
    return int(jvm.wait(SECONDS))


if __name__ == "__main__":
    sys.exit(main())
