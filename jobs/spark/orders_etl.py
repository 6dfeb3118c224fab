# SPDX-License-Identifier: Apache-2.0
"""Topic `orders` to the tables of sound and of rejected orders, all the time: `python -m jobs.spark.orders_etl`.

Each order is in exactly one of the tables, once, whatever happens to the driver, its checkpoint, the registry or the
catalog: a batch appends only orders that neither table has (`jobs.spark.known_orders`). The first record of an order
decides, and a decision that is in a table stands.

Environment: `KAFKA_BOOTSTRAP`, `SCHEMA_REGISTRY_URL`, `CHECKPOINTS` (folder of checkpoints, of any file system that
Hadoop knows), `ORDERS_ETL_TRIGGER` (time between batches, `5 seconds`; `now` works off what is there and ends),
`ORDERS_ETL_MAX_RECORDS` (of a batch, 50000), `ORDERS_ETL_LATE_AFTER` (`1 hour`), `LINEAGE_URL` (optional), and what
`jobs.spark.runtime` names.
"""

import logging
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from infra.namespaces import JOB_ORDERS_ETL, TOPIC_ORDERS
from jobs.spark import checkpoint, kafka, runtime, streaming, tables
from jobs.spark.iceberg import SNAPSHOT_PROPERTY
from jobs.spark.known_orders import KnownOrders, Seen
from jobs.spark.registry import Registry, Wait
from jobs.spark.transformations import framing
from jobs.spark.transformations.check import COLUMNS, check
from jobs.spark.transformations.decode import decode
from jobs.spark.transformations.first_per_order import first_per_order
from jobs.spark.transformations.split import accepted, rejected
from jobs.spark.transformations.without import without
from lineagelab_spark import BatchOutputs, QueryLineage

log = logging.getLogger(JOB_ORDERS_ETL)

MOST_SCHEMAS = 100
"""A topic has a handful. As many as this come from somebody who writes something else."""

RUN, BATCH = "orders-etl.run", "orders-etl.batch"
"""Properties of the snapshots: the driver's run, by which it knows its own, and the batch, for people."""

NOW = "now"


@dataclass(frozen=True)
class Settings:
    """Of the job; durations are in seconds, and `trigger` is None for what is there now."""

    bootstrap: str
    registry: str
    checkpoint: str
    trigger: int | None
    max_records: int
    late_after: int

    @classmethod
    def read(cls) -> "Settings":
        """From the environment.

        Raises:
            SettingError: one is missing or makes no sense.
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
    """Kafka records to one row for each order, with what is wrong with it.

    Args:
        records: as Spark's Kafka source gives them.
        schemas: the writers' schemas by id.
        late_after: seconds from an order's time to its record's; an order that took longer is late.
    """
    return check(first_per_order(decode(records, schemas, COLUMNS)), late_after)


class OrdersEtl:
    """What is done with each batch.

    Args:
        registry: has the writers' schemas.
        late_after: see `checked_orders`.
        wait: waits while the registry is away; raises where the query is being stopped.
    """

    def __init__(self, registry: Registry, late_after: int, wait: Wait) -> None:
        self._registry = registry
        self._wait = wait
        self._schemas: dict[int, str] = {}
        self._late_after = late_after
        self._run = uuid.uuid4().hex
        self._known = KnownOrders(tables.orders(), tables.orders_rejected(), (RUN, self._run))

    def write(self, batch: DataFrame, batch_id: int, outputs: BatchOutputs) -> None:
        """Appends the orders of a batch that neither table has yet.

        Raises:
            JobError: the registry stays away, or the records are no orders.
        """
        # Computed once, with Kafka read once, and written twice. A batch that fails ends the driver and its cache.
        checked = checked_orders(batch, self._schemas, self._late_after).persist()
        orders, are_sure = _seen(checked)
        if not are_sure and self._learn_schemas(batch):
            checked.unpersist()
            checked = checked_orders(batch, self._schemas, self._late_after).persist()
            orders, _ = _seen(checked)
        # Where a transaction ended there is a place in the topic without a record. A driver that has just started
        # knows no schema then, and its plan does not say what orders are made of.
        if orders:
            self._append(checked, orders, batch_id, outputs)
        checked.unpersist()

    def _learn_schemas(self, records: DataFrame) -> bool:
        """Asks the registry for the schemas that records were written with and that are not known yet.

        An id stands for the same schema for ever: one that was found is not asked for again.

        Returns:
            Whether any was found.

        Raises:
            JobError: the registry cannot be asked, or there are too many ids.
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

    def _append(self, checked: DataFrame, orders: list[Seen], batch_id: int, outputs: BatchOutputs) -> None:
        """Writes the rejected orders first.

        Only they are in their table with their place in the topic. Where the batch is repeated after a crash between
        the two, and the registry has learnt a schema meanwhile, that place is what tells an order that was rejected
        under its key from one that was never seen, whatever id its value turns out to have.
        """
        self._known.refresh(checked.sparkSession)
        known = self._known.among(orders)
        places = {(order.partition, order.offset) for order in known}
        fresh = without(checked, sorted(places))
        new = [order for order in orders if (order.partition, order.offset) not in places]
        bad, good = ([order for order in new if order.is_sound is sound] for sound in (False, True))
        properties = {SNAPSHOT_PROPERTY + RUN: self._run, SNAPSHOT_PROPERTY + BATCH: str(batch_id)}
        for rows, table, written in (
            (rejected(fresh), tables.orders_rejected(), bad),
            (accepted(fresh), tables.orders(), good),
        ):
            if written:
                outputs.append(rows, table.name, properties)
                self._known.add(written)
            else:
                # A commit would be a file of metadata for nothing; what the table is made of can be said all the same.
                outputs.describe(rows, table.name)
        log.info("%d orders accepted, %d rejected, %d were there already", len(good), len(bad), len(known))


