# SPDX-License-Identifier: Apache-2.0
"""Orders in the lake to totals of suppliers: `python -m jobs.spark.supplier_stats [--source T] [--target T]`.

Only the days that the source has orders of are written, each as a whole: a second run changes nothing.

Environment: `LINEAGE_URL` (optional), and what `jobs.spark.runtime` names.
"""

import argparse
from dataclasses import dataclass

from pyspark.sql import SparkSession

from infra.namespaces import JOB_SUPPLIER_STATS, TABLE_ORDERS, TABLE_SUPPLIER_STATS, catalog_name
from jobs.spark import runtime, tables
from jobs.spark.tables import Table
from jobs.spark.transformations.supplier_totals import supplier_totals
from lineagelab_spark import Lineage


@dataclass(frozen=True)
class Arguments:
    """The command line, typed: tables as `catalog.namespace.table`."""

    source: str
    target: str


def parse(argv: list[str] | None = None) -> Arguments:
    """Reads the command line; ends the process with a usage message where it makes no sense."""
    parser = argparse.ArgumentParser(prog="jobs.spark.supplier_stats", description=__doc__)
    parser.add_argument("--source", default=catalog_name(TABLE_ORDERS), metavar="TABLE")
    parser.add_argument("--target", default=catalog_name(TABLE_SUPPLIER_STATS), metavar="TABLE")
    given = parser.parse_args(argv)
    return Arguments(given.source, given.target)


def load(spark: SparkSession, source: str, target: Table, lineage: Lineage) -> None:
    """Writes the totals of every day that the source has orders of."""
    tables.overwrite_partitions(supplier_totals(spark.table(source)), target, lineage)


def main(argv: list[str] | None = None) -> int:
    """Runs the job; the exit code is `jobs.spark.runtime.run`'s."""
    arguments = parse(argv)

    def body(spark: SparkSession, lineage: Lineage) -> None:
        target = tables.supplier_stats(arguments.target)
        target.create(spark)
        load(spark, arguments.source, target, lineage)

    return runtime.run(JOB_SUPPLIER_STATS, lambda: body)


if __name__ == "__main__":
    raise SystemExit(main())
