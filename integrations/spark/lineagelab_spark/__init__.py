# SPDX-License-Identifier: Apache-2.0
"""Lineage of PySpark jobs, down to columns, read from the plans that run.

Batch jobs: OpenLineage's agent reports runs, statistics and table versions, but neither the columns of a Kafka topic
nor column lineage from them: it stops at the binary `value`. So the agent keeps the runs and this package says what
the columns are made of, in an event for the same job. Two lines:

    lineage = SparkLineage(spark, namespace, url)
    lineage.describe(frame, "lake.sales.orders", "append_data")

Streaming jobs: the agent is of no use (see `query`), and this package says all of it. Two lines:

    lineage = QueryLineage(spark, namespace, url)
    query = lineage.to_table(frame.writeStream.queryName("orders").option(...), "lake.sales.orders")

`plan.derive` is a pure function of a plan's JSON and serves both.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineagelab_spark.query import BatchOutputs, NoQueryLineage, QueryLineage
    from lineagelab_spark.report import Lineage, NoLineage, SparkLineage

__all__ = ["BatchOutputs", "Lineage", "NoLineage", "NoQueryLineage", "QueryLineage", "SparkLineage"]

_MODULES = {
    **dict.fromkeys(("BatchOutputs", "NoQueryLineage", "QueryLineage"), "lineagelab_spark.query"),
    **dict.fromkeys(("Lineage", "NoLineage", "SparkLineage"), "lineagelab_spark.report"),
}


def __getattr__(name: str) -> object:
    """Import on first use: the launcher, which stays beside each driver, does without PySpark."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
