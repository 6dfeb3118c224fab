# SPDX-License-Identifier: Apache-2.0
"""Column lineage of PySpark jobs, derived from the analysed plans that run.

Batch jobs: every write that Spark runs is a run with its columns, without a call per write:

    lineage = observe(spark)

Beside OpenLineage's agent, which reports runs but neither the columns of a Kafka topic nor column lineage from them,
`SparkLineage.describe` adds an event with the column lineage of the same job.

Streaming jobs: the agent cannot be used (see `query`); this package reports runs and column lineage:

    lineage = QueryLineage(spark)
    query = lineage.to_table(frame.writeStream.queryName("orders").option(...), "lake.sales.orders")

All use `plan.derive`, a pure function of a plan's JSON.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineagelab_spark.batch_lineage import BatchLineage, observe
    from lineagelab_spark.classic_session import SparkConnectError
    from lineagelab_spark.configuration_error import ConfigurationError
    from lineagelab_spark.query import BatchOutputs, NoQueryLineage, QueryLineage
    from lineagelab_spark.report import Lineage, NoLineage, SparkLineage

__all__ = [
    "BatchLineage",
    "BatchOutputs",
    "ConfigurationError",
    "Lineage",
    "NoLineage",
    "NoQueryLineage",
    "QueryLineage",
    "SparkConnectError",
    "SparkLineage",
    "observe",
]

_MODULES = {
    **dict.fromkeys(("BatchLineage", "observe"), "lineagelab_spark.batch_lineage"),
    "ConfigurationError": "lineagelab_spark.configuration_error",
    "SparkConnectError": "lineagelab_spark.classic_session",
    **dict.fromkeys(("BatchOutputs", "NoQueryLineage", "QueryLineage"), "lineagelab_spark.query"),
    **dict.fromkeys(("Lineage", "NoLineage", "SparkLineage"), "lineagelab_spark.report"),
}


def __getattr__(name: str) -> object:
    """Import on first use: the launcher, which stays resident with each driver, must not import PySpark."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
