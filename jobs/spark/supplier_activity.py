# SPDX-License-Identifier: Apache-2.0
"""Streaming job: orders by supplier and minute, from the accepted orders: `python -m jobs.spark.supplier_activity`.

Environment: `CHECKPOINTS`, `SUPPLIER_ACTIVITY_TRIGGER` (batch interval, `30 seconds`; `now` processes available orders
and exits), `SUPPLIER_ACTIVITY_DELAY` (delay of the watermark, `15 minutes`), `LINEAGE_URL` (optional), and that of
`jobs.spark.runtime`.
"""

import os
from functools import partial

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from infra.namespaces import JOB_SUPPLIER_ACTIVITY
from jobs.spark import runtime, streaming, tables
from jobs.spark.transformations.supplier_minutes import supplier_minutes
from lineagelab_spark import QueryLineage

NOW = "now"
MAX_FILES = 200
"""Files of orders in one batch, so that a backlog is processed in several batches."""


def main() -> int:
    """Run the job; return the exit code of `jobs.spark.runtime.run`."""
    return streaming.run(JOB_SUPPLIER_ACTIVITY, _prepare)


def _prepare() -> streaming.Start:
    folder = runtime.setting("CHECKPOINTS", "folder of the checkpoints, as s3a://checkpoints")
    trigger = os.environ.get("SUPPLIER_ACTIVITY_TRIGGER", "")
    seconds = None if trigger == NOW else runtime.seconds("SUPPLIER_ACTIVITY_TRIGGER", "30 seconds")
    delay = runtime.seconds("SUPPLIER_ACTIVITY_DELAY", "15 minutes")
    return partial(_start, f"{folder.rstrip('/')}/{JOB_SUPPLIER_ACTIVITY}", seconds, delay)


def _start(
    checkpoint: str,
    trigger: int | None,
    delay: int,
    spark: SparkSession,
    lineage: QueryLineage,
    stopping: streaming.Stopping,
) -> StreamingQuery:
    target = tables.supplier_activity()
    target.create(spark)
    tables.orders().create(spark)
    orders = spark.readStream.option("streaming-max-files-per-micro-batch", MAX_FILES).table(tables.orders().name)
    minutes = orders.transform(supplier_minutes, f"{delay} seconds")
    writer = minutes.writeStream.queryName(JOB_SUPPLIER_ACTIVITY).outputMode("append")
    writer = writer.option("checkpointLocation", checkpoint).option("fanout-enabled", True)
    if trigger is None:
        writer = writer.trigger(availableNow=True)
    else:
        writer = writer.trigger(processingTime=f"{trigger} seconds")
    return lineage.to_table(writer, target.name)


if __name__ == "__main__":
    raise SystemExit(main())
