# SPDX-License-Identifier: Apache-2.0
"""Training run for the class data sharing (CDS) archive: loads the classes that drivers load.

`bin/lab setup` runs it once. Its JVM writes the archive at exit (`infra.toolchain.class_data`), from which drivers
load classes in a fraction of the time. Classes that are not loaded here load from their jars as usual; correctness of
jobs does not depend on this run. Object store and catalog are stubbed by a local server. No broker runs at that time:
only the classes that Kafka's client loads before a broker's response are included.

Environment: `PYSPARK_SUBMIT_ARGS`, as for drivers.
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

from infra.namespaces import spark_lineage_settings
from jobs.spark.launch_training_server import BUCKET, Server, serving
from lineagelab_spark.java import JavaObject

UNREACHABLE_BROKER = "127.0.0.1:1"
"""Address without a broker."""

ORDER = '{"type":"record","name":"order","fields":[{"name":"v","type":["null","string"]},{"name":"n","type":"long"}]}'

STEP_TIMEOUT = 300
"""Maximum seconds per step, also on a slow machine. Writing the archive takes 10 to 30 s."""


def main() -> int:
    """Return 0 when the JVM has written its archive and exited."""
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
        **spark_lineage_settings(server.url),
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
    """Create, fill, self-join, aggregate and partly overwrite a table; encode and decode Avro."""
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
    with suppress(PySparkException):  # the table does not exist, but the classes of the catalog client are loaded
        spark.table("rest.a.orders").count()


def _orders(frame: DataFrame) -> DataFrame:
    """Encode rows as Avro and decode them, as the ETL does."""
    record = F.struct((F.col("n") % 50).cast("string").alias("v"), F.col("n"))
    decoded = frame.select(from_avro(to_avro(record, ORDER), ORDER).alias("o"), "at")
    return decoded.select("o.v", F.expr("try_cast(o.n AS decimal(10,2))").alias("n"), "at")


def _stream(spark: SparkSession, folder: Path) -> None:
    """Run a query with `toTable` and one with `foreachBatch`, with checkpoints in the object store."""
    spark.createDataFrame([(1, "2026-01-01 00:00:00")], "n long, at string").write.json(str(folder / "source"))
    source = spark.readStream.schema("n long, at timestamp").json(str(folder / "source"))

    def write(batch: DataFrame, batch_id: int) -> None:
        kept = _orders(batch).persist()
        kept.writeTo("lake.a.orders").append()
        kept.unpersist()

    writer = source.writeStream.queryName("by_batch").trigger(availableNow=True).foreachBatch(write)
    writer.option("checkpointLocation", f"s3a://{BUCKET}/by_batch").start().awaitTermination(STEP_TIMEOUT)
    orders = _orders(source)
    writer = orders.writeStream.queryName("by_itself").trigger(availableNow=True).outputMode("append")
    writer.option("checkpointLocation", f"s3a://{BUCKET}/by_itself").toTable("lake.a.orders").awaitTermination(
        STEP_TIMEOUT
    )


def _kafka(spark: SparkSession) -> None:
    """Start to read a topic from an unreachable broker."""
    reader = (
        spark.read.format("kafka").option("kafka.bootstrap.servers", UNREACHABLE_BROKER).option("subscribe", "orders")
    )
    for limit in ("request", "default.api"):
        reader = reader.option(f"kafka.{limit}.timeout.ms", "500")
    with suppress(PySparkException, Py4JError):
        reader.load().count()


def _await_jvm() -> int:
    """Close standard input, on which the JVM exits, and return its exit code."""
    gateway: JavaObject = SparkContext._gateway
    jvm = gateway.proc
    jvm.stdin.close()
    return int(jvm.wait(STEP_TIMEOUT))


if __name__ == "__main__":
    sys.exit(main())
