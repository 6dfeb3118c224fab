# SPDX-License-Identifier: Apache-2.0
"""Maintenance of all tables of the lake: `python -m jobs.spark.lake_maintenance`.

It has no lineage, as it moves no data between datasets. It is safe while other jobs write.

Environment: `MAINTENANCE_KEEP` (minimum age of expired snapshots, `1 hour`), `CHECKPOINTS` (folder with the state of
consumers, which keeps what they need), and that of `jobs.spark.runtime`.
"""

import logging
from datetime import timedelta

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from infra.namespaces import CATALOG_NAME, JOB_LAKE_MAINTENANCE
from jobs.spark import consumers, maintenance, runtime
from jobs.spark.consumers import ConsumerState
from jobs.spark.runtime import JobError, root_cause
from lineagelab_spark import Lineage

log = logging.getLogger(JOB_LAKE_MAINTENANCE)


def main() -> int:
    """Run the job; return the exit code of `jobs.spark.runtime.run`: 0 if any table was maintained."""
    return runtime.run(JOB_LAKE_MAINTENANCE, _prepare, runtime.WITHOUT_AGENT)


def _prepare() -> runtime.Body:
    keep = timedelta(seconds=runtime.seconds("MAINTENANCE_KEEP", "1 hour"))
    folder = runtime.setting("CHECKPOINTS", "folder of the checkpoints, as s3a://checkpoints")

    def body(spark: SparkSession, _: Lineage) -> None:
        maintain_all(spark, CATALOG_NAME, keep, folder)

    return body


def maintain_all(spark: SparkSession, catalog: str, keep: timedelta, checkpoints: str) -> None:
    """Maintain the tables of a catalog in sequence, and log the outcome of each.

    Args:
        spark: session of the driver.
        catalog: name of the catalog.
        keep: age below which snapshots are kept.
        checkpoints: folder with the states of consumers.

    Raises:
        JobError: the maintenance of every table failed.
    """
    found = list(maintenance.tables(spark, catalog))
    states = _states(spark, checkpoints)
    done = [_maintained(spark, table, keep, states) for table in found]
    log.info("%d of %d tables of catalog %s maintained", sum(done), len(found), catalog)
    if found and not any(done):
        raise JobError(
            f"could not maintain any of the {len(found)} tables of catalog {catalog!r}: see the warnings above. Check "
            "that the catalog and the object store run"
        )


def _states(spark: SparkSession, checkpoints: str) -> list[ConsumerState] | None:
    """Return the states of all consumers; None if they cannot be read."""
    try:
        return consumers.read(spark, checkpoints)
    except Py4JJavaError as error:
        log.warning(
            "cannot read the states of consumers in %s, so no snapshots and files are removed: %s",
            checkpoints,
            root_cause(error),
        )
        return None


def _maintained(
    spark: SparkSession, table: maintenance.Table, keep: timedelta, states: list[ConsumerState] | None
) -> bool:
    try:
        outcome = maintenance.maintain(spark, table, keep, states)
    except (Py4JJavaError, PySparkException) as error:
        log.warning("%s cannot be read, retried in the next run: %s", table, root_cause(error))
        return False
    log.info("%s", outcome)
    return not outcome.is_all_failed


if __name__ == "__main__":
    raise SystemExit(main())
