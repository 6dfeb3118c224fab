# SPDX-License-Identifier: Apache-2.0
"""The streaming queries that are measured: the lab's own, and one that does as little as a query can."""

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

COPY = Table(
    f"{CATALOG_NAME}.sales.orders_copy",
    "order_id string, item string, price decimal(10,2), supplier string, bid_time timestamp",
    "days(bid_time)",
)
LATE_AFTER = 3600


@dataclass(frozen=True)
class Source:
    """What a query reads: a stream of records, and the registry (its URL) that has their schemas."""

    records: DataFrame
    registry: str


@dataclass(frozen=True)
class Query:
    """A query that works off what is there and ends.

    Attributes:
        name: of the query and of its lineage's job.
        tables: what it writes.
        start: starts it with its lineage and a folder for its checkpoint.
    """

    name: str
    tables: tuple[Table, ...]
    start: Callable[[Source, QueryLineage, str], StreamingQuery]


def _orders_etl(source: Source, lineage: QueryLineage, checkpoint: str) -> StreamingQuery:
    etl = OrdersEtl(Registry(source.registry), LATE_AFTER, _wait)
    writer = source.records.writeStream.queryName(JOB_ORDERS_ETL).option("checkpointLocation", checkpoint)
    return lineage.foreach_batch(writer.trigger(availableNow=True), etl.write)


def _orders_copy(source: Source, lineage: QueryLineage, checkpoint: str) -> StreamingQuery:
    decoded = source.records.select(from_avro(F.expr("substring(value, 6)"), SCHEMAS[FIRST]).alias("order"))
    orders = decoded.select("order.*").withColumn("price", F.col("price").try_cast("decimal(10,2)"))
    writer = orders.writeStream.queryName("orders_copy").option("checkpointLocation", checkpoint)
    # Orders of two days come mixed: each has a file open.
    writer = writer.option("fanout-enabled", True).trigger(availableNow=True)
    return lineage.to_table(writer, COPY.name)


def _wait(seconds: float) -> None:
    threading.Event().wait(seconds)


QUERIES: Mapping[str, Query] = {
    query.name: query
    for query in (
        Query(JOB_ORDERS_ETL, (tables.orders(), tables.orders_rejected()), _orders_etl),
        Query("orders_copy", (COPY,), _orders_copy),
    )
}
