# SPDX-License-Identifier: Apache-2.0
"""Topic `orders` to the tables of sound and of rejected orders: `python -m jobs.spark.orders_etl`.

The tables are a function of the topic: each run reads all of it and replaces both, so that a run that was cut
short, or a rule that changed, leaves no order in both tables or in none once the next run is through. An order
whose schema the registry does not know is rejected: it changes tables with the first run after the registry does.

Environment: `KAFKA_BOOTSTRAP`, `SCHEMA_REGISTRY_URL`, `LINEAGE_URL` (optional), and what `jobs.spark.runtime` names.
"""

import logging
from collections.abc import Mapping
from functools import partial

from pyspark.sql import DataFrame, SparkSession

from infra.namespaces import JOB_ORDERS_ETL, TOPIC_ORDERS
from jobs.spark import kafka, runtime, tables
from jobs.spark.lineage import Lineage
from jobs.spark.registry import Registry
from jobs.spark.tables import Replace
from jobs.spark.transformations import framing
from jobs.spark.transformations.check import COLUMNS, check
from jobs.spark.transformations.decode import decode
from jobs.spark.transformations.first_per_order import first_per_order
from jobs.spark.transformations.split import accepted, rejected

log = logging.getLogger(JOB_ORDERS_ETL)


MOST_SCHEMAS = 100
"""A topic has a handful. As many as this come from somebody who writes something else."""


def checked_orders(records: DataFrame, schemas: Mapping[int, str]) -> DataFrame:
    """Kafka records to one row for each order, with what is wrong with it.

    Args:
        records: as Spark's Kafka source gives them.
        schemas: the writers' schemas by id.
    """
    return check(first_per_order(decode(records, schemas, COLUMNS)))


def writers_schemas(records: DataFrame, registry: Registry) -> dict[int, str]:
    """The schemas that the records were written with, by id: those of them that the registry has.

    Raises:
        JobError: the registry cannot be asked, or there are too many ids.
    """
    seen = [(row["header"], row["count"]) for row in framing.headers(records).limit(MOST_SCHEMAS + 3).collect()]
    for count in (count for header, count in seen if header is None):
        log.info("%d records without a value are no orders: left out", count)
    ids = [(framing.schema_id(bytes(header)), count) for header, count in seen if header is not None]
    counts = {schema_id: count for schema_id, count in ids if schema_id is not None}
    if len(counts) > MOST_SCHEMAS:
        raise runtime.JobError(
            f"the values of topic {TOPIC_ORDERS!r} begin with more than {MOST_SCHEMAS} schema ids, as "
            f"{', '.join(map(str, list(counts)[:5]))} do: somebody writes something else to it. Find out who, and "
            "write the orders to a new topic"
        )
    found = {schema_id: registry.avro_schema(schema_id) for schema_id in sorted(counts)}
    for schema_id in (known for known, schema in found.items() if schema is None):
        log.warning(
            "schema %d is not in the registry at %s, or no Avro record: %d records are rejected",
            schema_id,
            registry.url,
            counts[schema_id],
        )
    return {schema_id: schema for schema_id, schema in found.items() if schema is not None}


def load(spark: SparkSession, records: DataFrame, registry: Registry, lineage: Lineage) -> None:
    """Replaces both tables by what the records say."""
    checked = checked_orders(records, writers_schemas(records, registry))
    tables.write(accepted(checked), tables.orders(), Replace.ALL_ROWS, lineage)
    tables.write(rejected(checked), tables.orders_rejected(), Replace.ALL_ROWS, lineage)


def main() -> int:
    """Runs the job; the exit code is `jobs.spark.runtime.run`'s."""
    return runtime.run(JOB_ORDERS_ETL, _prepare)


def _prepare() -> runtime.Body:
    bootstrap = runtime.setting("KAFKA_BOOTSTRAP", "host:port of a Kafka broker")
    registry = runtime.setting("SCHEMA_REGISTRY_URL", "root of Confluent's API of a schema registry")
    return partial(_etl, bootstrap, Registry(registry))


def _etl(bootstrap: str, registry: Registry, spark: SparkSession, lineage: Lineage) -> None:
    part = kafka.whole_topic(spark, bootstrap, TOPIC_ORDERS)
    if part.lost:
        raise runtime.JobError(
            f"topic {TOPIC_ORDERS!r} at {bootstrap} has lost its first {part.lost} records, and replacing the "
            "tables would lose their orders. Set retention.ms and retention.bytes of the topic to -1, and write "
            "the lost records again"
        )
    tables.orders().create(spark)
    tables.orders_rejected().create(spark)
    if part.is_empty:
        log.info("topic %s is empty, the tables stay as they are", TOPIC_ORDERS)
        return
    load(spark, kafka.read(spark, part), registry, lineage)
    log.info("orders of topic %s up to offsets %s are in the lake", TOPIC_ORDERS, dict(part.end))


if __name__ == "__main__":
    raise SystemExit(main())
