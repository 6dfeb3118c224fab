# SPDX-License-Identifier: Apache-2.0
"""OpenLineage run events of streaming queries. Pure."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from lineagelab_common.events import Json
from lineagelab_common.identifiers import timestamp
from lineagelab_spark import events
from lineagelab_spark.datasets import Dataset
from lineagelab_spark.description import Description
from lineagelab_spark.lifecycle import EventType
from lineagelab_spark.producer import WRITER
from lineagelab_spark.progress import Window
from lineagelab_spark.runs import Failure, SparkRun, run_facets


@dataclass(frozen=True, kw_only=True)
class QueryRun(SparkRun):
    """Run of a query, from one start to its end.

    Attributes:
        interval: seconds between RUNNING events.
    """

    interval: float


@dataclass(frozen=True)
class Statistics:
    """Statistics of a run since its last event.

    Attributes:
        seconds: duration of the window.
        read, written: rows by dataset, where known.
        nulls: by written dataset and column, where known.
    """

    window: Window
    seconds: float
    read: Mapping[Dataset, int] = field(default_factory=dict)
    written: Mapping[Dataset, int] = field(default_factory=dict)
    nulls: Mapping[Dataset, Mapping[str, int]] = field(default_factory=dict)


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
    emission = {
        "eventTrigger": "PERIODIC",
        "eventContentMode": "COMPLETE_SNAPSHOT",
        "windowDuration": max(1, math.ceil(run.interval)),
    }
    facets = {"jobType": events.job_type("STREAMING", emissionPattern=emission)}
    if with_pairs:
        facets["lineage"] = events.job_lineage(description)
    return facets


def _run_facets(run: QueryRun, statistics: Statistics | None, failure: Failure | None) -> Json:
    facets = run_facets(run, failure)
    if statistics is not None:
        facets[WINDOW_FACET] = _window_facet(statistics)
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
    if statistics is None:
        return dataset
    identity = Dataset(dataset["namespace"], dataset["name"])
    return events.with_output_statistics(
        dataset, statistics.written.get(identity), nulls=statistics.nulls.get(identity)
    )
