# SPDX-License-Identifier: Apache-2.0
"""Rows, bytes and nulls that a batch write has added, from Iceberg's snapshot or from Spark's metrics."""

from dataclasses import replace

from lineagelab_spark.java import JavaObject, kind_of, option
from lineagelab_spark.null_counts import null_counts
from lineagelab_spark.write_events import Written


def rows_written(execution: JavaObject, iceberg: JavaObject | None, application: str, began: int) -> Written:
    """Return what an execution has added to its sink.

    Args:
        execution: ended `QueryExecution` of the write.
        iceberg: table that was written; None for other sinks.
        application: id of the Spark application, which Iceberg stores in snapshots.
        began: when the execution began, in milliseconds since 1970.
    """
    if iceberg is None:
        return _of_metrics(execution)
    iceberg.refresh()
    snapshot = _own_snapshot(iceberg, application, began)
    if snapshot is None:
        return Written()
    summary = snapshot.summary()
    rows, size = int(summary.get("added-records") or 0), int(summary.get("added-files-size") or 0)
    return Written(rows, size)


def with_nulls(written: Written, jvm: JavaObject, iceberg: JavaObject | None, application: str, began: int) -> Written:
    """Return what `rows_written` has returned with the nulls that were added, if the sink has metrics of them.

    Apart from it, because it reads files of the table: rows are known also where that fails.
    """
    if iceberg is None or not written.rows:
        return written
    snapshot = _own_snapshot(iceberg, application, began)
    return written if snapshot is None else replace(written, nulls=null_counts(jvm, iceberg, snapshot))


def written_snapshot(iceberg: JavaObject | None, application: str, began: int) -> tuple[int, int | None] | None:
    """Return id and total number of rows of the snapshot that a write has committed; None if there is none."""
    snapshot = None if iceberg is None else _own_snapshot(iceberg, application, began)
    if snapshot is None:
        return None
    total = snapshot.summary().get("total-records")
    return int(snapshot.snapshotId()), None if total is None else int(total)


def _own_snapshot(table: JavaObject, application: str, began: int) -> JavaObject | None:
    """Return the current snapshot, if this application has committed it since the write began."""
    snapshot = table.currentSnapshot()
    if snapshot is None or int(snapshot.timestampMillis()) < began:
        return None
    return snapshot if snapshot.summary().get("spark.app.id") == application else None


def _of_metrics(execution: JavaObject) -> Written:
    plan = execution.executedPlan()
    if kind_of(plan) == "AdaptiveSparkPlanExec":
        plan = plan.executedPlan()
    metrics = plan.metrics()
    values = (option(metrics.get(name)) for name in ("numOutputRows", "numOutputBytes"))
    rows, size = (None if metric is None else int(metric.value()) for metric in values)
    return Written(rows, size)
