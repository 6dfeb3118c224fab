# SPDX-License-Identifier: Apache-2.0
"""Runs that profile the tables that a driver has written, after its last write."""

import time
from dataclasses import dataclass

from pyspark.sql import SparkSession

from lineagelab_common.events import Json, dataset_json
from lineagelab_common.identifiers import new_run_id, timestamp
from lineagelab_common.table_profile import TableProfile, profile_job
from lineagelab_spark.datasets import Dataset
from lineagelab_spark.deduplicated_warnings import DeduplicatedWarnings
from lineagelab_spark.driver_settings import PROFILE_ROWS, DriverSettings
from lineagelab_spark.events import INTEGRATION
from lineagelab_spark.lifecycle import EventType
from lineagelab_spark.producer import WRITER
from lineagelab_spark.runs import Failure, SparkRun, run_facets
from lineagelab_spark.snapshot_profile import profile_frame


@dataclass(frozen=True)
class WrittenSnapshot:
    """Snapshot of an Iceberg table that the driver has committed.

    Attributes:
        table: name in SQL.
        rows: number of rows of the whole table; None if the snapshot does not say.
    """

    table: str
    dataset: Dataset
    identity: int
    rows: int | None


def report_profile(
    spark: SparkSession, settings: DriverSettings, snapshot: WrittenSnapshot, warnings: DeduplicatedWarnings
) -> None:
    """Profile one snapshot, unless its table is too large, and report that as a run. Never raises for a failed query.

    Values are not reported: nobody has looked whether they are personal data.
    """
    if snapshot.rows is None or snapshot.rows > settings.profile_rows:
        size = "an unknown number of" if snapshot.rows is None else str(snapshot.rows)
        warnings.warn(
            f"{snapshot.table} is not profiled: it has {size} rows, {PROFILE_ROWS} is {settings.profile_rows}"
        )
        return
    if not spark.catalog.tableExists(snapshot.table):
        return  # the driver has dropped it since
    run = SparkRun(
        namespace=settings.namespace,
        job=profile_job(snapshot.table),
        run_id=new_run_id(),
        spark_version=settings.spark_version,
        parent=settings.parent,
    )
    start = event(run, EventType.START, snapshot.dataset)
    settings.open_runs.store(start)
    settings.spool.add(start)
    failure, profile = None, None
    try:
        frame = spark.read.option("versionAsOf", snapshot.identity).table(snapshot.table)
        profile = profile_frame(frame, snapshot.table)
    except Exception as error:
        warnings.warn(f"{snapshot.table} cannot be profiled: {error}")
        failure = Failure(str(error), "PYTHON", "")
    end = EventType.COMPLETE if failure is None else EventType.FAIL
    ended = event(run, end, snapshot.dataset, profile, failure)
    settings.open_runs.store_terminal_event(ended)
    settings.spool.add(ended, lambda: settings.open_runs.remove(run.run_id))


def event(
    run: SparkRun,
    event_type: EventType,
    dataset: Dataset,
    profile: TableProfile | None = None,
    failure: Failure | None = None,
) -> Json:
    """Return an event of a run that profiles a table; it has an input and no output."""
    table = dataset_json(dataset, {})
    if profile is not None:
        table["inputFacets"] = profile.facets(WRITER, with_values=False)
    job_type = WRITER.facet("jobType", processingType="BATCH", integration=INTEGRATION, jobType="PROFILE")
    return WRITER.run_event(
        event_type.value,
        timestamp(time.time_ns() // 1_000_000),
        {"runId": run.run_id, "facets": run_facets(run, failure)},
        {"namespace": run.namespace, "name": run.job, "facets": {"jobType": job_type}},
        [table],
        [],
    )
