# SPDX-License-Identifier: Apache-2.0
"""Measured streaming queries: the lab's own one, and a minimal copy of a topic into a table."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro
from pyspark.sql.streaming.query import StreamingQuery

from infra.namespaces import CATALOG_NAME, JOB_ORDERS_ETL
from jobs.spark import tables
from jobs.spark.orders_etl import OrdersEtl
from jobs.spark.registry import Registry
from jobs.spark.tables import Table
from lineagelab_spark import QueryLineage
from tests.unit.spark.schemas import FIRST, SCHEMAS

COPY = tables.orders(f"{CATALOG_NAME}.sales.orders_copy")
LATE_AFTER = 3600


@dataclass(frozen=True)
class StreamSource:
    """Input of a query: a stream of records, and the URL of the registry with their schemas."""

    records: DataFrame
    registry: str


@dataclass(frozen=True)
class MeasuredQuery:
    """Streaming query that processes the available records and ends.

    Attributes:
        name: name of the query and of its lineage job.
        tables: tables that it writes.
        start: starts the query with its lineage and a checkpoint folder.
    """

    name: str
    tables: tuple[Table, ...]
    start: Callable[[StreamSource, QueryLineage, str], StreamingQuery]


def _orders_etl(source: StreamSource, lineage: QueryLineage, checkpoint: str) -> StreamingQuery:
    etl = OrdersEtl(Registry(source.registry), LATE_AFTER, _wait)
    etl.claim(source.records.sparkSession)
    writer = source.records.writeStream.queryName(JOB_ORDERS_ETL).option("checkpointLocation", checkpoint)
    return lineage.foreach_batch(writer.trigger(availableNow=True), etl.write)


def _orders_copy(source: StreamSource, lineage: QueryLineage, checkpoint: str) -> StreamingQuery:
    decoded = source.records.select(from_avro(F.expr("substring(value, 6)"), SCHEMAS[FIRST]).alias("order"))
    orders = decoded.select("order.*").withColumn("price", F.col("price").try_cast("decimal(10,2)"))
    writer = orders.writeStream.queryName("orders_copy").option("checkpointLocation", checkpoint)
    # Orders of two days are interleaved: keep one file open per day.
    writer = writer.option("fanout-enabled", True).trigger(availableNow=True)
    return lineage.to_table(writer, COPY.name)


def _wait(seconds: float) -> None:
    threading.Event().wait(seconds)


QUERIES: Mapping[str, MeasuredQuery] = {
    query.name: query
    for query in (
        MeasuredQuery(JOB_ORDERS_ETL, (tables.orders(), tables.orders_rejected()), _orders_etl),
        MeasuredQuery("orders_copy", (COPY,), _orders_copy),
    )
}
