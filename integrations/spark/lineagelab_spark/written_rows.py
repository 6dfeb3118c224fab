# SPDX-License-Identifier: Apache-2.0
"""Rows and bytes that a batch write has added, from Iceberg's snapshot or from Spark's metrics."""

from lineagelab_spark.java import JavaObject, kind_of, option
from lineagelab_spark.write_events import Written


def rows_written(execution: JavaObject, iceberg: JavaObject | None, application: str, began: int) -> Written:
    """Return what an execution has added to its sink.

    Args:
        execution: ended `QueryExecution` of the write.
        iceberg: table that was written; None for other sinks.
        application: id of the Spark application, which Iceberg stores in snapshots.
        began: when the execution began, in milliseconds since 1970.
    """
    return _of_metrics(execution) if iceberg is None else _of_snapshot(iceberg, application, began)


def _of_snapshot(table: JavaObject, application: str, began: int) -> Written:
    """Read the current snapshot, if this application has committed it since the write began."""
    table.refresh()
    snapshot = table.currentSnapshot()
    if snapshot is None or int(snapshot.timestampMillis()) < began:
        return Written()
    summary = snapshot.summary()
    if summary.get("spark.app.id") != application:
        return Written()
    return Written(int(summary.get("added-records") or 0), int(summary.get("added-files-size") or 0))


def _of_metrics(execution: JavaObject) -> Written:
    plan = execution.executedPlan()
    if kind_of(plan) == "AdaptiveSparkPlanExec":
        plan = plan.executedPlan()
    metrics = plan.metrics()
    values = (option(metrics.get(name)) for name in ("numOutputRows", "numOutputBytes"))
    rows, size = (None if metric is None else int(metric.value()) for metric in values)
    return Written(rows, size)
