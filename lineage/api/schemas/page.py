# SPDX-License-Identifier: Apache-2.0
"""Responses that the lineage page reads."""

from typing import Literal

from lineage.api.schemas.base import NodeName, ResponseModel


class ParentRun(NodeName):
    """Run that another one belongs to."""

    run: str


class FailedCheck(NodeName):
    """Data quality assertion about a dataset that failed in the latest run of a job."""

    assertion: str | None
    column: str | None


class JobSummary(NodeName):
    """One line about a job; `inputs` and `outputs` are indexes into `datasets`."""

    engine: str | None
    processing: str | None
    state: str | None
    stale: bool
    runs: int
    run: str | None
    parent: ParentRun | None
    failed_checks: list[FailedCheck]
    started_at: str | None
    ended_at: str | None
    ended_because: str | None
    updated_at: str
    tags: list[str]
    owners: list[str]
    description: str | None
    inputs: list[int]
    outputs: list[int]
    upstream_jobs: list[NodeName]
    downstream_jobs: list[NodeName]


class DatasetAlias(ResponseModel):
    """Other name of a dataset."""

    namespace: str | None
    name: str
    type: str | None


class DatasetSummary(NodeName):
    """One line about a dataset; `columns` is their number, `masked` the columns filled with masked values."""

    updated_at: str
    tags: list[str]
    column_tags: dict[str, list[str]]
    owners: list[str]
    description: str | None
    columns: int
    masked: list[str]
    storage: str | None
    symlinks: list[DatasetAlias]


class Summaries(ResponseModel):
    """All jobs and datasets, sorted by name."""

    jobs: list[JobSummary]
    datasets: list[DatasetSummary]


class AlertSubject(NodeName):
    """Job or dataset that an alert is about."""

    type: Literal["JOB", "DATASET"]


class Alert(ResponseModel):
    """Something that is wrong; the id is the same for the same occurrence."""

    id: str
    kind: str
    subject: AlertSubject | None
    text: str
    since: str | None


class WebhookState(ResponseModel):
    """Delivery to a webhook; `delivered` and `given_up` are counted since the start."""

    name: str
    delivered: int
    given_up: int
    waiting: int
    last_error: str | None


class Alerts(ResponseModel):
    """Current alerts, and the state of the webhooks."""

    alerts: list[Alert]
    webhooks: list[WebhookState]


class RetypedColumn(ResponseModel):
    """Column whose type changed."""

    column: str
    before: str
    after: str


class SchemaBreak(NodeName):
    """Dataset whose last schema change removed or retyped columns; `run` of `job` reported it first."""

    since: str
    run: str
    job: NodeName
    removed: list[str]
    retyped: list[RetypedColumn]


class SchemaBreaks(ResponseModel):
    """Schema changes that can break readers."""

    breaks: list[SchemaBreak]


class Write(ResponseModel):
    """One write to a dataset; counts are null if the emitter reports none."""

    job: str
    run: str
    event_time: str
    row_count: int | None
    size: int | None
    file_count: int | None


class QualityCheck(ResponseModel):
    """Result of one data quality assertion."""

    job: str
    run: str
    event_time: str
    assertion: str | None
    column: str | None
    success: bool | None


class DatasetActivity(ResponseModel):
    """Writes and quality checks of a dataset among the latest `scanned` events, newest first."""

    writes: list[Write]
    quality: list[QualityCheck]
    scanned: int


class IngestSample(ResponseModel):
    """Events of one interval and their longest lag from event time to the graph; null without events."""

    start: str
    events: int
    lag_seconds: float | None


class IngestFlow(ResponseModel):
    """Ingest of the last half hour in intervals of `stepSeconds`, oldest first; the last one is not complete."""

    step_seconds: int
    most_samples: int
    samples: list[IngestSample]


class LabServiceState(ResponseModel):
    """One service of the lab and the result of its last probe."""

    name: str
    title: str
    ui: str | None
    address: str
    state: Literal["up", "down"]
    answer: str
    milliseconds: float


class LabOverview(ResponseModel):
    """Services of the lab; name null and no services outside a lab."""

    name: str | None
    services: list[LabServiceState]


class ContractFinding(ResponseModel):
    """One deviation of the graph from the lineage contract."""

    kind: str
    subject: str
    job: str
    text: str
    expected: str
    found: str


class ContractReport(ResponseModel):
    """Comparison of the graph with the lineage contract."""

    ok: bool
    namespace: str
    jobs: list[str]
    datasets: list[str]
    findings: list[ContractFinding]
    unlisted: list[ContractFinding]
