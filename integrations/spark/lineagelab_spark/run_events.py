# SPDX-License-Identifier: Apache-2.0
"""OpenLineage run events of streaming queries. Pure."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from lineagelab_common.events import Json
from lineagelab_common.identifiers import ParentRun, timestamp
from lineagelab_spark import events
from lineagelab_spark.datasets import Dataset
from lineagelab_spark.description import Description
from lineagelab_spark.lifecycle import EventType
from lineagelab_spark.producer import WRITER
from lineagelab_spark.progress import Window


@dataclass(frozen=True, kw_only=True)
class QueryRun:
    """Run of a query, from one start to its end.

    Attributes:
        interval: seconds between RUNNING events.
    """

    namespace: str
    job: str
    run_id: str
    interval: float
    spark_version: str
    parent: ParentRun | None = None


@dataclass(frozen=True)
class Statistics:
    """Statistics of a run since its last event.

    Attributes:
        seconds: duration of the window.
        read, written: rows by dataset, where known.
    """

    window: Window
    seconds: float
    read: Mapping[Dataset, int] = field(default_factory=dict)
    written: Mapping[Dataset, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Failure:
    """Cause of a query's failure. `language` is that of the stack trace."""

    message: str
    language: str
    stack_trace: str


WINDOW_FACET = "lineageLab_streamingWindow"
"""Custom run facet: the micro-batches since the run's last event."""


def event(
    run: QueryRun,
    event_type: EventType,
    when: datetime,
    description: Description,
    *,
    with_pairs: bool,
    statistics: Statistics | None = None,
    failure: Failure | None = None,
) -> Json:
    """Return a run event with complete inputs and outputs.

    Args:
        run: run of the event.
        event_type: type of the event.
        when: event time, with a time zone.
        description: inputs and outputs of the run so far.
        with_pairs: add the job facet with the inputs of each output.
        statistics: statistics of the window that ends with this event.
        failure: cause, for FAIL.
    """
    run_json = {"runId": run.run_id, "facets": _run_facets(run, statistics, failure)}
    job = {"namespace": run.namespace, "name": run.job, "facets": _job_facets(run, description, with_pairs)}
    described = events.datasets(description)
    return WRITER.run_event(
        event_type.value,
        timestamp(int(when.timestamp() * 1000)),
        run_json,
        job,
        [_with_rows_read(dataset, statistics) for dataset in described.inputs],
        [_with_rows_written(dataset, statistics) for dataset in described.outputs],
    )


def _job_facets(run: QueryRun, description: Description, with_pairs: bool) -> Json:
    facets = {
        "jobType": WRITER.facet(
            "jobType",
            processingType="STREAMING",
            integration=events.INTEGRATION,
            jobType=events.JOB_TYPE,
            emissionPattern={
                "eventTrigger": "PERIODIC",
                "eventContentMode": "COMPLETE_SNAPSHOT",
                "windowDuration": max(1, math.ceil(run.interval)),
            },
        )
    }
    if with_pairs:
        facets["lineage"] = events.job_lineage(description)
    return facets


def _run_facets(run: QueryRun, statistics: Statistics | None, failure: Failure | None) -> Json:
    facets = {"processing_engine": WRITER.facet("processing_engine", version=run.spark_version, name="spark")}
    if run.parent is not None:
        facets["parent"] = WRITER.parent(run.parent.namespace, run.parent.job, run.parent.run_id)
    if statistics is not None:
        facets[WINDOW_FACET] = _window_facet(statistics)
    if failure is not None:
        facets["errorMessage"] = WRITER.error(failure.message, failure.language, failure.stack_trace)
    return facets


def _window_facet(statistics: Statistics) -> Json:
    window = statistics.window
    return WRITER.facet(
        "urn:lineage-lab:schemas:StreamingWindowRunFacet:1",
        windowSeconds=round(statistics.seconds, 3),
        batches=window.batches,
        inputRows=window.rows,
        processedRowsPerSecond=round(1000 * window.rows / window.milliseconds, 1) if window.milliseconds else None,
        averageBatchMilliseconds=round(window.milliseconds / window.batches, 1) if window.batches else None,
        longestBatchMilliseconds=window.longest if window.batches else None,
        lastBatchId=window.last_batch,
        offsetsBehindLatest=window.behind,
    )


def _with_rows_read(dataset: Json, statistics: Statistics | None) -> Json:
    rows = statistics.read.get(Dataset(dataset["namespace"], dataset["name"])) if statistics else None
    if rows is None:
        return dataset
    return {**dataset, "inputFacets": {"inputStatistics": WRITER.facet("inputStatistics", rowCount=rows)}}


def _with_rows_written(dataset: Json, statistics: Statistics | None) -> Json:
    rows = statistics.written.get(Dataset(dataset["namespace"], dataset["name"])) if statistics else None
    if rows is None:
        return dataset
    return {**dataset, "outputFacets": {"outputStatistics": WRITER.facet("outputStatistics", rowCount=rows)}}
