# SPDX-License-Identifier: Apache-2.0
"""Topic `orders` to the tables of sound and of rejected orders: `python -m jobs.spark.orders_etl`.

The tables are a function of the topic: each run reads all of it and replaces both, so that a run that was cut
short, or a rule that changed, leaves no order in both tables or in none once the next run is through.

Environment: `KAFKA_BOOTSTRAP`, `LINEAGE_URL` (optional), and what `jobs.spark.runtime` names.
"""

import logging
from functools import partial

from pyspark.sql import DataFrame, SparkSession

from infra.namespaces import JOB_ORDERS_ETL, TOPIC_ORDERS
from jobs.schemas import schema_text
from jobs.spark import kafka, runtime, tables
from jobs.spark.lineage import Lineage
from jobs.spark.tables import Replace
from jobs.spark.transformations.check import check
from jobs.spark.transformations.decode import decode
from jobs.spark.transformations.first_per_order import first_per_order
from jobs.spark.transformations.split import accepted, rejected

log = logging.getLogger(JOB_ORDERS_ETL)


def checked_orders(records: DataFrame) -> DataFrame:
    """Kafka records to one row for each order, with what is wrong with it."""
    return check(first_per_order(decode(records, schema_text(TOPIC_ORDERS))))


def load(spark: SparkSession, records: DataFrame, lineage: Lineage) -> None:
    """Replaces both tables by what the records say."""
    checked = checked_orders(records)
    tables.write(accepted(checked), tables.orders(), Replace.ALL_ROWS, lineage)
    tables.write(rejected(checked), tables.orders_rejected(), Replace.ALL_ROWS, lineage)


def main() -> int:
    """Runs the job; the exit code is `jobs.spark.runtime.run`'s."""
    return runtime.run(JOB_ORDERS_ETL, _prepare)


def _prepare() -> runtime.Body:
    return partial(_etl, runtime.setting("KAFKA_BOOTSTRAP", "host:port of a Kafka broker"))


def _etl(bootstrap: str, spark: SparkSession, lineage: Lineage) -> None:
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
    load(spark, kafka.read(spark, part), lineage)
    log.info("orders of topic %s up to offsets %s are in the lake", TOPIC_ORDERS, dict(part.end))


if __name__ == "__main__":
    raise SystemExit(main())