def _seen(checked: DataFrame) -> tuple[list[Seen], bool]:
    """The orders, and whether the schemas of all their records are known."""
    rows = checked.select(
        F.col("identity").cast("binary").alias("identity"),
        "partition",
        "offset",
        F.unix_millis("timestamp").alias("timestamp"),
        F.isnull("reason").alias("is_sound"),
        "is_unsure",
    ).collect()
    orders = [Seen(None if row[0] is None else bytes(row[0]), *row[1:5]) for row in rows]
    return orders, not any(row["is_unsure"] for row in rows)


def _schema_ids(records: DataFrame) -> dict[int, int]:
    """How many records were written with which schema.

    Raises:
        JobError: too many schemas for one topic.
    """
    seen = [(row["header"], row["count"]) for row in framing.headers(records).limit(MOST_SCHEMAS + 3).collect()]
    ids = [(framing.schema_id(bytes(header)), count) for header, count in seen if header is not None]
    counts = {schema_id: count for schema_id, count in ids if schema_id is not None}
    if len(counts) > MOST_SCHEMAS:
        raise runtime.JobError(
            f"the values of topic {TOPIC_ORDERS!r} begin with more than {MOST_SCHEMAS} schema ids, as "
            f"{', '.join(map(str, list(counts)[:5]))} do: somebody writes something else to it. Find out who, and "
            "write the orders to a new topic"
        )
    return counts


def main() -> int:
    """Runs the job; the exit code is `jobs.spark.runtime.run`'s."""
    return streaming.run(JOB_ORDERS_ETL, lambda: partial(_start, Settings.read()))


def _start(
    settings: Settings, spark: SparkSession, lineage: QueryLineage, stopping: streaming.Stopping
) -> StreamingQuery:
    topic = kafka.identity(spark, settings.bootstrap, TOPIC_ORDERS)
    checkpoint.claim(spark, settings.checkpoint, TOPIC_ORDERS, topic)
    tables.orders().create(spark)
    tables.orders_rejected().create(spark)
    etl = OrdersEtl(Registry(settings.registry), settings.late_after, stopping.wait)
    records = kafka.stream(spark, settings.bootstrap, TOPIC_ORDERS, settings.max_records)
    writer = records.writeStream.queryName(JOB_ORDERS_ETL).option("checkpointLocation", settings.checkpoint)
    if settings.trigger is None:
        writer = writer.trigger(availableNow=True)
    else:
        writer = writer.trigger(processingTime=f"{settings.trigger} seconds")
    return lineage.foreach_batch(writer, stopping.guard(etl.write))


if __name__ == "__main__":
    raise SystemExit(main())
