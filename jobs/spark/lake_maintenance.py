# SPDX-License-Identifier: Apache-2.0
"""Maintenance of every table of the lake: `python -m jobs.spark.lake_maintenance`.

It moves no data, so that it has no lineage. It may run at any time, beside whatever writes.

Environment: `MAINTENANCE_KEEP` (how long snapshots are kept, `1 hour`), and what `jobs.spark.runtime` names.
"""

import logging
from datetime import timedelta

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from infra.namespaces import CATALOG, JOB_LAKE_MAINTENANCE
from jobs.spark import maintenance, runtime
from jobs.spark.runtime import JobError, root_cause
from lineagelab_spark import Lineage

log = logging.getLogger(JOB_LAKE_MAINTENANCE)


def main() -> int:
    """Runs the job; the exit code is `jobs.spark.runtime.run`'s, and 0 where some of the tables could be done."""
    return runtime.run(JOB_LAKE_MAINTENANCE, _prepare, runtime.WITHOUT_AGENT)


def _prepare() -> runtime.Body:
    keep = timedelta(seconds=runtime.seconds("MAINTENANCE_KEEP", "1 hour"))

    def body(spark: SparkSession, _: Lineage) -> None:
        maintain_all(spark, CATALOG, keep)

    return body


def maintain_all(spark: SparkSession, catalog: str, keep: timedelta) -> None:
    """Maintains the tables of a catalog, one after the other, and says of each what was done.

    Raises:
        JobError: there are tables, and nothing could be done for any.
    """
    found = list(maintenance.tables(spark, catalog))
    done = [_maintained(spark, table, keep) for table in found]
    log.info("%d of %d tables of catalog %s are maintained", sum(done), len(found), catalog)
    if found and not any(done):
        raise JobError(
            f"could not maintain any of the {len(found)} tables of catalog {catalog!r}: see above why. Check that the "
            "catalog and the object store run"
        )


def _maintained(spark: SparkSession, table: maintenance.Table, keep: timedelta) -> bool:
    try:
        outcome = maintenance.maintain(spark, table, keep)
    except (Py4JJavaError, PySparkException) as error:
        log.warning("%s cannot be read, and is left to the next time: %s", table, root_cause(error))
        return False
    log.info("%s", outcome)
    return not outcome.is_all_failed


if __name__ == "__main__":
    raise SystemExit(main())
