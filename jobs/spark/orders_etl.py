# SPDX-License-Identifier: Apache-2.0
"""Streaming ETL from topic `orders` to the tables of accepted and rejected orders: `python -m jobs.spark.orders_etl`.

Each order is in exactly one of the tables, exactly once, after any failure of driver, checkpoint, registry or catalog:
a batch appends only orders that neither table has (`jobs.spark.known_orders`), and of several drivers only the one
that started last can append (`jobs.spark.fencing`). The first record of an order is used,
and an order that is in a table is never changed.

Environment: `KAFKA_BOOTSTRAP`, `SCHEMA_REGISTRY_URL`, `CHECKPOINTS` (checkpoint folder, on any file system that Hadoop
supports), `ORDERS_ETL_TRIGGER` (batch interval, `5 seconds`; `now` processes available records and exits),
`ORDERS_ETL_MAX_RECORDS` (maximum records per batch, 50000), `ORDERS_ETL_LATE_AFTER` (`1 hour`), `LINEAGE_URL`
(optional), and that of `jobs.spark.runtime`.
"""

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from infra.namespaces import JOB_ORDERS_ETL, TOPIC_ORDERS
from jobs.spark import checkpoint, iceberg, kafka, runtime, streaming, tables
from jobs.spark.fencing import Claim
from jobs.spark.iceberg import SNAPSHOT_PROPERTY
from jobs.spark.known_orders import BatchOrder, KnownOrders
from jobs.spark.registry import Registry, Wait
from jobs.spark.tables import Table
from jobs.spark.transformations import framing
from jobs.spark.transformations.check import COLUMNS, check
from jobs.spark.transformations.decode import decode
from jobs.spark.transformations.exclude_positions import exclude_positions
from jobs.spark.transformations.first_per_order import first_per_order
from jobs.spark.transformations.split import accepted, rejected
from lineagelab_spark import BatchOutputs, QueryLineage

log = logging.getLogger(JOB_ORDERS_ETL)

MAX_SCHEMAS = 100
"""Limit of schema ids in a topic, which usually has a handful: more indicate another data format."""

MARK = "orders-etl"
"""Prefix of the snapshot properties."""

BATCH = f"{MARK}.batch"
"""Snapshot property with the batch id, for diagnosis."""

MAX_ATTEMPTS = 5
"""Attempts to append a batch while other writers, such as maintenance, commit to the same table."""

