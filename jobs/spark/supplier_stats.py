# SPDX-License-Identifier: Apache-2.0
"""Batch job: totals of orders by supplier. `python -m jobs.spark.supplier_stats [--source T] [--target T]`.

It overwrites the partitions of all days with orders in the source, and is idempotent.

Environment: `LINEAGE_URL` (optional), and that of `jobs.spark.runtime`.
"""

import argparse
from dataclasses import dataclass

from pyspark.sql import SparkSession

from infra.namespaces import JOB_SUPPLIER_STATS, TABLE_ORDERS, TABLE_SUPPLIER_STATS, qualified_table_name
from jobs.spark import runtime, tables
from jobs.spark.tables import Table
from jobs.spark.transformations.supplier_totals import supplier_totals
from lineagelab_spark import Lineage


@dataclass(frozen=True)
class Arguments:
    """Command line arguments: tables as `catalog.namespace.table`."""

    source: str
    target: str


def parse(argv: list[str] | None = None) -> Arguments:
    """Parse the command line; exit with a usage message if it is invalid."""
    parser = argparse.ArgumentParser(prog="jobs.spark.supplier_stats", description=__doc__)
    parser.add_argument("--source", default=qualified_table_name(TABLE_ORDERS), metavar="TABLE")
    parser.add_argument("--target", default=qualified_table_name(TABLE_SUPPLIER_STATS), metavar="TABLE")
    given = parser.parse_args(argv)
    return Arguments(given.source, given.target)


def load(spark: SparkSession, source: str, target: Table) -> None:
    """Write the totals of every day with orders in the source."""
    tables.overwrite_partitions(supplier_totals(spark.table(source)), target)


def main(argv: list[str] | None = None) -> int:
    """Run the job; return the exit code of `jobs.spark.runtime.run`."""
    arguments = parse(argv)

    def body(spark: SparkSession, _: Lineage) -> None:
        target = tables.supplier_stats(arguments.target)
        target.create(spark)
        load(spark, arguments.source, target)

    return runtime.run(JOB_SUPPLIER_STATS, lambda: body)


if __name__ == "__main__":
    raise SystemExit(main())
