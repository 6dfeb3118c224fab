# SPDX-License-Identifier: Apache-2.0
"""Training run for the class data sharing (CDS) archive: a small job that loads the classes that drivers load.

`bin/lab setup` and the image build run it once; its JVM writes the archive at exit (`infra.toolchain.class_data`).
Drivers load classes that are not in the archive from their jars.

Tables and checkpoints are in a temporary folder. The clients of catalog, object store, broker and lineage service
connect to a port without a listener: the archive lacks only the classes with which they process responses, 3 % of those
that a driver loads.
"""

import sys
from collections.abc import Callable
from contextlib import suppress
from tempfile import TemporaryDirectory

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro, to_avro

from infra.namespaces import spark_lineage_settings
from lineagelab_spark.java import JavaObject

UNREACHABLE = "127.0.0.1:1"
"""Address without a listener."""

TIMEOUT = 300
"""Maximum seconds of a streaming query and of the JVM's exit. Writing the archive takes 10 to 30 s."""

ORDER = '{"type":"record","name":"order","fields":[{"name":"v","type":["null","string"]},{"name":"n","type":"long"}]}'


def main() -> int:
    """Run the job; return the exit code of the JVM, which has then written the archive."""
    with TemporaryDirectory() as folder:
        spark = _session(folder)
        spark.sparkContext.setLogLevel("OFF")  # the agent logs each event that it cannot send
        try:
            _batch(spark)
            _stream(spark, folder)
            _clients(spark)
        finally:
            spark.stop()
    gateway: JavaObject = SparkContext._gateway
    gateway.proc.stdin.close()  # the JVM exits at the end of its standard input
    return int(gateway.proc.wait(TIMEOUT))


def _session(folder: str) -> SparkSession:
    url = f"http://{UNREACHABLE}"
    catalog = "org.apache.iceberg.spark.SparkCatalog"
    settings = {
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.lake": catalog,
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": folder,
        "spark.sql.catalog.rest": catalog,
        "spark.sql.catalog.rest.type": "rest",
        "spark.sql.catalog.rest.uri": url,
        "spark.hadoop.fs.s3a.endpoint": url,
        "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
        "spark.hadoop.fs.s3a.access.key": "none",
        "spark.hadoop.fs.s3a.secret.key": "none",
        "spark.hadoop.fs.s3a.attempts.maximum": "1",
        "spark.hadoop.fs.s3a.retry.limit": "0",
        **spark_lineage_settings(url),
    }
    return SparkSession.builder.appName("class_data_training").config(map=dict(settings)).getOrCreate()


def _batch(spark: SparkSession) -> None:
    """Create, fill, join, aggregate, overwrite and compact Iceberg tables."""
    spark.sql("CREATE NAMESPACE lake.a")
    spark.sql(
        "CREATE TABLE lake.a.orders (v string, n decimal(10,2), at timestamp) USING iceberg PARTITIONED BY (days(at))"
    )
    spark.sql("CREATE TABLE lake.a.totals (day date, v string, total decimal(12,2)) USING iceberg PARTITIONED BY (day)")
    orders = _decoded(spark.range(1000).select(F.col("id").alias("n"), F.current_timestamp().alias("at")))
    orders.writeTo("lake.a.orders").append()
    known = spark.table("lake.a.orders").select("v")
    orders.join(known, "v", "left_anti").writeTo("lake.a.orders").append()
    totals = spark.table("lake.a.orders").groupBy(F.to_date("at").alias("day"), "v")
    totals.agg(F.sum("n").cast("decimal(12,2)").alias("total")).writeTo("lake.a.totals").overwritePartitions()
    spark.sql("CALL lake.system.rewrite_data_files(table => 'lake.a.orders')").collect()
    spark.sql("CALL lake.system.expire_snapshots(table => 'lake.a.orders', retain_last => 1)").collect()


def _stream(spark: SparkSession, folder: str) -> None:
    """Run a query with `foreachBatch` and one with `toTable`."""
    spark.createDataFrame([(1, "2026-01-01 00:00:00")], "n long, at string").write.json(f"{folder}/source")
    source = spark.readStream.schema("n long, at timestamp").json(f"{folder}/source")
    by_batch = source.writeStream.foreachBatch(lambda batch, _: _decoded(batch).writeTo("lake.a.orders").append())
    by_batch.option("checkpointLocation", f"{folder}/1").trigger(availableNow=True).start().awaitTermination(TIMEOUT)
    to_table = _decoded(source).writeStream.option("checkpointLocation", f"{folder}/2").trigger(availableNow=True)
    to_table.toTable("lake.a.orders").awaitTermination(TIMEOUT)


def _decoded(frame: DataFrame) -> DataFrame:
    """Encode rows as Avro and decode them."""
    record = F.struct((F.col("n") % 50).cast("string").alias("v"), F.col("n"))
    decoded = frame.select(from_avro(to_avro(record, ORDER), ORDER).alias("o"), "at")
    return decoded.select("o.v", F.expr("try_cast(o.n AS decimal(10,2))").alias("n"), "at")


def _clients(spark: SparkSession) -> None:
    """Read from a broker, a catalog and an object store that are unreachable."""
    kafka = spark.read.format("kafka").option("kafka.bootstrap.servers", UNREACHABLE).option("subscribe", "orders")
    kafka = kafka.options(**{"kafka.request.timeout.ms": "500", "kafka.default.api.timeout.ms": "500"})
    reads: tuple[Callable[[], int], ...] = (
        lambda: kafka.load().count(),
        lambda: spark.table("rest.a.orders").count(),
        lambda: spark.read.json("s3a://none/file").count(),
    )
    for read in reads:
        with suppress(PySparkException, Py4JError):
            read()


if __name__ == "__main__":
    sys.exit(main())
