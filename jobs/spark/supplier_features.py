# SPDX-License-Identifier: Apache-2.0
"""Batch job: features of suppliers for the forecast of prices. `python -m jobs.spark.supplier_features`.

It computes the rows of all orders again, in one commit: an order that is late changes the rows after it. It is
idempotent.

Environment: `LINEAGE_URL` (optional), and that of `jobs.spark.runtime`.
"""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from infra.namespaces import JOB_SUPPLIER_FEATURES
from jobs.spark import runtime, tables
from jobs.spark.transformations.order_features import order_features
from lineagelab_spark import Lineage


def load(spark: SparkSession) -> None:
    """Write the features of all orders."""
    source, target = tables.orders(), tables.supplier_features()
    target.create(spark)
    # All partitions: a late order can move the last row of a day into the next one.
    spark.table(source.name).transform(order_features).writeTo(target.name).overwrite(F.lit(True))


def main() -> int:
    """Run the job; return the exit code of `jobs.spark.runtime.run`."""

    def body(spark: SparkSession, _: Lineage) -> None:
        load(spark)

    return runtime.run(JOB_SUPPLIER_FEATURES, lambda: body)


if __name__ == "__main__":
    raise SystemExit(main())
