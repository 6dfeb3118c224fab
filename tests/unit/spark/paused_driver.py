# SPDX-License-Identifier: Apache-2.0
"""Driver of `orders_etl` on records in files, for tests of two drivers: `python -m tests.unit.spark.paused_driver`.

Environment: that of `jobs.spark.orders_etl`, `RECORDS` (folder of Parquet files), and `PAUSE_AT` (table; the process
stops itself, as by SIGSTOP, before it appends to this table; empty: never).
"""

import os
import signal
from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from jobs.spark import orders_etl, streaming
from lineagelab_spark import BatchOutputs, QueryLineage
from lineagelab_spark.query import BatchOutputs as Outputs
from tests.unit.spark.records import KAFKA_SCHEMA

_append = Outputs.append


def paused_append(self: BatchOutputs, frame: DataFrame, table: str, options: Mapping[str, str] | None = None) -> None:
    if table == os.environ["PAUSE_AT"]:
        os.kill(os.getpid(), signal.SIGSTOP)
    _append(self, frame, table, options)


def prepare() -> streaming.Start:
    settings = orders_etl.Settings.read()

    def start(spark: SparkSession, lineage: QueryLineage, stopping: streaming.Stopping) -> StreamingQuery:
        records = spark.readStream.schema(KAFKA_SCHEMA).parquet(os.environ["RECORDS"])
        return orders_etl.start_query(settings, records, lineage, stopping)

    return start


if __name__ == "__main__":
    Outputs.append = paused_append  # type: ignore[method-assign]
    raise SystemExit(streaming.run("orders_etl", prepare))
