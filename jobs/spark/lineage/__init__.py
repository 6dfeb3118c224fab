# SPDX-License-Identifier: Apache-2.0
"""Column lineage of PySpark frames, read from their analysed plans.

OpenLineage's agent reports runs, statistics and table versions, but neither the columns of a Kafka topic nor
column lineage from them: it stops at the binary `value`. So the agent keeps the runs and this package says what
the columns are made of, in an event for the same job. Two lines:

    lineage = SparkLineage(spark, namespace, url)
    lineage.describe(frame, "lake.sales.orders", "append_data")

`plan.derive` is a pure function of a plan's JSON and serves streaming frames as well.
"""

from jobs.spark.lineage.report import Lineage, NoLineage, SparkLineage

__all__ = ["Lineage", "NoLineage", "SparkLineage"]
