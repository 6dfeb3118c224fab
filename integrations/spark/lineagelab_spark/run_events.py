# SPDX-License-Identifier: Apache-2.0
"""Events of the runs of streaming queries: a description, statistics and an end make an event. Pure."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

import attr
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    JobFacet,
    RunFacet,
    error_message_run,
    input_statistics_input_dataset,
    job_type_job,
    output_statistics_output_dataset,
    parent_run,
    processing_engine_run,
)

from lineagelab_spark import events
from lineagelab_spark.datasets import Dataset
from lineagelab_spark.description import Description
from lineagelab_spark.lifecycle import EventType
from lineagelab_spark.progress import Window

MOST_CHARACTERS = 20_000
"""Of an error message, and of a stack trace: Spark quotes plans in them."""


@dataclass(frozen=True)
class Parent:
    """The run that this one belongs to."""

    namespace: str
    name: str
    run_id: str


@dataclass(frozen=True)
class QueryRun:
    """One start of a query.

    Attributes:
        interval: seconds between RUNNING events.
    """

    namespace: str
    job: str
    run_id: str
    interval: float
    spark_version: str
    parent: Parent | None = None


@dataclass(frozen=True)
class Statistics:
    """What a run did since its last event.

    Attributes:
        seconds: the length of the window.
        read, written: rows by dataset, of those where it is known.
    """

    window: Window
    seconds: float
    read: Mapping[Dataset, int] = field(default_factory=dict)
    written: Mapping[Dataset, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Failure:
    """Why a query has failed. `language` is that of the stack trace."""

    message: str
    language: str
    stack_trace: str


@attr.define
class StreamingWindowRunFacet(RunFacet):
    """The micro-batches since the run's last event. A facet of the lab's own."""

    windowSeconds: float
    batches: int
    inputRows: int
    processedRowsPerSecond: float | None = None
    averageBatchMilliseconds: float | None = None
    longestBatchMilliseconds: int | None = None
    lastBatchId: int | None = None
    offsetsBehindLatest: int | None = None

    @staticmethod
    def _get_schema() -> str:
        return "urn:lineage-lab:schemas:StreamingWindowRunFacet:1"


WINDOW_FACET = "lineageLab_streamingWindow"


def parent_of(text: str) -> Parent | None:
    """The parent run in `OPENLINEAGE_PARENT_ID`, `namespace/name/runId`; None for an empty text.

    Raises:
        ValueError: it names none. Names may have slashes; what is before the first one is the namespace.
    """
    if not text:
        return None
    before, _, run_id = text.rpartition("/")
    namespace, _, name = before.partition("/")
    try:
        UUID(run_id)
    except ValueError as error:
        raise ValueError(f"{text!r} is no parent run: expected namespace/name/runId, runId being a UUID") from error
    if not namespace or not name:
        raise ValueError(f"{text!r} is no parent run: expected namespace/name/runId")
    return Parent(namespace, name, run_id)


def event(
    run: QueryRun,
    event_type: EventType,
    when: datetime,
    description: Description,
    *,
    with_pairs: bool,
    statistics: Statistics | None = None,
    failure: Failure | None = None,
) -> RunEvent:
    """One event, full in itself.

    Args:
        run: whose it is.
        event_type: what has happened.
        when: with a zone.
        description: all that the run has read and written.
        with_pairs: whether to say which input reaches which output.
        statistics: of the window that ends with this event.
        failure: for FAIL.
    """
    described = events.datasets(description)
    return RunEvent(
        eventType=RunState(event_type.value),
        eventTime=when.astimezone(UTC).isoformat(timespec="milliseconds"),
        run=Run(run.run_id, _run_facets(run, statistics, failure)),
        job=Job(run.namespace, run.job, _job_facets(run, description, with_pairs)),
        inputs=[_with_rows_read(dataset, statistics) for dataset in described.inputs],
        outputs=[_with_rows_written(dataset, statistics) for dataset in described.outputs],
    )


def _job_facets(run: QueryRun, description: Description, with_pairs: bool) -> dict[str, JobFacet]:
    pattern = job_type_job.EmissionPattern("PERIODIC", "COMPLETE_SNAPSHOT", max(1, math.ceil(run.interval)))
    facets: dict[str, JobFacet] = {
        "jobType": job_type_job.JobTypeJobFacet("STREAMING", events.INTEGRATION, events.JOB_TYPE, pattern)
    }
    if with_pairs:
        facets["lineage"] = events.pairs(description)
    return facets


def _run_facets(run: QueryRun, statistics: Statistics | None, failure: Failure | None) -> dict[str, RunFacet]:
    facets: dict[str, RunFacet] = {
        "processing_engine": processing_engine_run.ProcessingEngineRunFacet(run.spark_version, "spark")
    }
    if run.parent is not None:
        facets["parent"] = parent_run.ParentRunFacet(
            run=parent_run.Run(run.parent.run_id), job=parent_run.Job(run.parent.namespace, run.parent.name)
        )
    if statistics is not None:
        facets[WINDOW_FACET] = _window_facet(statistics)
    if failure is not None:
        facets["errorMessage"] = error_message_run.ErrorMessageRunFacet(
            failure.message[:MOST_CHARACTERS], failure.language, failure.stack_trace[:MOST_CHARACTERS] or None
        )
    return facets


def _window_facet(statistics: Statistics) -> StreamingWindowRunFacet:
    window = statistics.window
    return StreamingWindowRunFacet(
        windowSeconds=round(statistics.seconds, 3),
        batches=window.batches,
        inputRows=window.rows,
        processedRowsPerSecond=round(1000 * window.rows / window.milliseconds, 1) if window.milliseconds else None,
        averageBatchMilliseconds=round(window.milliseconds / window.batches, 1) if window.batches else None,
        longestBatchMilliseconds=window.longest if window.batches else None,
        lastBatchId=window.last_batch,
        offsetsBehindLatest=window.behind,
    )


def _with_rows_read(dataset: InputDataset, statistics: Statistics | None) -> InputDataset:
    rows = statistics.read.get(Dataset(dataset.namespace, dataset.name)) if statistics else None
    if rows is not None:
        facet = input_statistics_input_dataset.InputStatisticsInputDatasetFacet(rowCount=rows)
        dataset.inputFacets = {"inputStatistics": facet}
    return dataset


def _with_rows_written(dataset: OutputDataset, statistics: Statistics | None) -> OutputDataset:
    rows = statistics.written.get(Dataset(dataset.namespace, dataset.name)) if statistics else None
    if rows is not None:
        facet = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(rowCount=rows)
        dataset.outputFacets = {"outputStatistics": facet}
    return dataset
