# SPDX-License-Identifier: Apache-2.0
"""Batch job: orders with bids, supplier tier and price deviation.

`python -m jobs.spark.enriched_orders [--day DAY ...] [--all]`. By default it computes the days for which orders or bids
have arrived since its last run, so late data change the day to which they belong. `--day` or `--all` repeat days (a
backfill). Each day is one partition, and a run is one commit: the job is idempotent.

Environment: `LINEAGE_URL` (optional), and that of `jobs.spark.runtime`.
"""

import argparse
import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from infra.namespaces import JOB_ENRICHED_ORDERS, TABLE_RAW_BIDS, qualified_table_name
from jobs.spark import iceberg, runtime, tables
from jobs.spark.transformations.deviation import with_deviation
from jobs.spark.transformations.enrich import of_days, with_bids, with_tier
from jobs.spark.transformations.supplier_versions import supplier_versions
from lineagelab_spark import Lineage

log = logging.getLogger(JOB_ENRICHED_ORDERS)

BIDS = qualified_table_name(TABLE_RAW_BIDS)
READ = "enriched-orders.read."
"""Prefix of snapshot properties with the snapshot of each source that the job has read."""


@dataclass(frozen=True)
class Arguments:
    """Command line arguments: days to compute, and whether to compute all."""

    days: frozenset[date]
    is_all: bool


def parse(argv: list[str] | None = None) -> Arguments:
    """Parse the command line; exit with a usage message if it is invalid."""
    parser = argparse.ArgumentParser(prog="jobs.spark.enriched_orders", description=__doc__)
    parser.add_argument("--day", type=date.fromisoformat, action="append", default=[], metavar="YYYY-MM-DD")
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args(argv)
    return Arguments(frozenset(given.day), given.all)


def changed_days(spark: SparkSession, source: str, since: int | None, until: int) -> frozenset[date]:
    """Return the days of the rows that were appended to a table between two snapshots.

    All days are returned if an incremental read is impossible: the earlier snapshot is None or has expired, or rows
    were overwritten or deleted.
    """
    table = iceberg.load(spark, source)
    if since == until:
        return frozenset()
    is_incremental = since is not None and iceberg.has_only_appends(table, since)
    rows = iceberg.rows_at(spark, source, until, since if is_incremental else None)
    days = rows.select(F.to_date("bid_time").alias("day")).distinct().collect()
    return frozenset(row["day"] for row in days if row["day"] is not None)


def update_suppliers(orders: DataFrame, target: tables.Table) -> None:
    """Make the versions of suppliers those of the orders, by MERGE: unchanged versions are not rewritten."""
    old = target.name
    is_same = f"{old}.supplier = new.supplier AND {old}.valid_from = new.valid_from"
    has_changed = f"{old}.tier <> new.tier OR NOT {old}.valid_to <=> new.valid_to"
    (
        orders.transform(supplier_versions)
        .alias("new")
        .mergeInto(target.name, F.expr(is_same))
        .whenMatched(F.expr(has_changed))
        .updateAll()
        .whenNotMatched()
        .insertAll()
        .whenNotMatchedBySource()
        .delete()
        .merge()
    )


def enriched(orders: DataFrame, bids: DataFrame, versions: DataFrame, days: Collection[date]) -> DataFrame:
    """Return the orders of the given days with their bids, the tier of their supplier and price deviation."""
    columns = tables.enriched_orders().columns.fieldNames()
    found = orders.transform(of_days, days).transform(with_bids, bids).transform(with_tier, versions)
    return found.transform(with_deviation).select(*columns)


def load(spark: SparkSession, arguments: Arguments) -> None:
    """Compute the days that have changed, or those of the arguments."""
    orders, suppliers, target = tables.orders(), tables.suppliers(), tables.enriched_orders()
    for table in (suppliers, target):
        table.create(spark)
    now = {name: iceberg.current_snapshot_id(iceberg.load(spark, name)) for name in (orders.name, BIDS)}
    last = _last_read(spark, target.name)
    days = set(arguments.days)
    if not days:
        for name, snapshot in now.items():
            since = None if arguments.is_all else last.get(name)
            days |= changed_days(spark, name, since, snapshot) if snapshot is not None else frozenset()
    if not days:
        log.info("no orders and no bids since the last run")
        return
    current = _at(spark, orders.name, now[orders.name])
    update_suppliers(current, suppliers)
    rows = enriched(current, _at(spark, BIDS, now[BIDS]), spark.table(suppliers.name), days)
    # A backfill of single days does not advance the position: the other days are still to be computed.
    position = last if arguments.days else {name: number for name, number in now.items() if number is not None}
    options = {f"{iceberg.SNAPSHOT_PROPERTY}{READ}{name}": str(number) for name, number in position.items()}
    rows.writeTo(target.name).options(**options).overwritePartitions()
    log.info("%d days computed, from %s to %s", len(days), min(days), max(days))


def _at(spark: SparkSession, table: str, snapshot: int | None) -> DataFrame:
    """Return a table as of a snapshot, so that rows committed meanwhile are left to the next run."""
    return spark.table(table) if snapshot is None else iceberg.rows_at(spark, table, snapshot)


def _last_read(spark: SparkSession, target: str) -> Mapping[str, int]:
    """Return the snapshot of each source as of the last run; empty before the first one."""
    for snapshot in iceberg.history(iceberg.load(spark, target)):
        summary = dict(snapshot.summary())
        found = {name.removeprefix(READ): int(value) for name, value in summary.items() if name.startswith(READ)}
        if found:
            return found
    return {}


def main(argv: list[str] | None = None) -> int:
    """Run the job; return the exit code of `jobs.spark.runtime.run`."""
    arguments = parse(argv)

    def body(spark: SparkSession, _: Lineage) -> None:
        load(spark, arguments)

    return runtime.run(JOB_ENRICHED_ORDERS, lambda: body)


if __name__ == "__main__":
    raise SystemExit(main())