NOW = "now"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of the job; durations in seconds. `trigger` None processes available records and exits."""

    bootstrap: str
    registry: str
    checkpoint: str
    trigger: int | None
    max_records: int
    late_after: int

    @classmethod
    def read(cls) -> "Settings":
        """Read the settings from the environment.

        Raises:
            SettingError: a setting is missing or invalid.
        """
        trigger = os.environ.get("ORDERS_ETL_TRIGGER", "")
        folder = runtime.setting("CHECKPOINTS", "folder of the checkpoints, as s3a://checkpoints")
        return cls(
            bootstrap=runtime.setting("KAFKA_BOOTSTRAP", "host:port of a Kafka broker"),
            registry=runtime.setting("SCHEMA_REGISTRY_URL", "root of Confluent's API of a schema registry"),
            checkpoint=f"{folder.rstrip('/')}/{JOB_ORDERS_ETL}",
            trigger=None if trigger == NOW else runtime.seconds("ORDERS_ETL_TRIGGER", "5 seconds"),
            max_records=runtime.number("ORDERS_ETL_MAX_RECORDS", 50_000),
            late_after=runtime.seconds("ORDERS_ETL_LATE_AFTER", "1 hour"),
        )


def checked_orders(records: DataFrame, schemas: Mapping[int, str], late_after: int) -> DataFrame:
    """Return one row per order of Kafka records, with the reason of its rejection, if any.

    Args:
        records: rows of Spark's Kafka source.
        schemas: writer schemas by id.
        late_after: seconds between an order's time and its record's timestamp above which the order is late.
    """
    return check(first_per_order(decode(records, schemas, COLUMNS)), late_after)


class OrdersEtl:
    """Batch function of the query.

    Args:
        registry: schema registry with the writer schemas.
        late_after: see `checked_orders`.
        wait: sleep between registry retries; raises if the query is being stopped.
    """

    def __init__(self, registry: Registry, late_after: int, wait: Wait) -> None:
        self._registry = registry
        self._wait = wait
        self._schemas: dict[int, str] = {}
        self._late_after = late_after
        self._claim = Claim(MARK)
        self._known = KnownOrders(tables.orders(), tables.orders_rejected(), self._claim.mark)

    def claim(self, spark: SparkSession) -> None:
        """Claim both tables, before the checkpoint is read: drivers that claimed them before cannot append any more."""
        for table in (tables.orders(), tables.orders_rejected()):
            self._claim.take(spark, table.name)

    def write(self, batch: DataFrame, batch_id: int, outputs: BatchOutputs) -> None:
        """Append the orders of a batch that are in neither table.

        Raises:
            FencedError: another driver has claimed the tables.
            JobError: the registry stays unavailable, or the records are not orders.
        """
        # Also for a batch without orders: a fenced driver must not commit offsets in a shared checkpoint.
        for table in (tables.orders(), tables.orders_rejected()):
            self._claim.verify(iceberg.load(batch.sparkSession, table.name))
        # Cached: Kafka is read once, and the result is written twice. A failed batch ends the driver, and so its cache.
        checked = checked_orders(batch, self._schemas, self._late_after).persist()
        orders, are_sure = _batch_orders(checked)
        if not are_sure and self._fetch_schemas(batch):
            checked.unpersist()
            checked = checked_orders(batch, self._schemas, self._late_after).persist()
            orders, _ = _batch_orders(checked)
        # Transaction markers take offsets without a record, so a batch can be empty. A driver that has just started has
        # no schema then, and its plan has no column lineage.
        if orders:
            self._append(checked, orders, batch_id, outputs)
        checked.unpersist()

    def _fetch_schemas(self, records: DataFrame) -> bool:
        """Fetch the unknown writer schemas of records from the registry.

        The schema of an id is immutable, so schemas are cached for the lifetime of the driver.

        Returns:
            True if any schema was found.

        Raises:
            JobError: the registry stays unavailable, or there are too many ids.
        """
        counts = _schema_ids(records)
        missing = sorted(counts.keys() - self._schemas.keys())
        found = {schema_id: self._registry.await_schema(schema_id, self._wait) for schema_id in missing}
        for schema_id in (unknown for unknown, schema in found.items() if schema is None):
            log.warning(
                "schema %d is not in the registry at %s, or no Avro record: %d records are rejected",
                schema_id,
                self._registry.url,
                counts[schema_id],
            )
        new = {schema_id: schema for schema_id, schema in found.items() if schema is not None}
        self._schemas = {**self._schemas, **new}
        return bool(new)

    def _append(self, checked: DataFrame, orders: list[BatchOrder], batch_id: int, outputs: BatchOutputs) -> None:
        """Append new orders to both tables, and repeat that if another writer committed meanwhile.

        Raises:
            FencedError: another driver has claimed the tables.
            JobError: other writers committed during each attempt.
        """
        for _ in range(MAX_ATTEMPTS):
            if self._try_append(checked, orders, batch_id, outputs):
                return
            log.info("another writer committed during batch %d, which is compared with the tables again", batch_id)
        raise runtime.JobError(
            f"could not append batch {batch_id}: in each of {MAX_ATTEMPTS} attempts another writer committed to "
            f"{tables.orders().name} or {tables.orders_rejected().name}. Stop that writer"
        )

    def _try_append(self, checked: DataFrame, orders: list[BatchOrder], batch_id: int, outputs: BatchOutputs) -> bool:
        """Append new orders to both tables, rejected orders first; return False if another writer committed meanwhile.

        Only the table of rejected orders has positions in the topic. If the batch is repeated after a crash between the
        two writes, and a schema has become available meanwhile, the position identifies an order that was rejected
        under its key, although it now has another order id.
        """
        self._known.refresh(checked.sparkSession)
        known = self._known.among(orders)
        places = {(order.partition, order.offset) for order in known}
        fresh = exclude_positions(checked, sorted(places))
        new = [order for order in orders if (order.partition, order.offset) not in places]
        good = [order for order in new if order.is_accepted]
        bad = [order for order in new if not order.is_accepted]
        for rows, table, written in (
            (rejected(fresh), tables.orders_rejected(), bad),
            (accepted(fresh), tables.orders(), good),
        ):
            if not written:
                # No empty commit, which would write a metadata file; the lineage of the table is reported anyway.
                outputs.describe(rows, table.name)
            elif self._publish(rows, table, batch_id, outputs):
                self._known.add(written)
            else:
                return False
        log.info("%d orders accepted, %d rejected, %d duplicates skipped", len(good), len(bad), len(known))
        return True

    def _publish(self, rows: DataFrame, table: Table, batch_id: int, outputs: BatchOutputs) -> bool:
        properties = {SNAPSHOT_PROPERTY + name: value for name, value in (self._claim.mark, (BATCH, str(batch_id)))}
        with self._claim.staged(rows) as staged:
            outputs.append(rows, table.name, properties)
        loaded = iceberg.load(rows.sparkSession, table.name)
        return self._claim.publish(loaded, staged, self._known.snapshot(table))


def _batch_orders(checked: DataFrame) -> tuple[list[BatchOrder], bool]:
    """Return the orders of a batch, and True if the schemas of all their records are known."""
    rows = checked.select(
        F.col("identity").cast("binary").alias("identity"),
        "partition",
        "offset",
        F.unix_millis("timestamp").alias("timestamp"),
        F.isnull("reason").alias("is_accepted"),
        "is_unsure",
    ).collect()
    orders = [BatchOrder(None if row[0] is None else bytes(row[0]), *row[1:5]) for row in rows]
    return orders, not any(row["is_unsure"] for row in rows)


def _schema_ids(records: DataFrame) -> dict[int, int]:
    """Return the number of records by schema id.

    Raises:
        JobError: there are more than `MAX_SCHEMAS` ids.
    """
    seen = [(row["header"], row["count"]) for row in framing.headers(records).limit(MAX_SCHEMAS + 3).collect()]
    ids = [(framing.schema_id(bytes(header)), count) for header, count in seen if header is not None]
    counts = {schema_id: count for schema_id, count in ids if schema_id is not None}
    if len(counts) > MAX_SCHEMAS:
        raise runtime.JobError(
            f"the values of topic {TOPIC_ORDERS!r} begin with more than {MAX_SCHEMAS} schema ids, as "
            f"{', '.join(map(str, list(counts)[:5]))} do: another producer writes to it. Stop that producer and "
            "write the orders to a new topic"
        )
    return counts


def main() -> int:
    """Run the job; return the exit code of `jobs.spark.runtime.run`."""
    return streaming.run(JOB_ORDERS_ETL, lambda: partial(_start, Settings.read()))


def _start(
    settings: Settings, spark: SparkSession, lineage: QueryLineage, stopping: streaming.Stopping
) -> StreamingQuery:
    topic = kafka.identity(spark, settings.bootstrap, TOPIC_ORDERS)
    checkpoint.claim(spark, settings.checkpoint, TOPIC_ORDERS, topic)
    records = kafka.stream(spark, settings.bootstrap, TOPIC_ORDERS, settings.max_records)
    return start_query(settings, records, lineage, stopping)


def start_query(
    settings: Settings, records: DataFrame, lineage: QueryLineage, stopping: streaming.Stopping
) -> StreamingQuery:
    """Start the query on a stream of Kafka records.

    Args:
        settings: settings of the job.
        records: stream with the columns of Spark's Kafka source.
        lineage: reporter of the query.
        stopping: graceful shutdown of the driver.
    """
    spark = records.sparkSession
    tables.orders().create(spark)
    tables.orders_rejected().create(spark)
    etl = OrdersEtl(Registry(settings.registry), settings.late_after, stopping.wait)
    etl.claim(spark)
    writer = records.writeStream.queryName(JOB_ORDERS_ETL).option("checkpointLocation", settings.checkpoint)
    if settings.trigger is None:
        writer = writer.trigger(availableNow=True)
    else:
        writer = writer.trigger(processingTime=f"{settings.trigger} seconds")
    return lineage.foreach_batch(writer, stopping.guard(etl.write))


if __name__ == "__main__":
    raise SystemExit(main())
