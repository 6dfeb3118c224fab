# SPDX-License-Identifier: Apache-2.0
"""Routes of the lineage page: summaries, dataset activity, ingest rate, lab services, contract."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, TypeVar

from fastapi import APIRouter, Query, Request, Response

from lineage.alerts.outbox import OutboxError
from lineage.alerts.watch import Watch
from lineage.api.alerts import contract_report, node_alerts
from lineage.api.dataset_activity import transfers
from lineage.api.dependencies import DatasetDep, ServiceDep, current_graph, derived
from lineage.api.errors import ApiError
from lineage.api.lab import Lab, states
from lineage.api.responses import json_response
from lineage.api.schemas import page
from lineage.api.time_slices import in_slices, run_cooperatively, sorted_in_slices
from lineage.checks.contract import ContractError
from lineage.events import DatasetId, EventError, JobId, JsonObject, canonical_json
from lineage.events.ids import identity_json
from lineage.events.timestamps import format_time
from lineage.graph import Graph
from lineage.graph.schema_breaks import SchemaBreaks
from lineage.graph.summary_rows import SummaryRows
from lineage.metrics.ingest_metrics import SAMPLES, STEP
from lineage.rules.event_reader import EventReader
from lineage.service import Service
from lineage.store.rows import StoredEvent

router = APIRouter(prefix="/api/v1")

_Name = TypeVar("_Name", DatasetId, JobId)

_ROWS_PER_SLICE = 500
"""Rows put together between two yields to the event loop: some milliseconds."""

NO_CONTRACT = "the service was started without a lineage contract (--lab)"

_MAX_SCANNED_EVENTS = 2_000
"""Latest events that are scanned for writes of one dataset."""


@router.get("/summaries", response_model=page.Summaries)
async def summaries(request: Request, service: ServiceDep) -> Response:
    """Return a summary of each job and dataset, sorted, with the edges between them.

    `{"jobs": [...], "datasets": [...]}`.
    """
    rows, graph = await _summary_rows(request, service)
    now = time.time_ns()
    # Sorted by name, not by arrival, so that equal graphs have equal drawings.
    described = dict(rows.datasets)  # events may arrive from here on
    datasets = [name async for part in _sorted(described) for name in part]
    places = {name: place for place, name in enumerate(datasets)}
    masked: dict[DatasetId, set[str]] = {}
    jobs: list[bytes] = []
    async for part in _sorted(graph.job_lineages):
        for job in part:
            view = graph.lineage_of(job)
            for dataset, field in view.masked:
                masked.setdefault(dataset, set()).add(field)
            if (members := rows.job(job, graph, now)) is not None:
                jobs.append(b"{%b,%b}" % (members, _job_edges(graph, job, places)))
    encoded = [
        b'{%b,"masked":%b}' % (described[name], canonical_json(sorted(masked.get(name, ()))))
        async for names in in_slices(datasets, _ROWS_PER_SLICE)
        for name in names
    ]
    content = b'{"datasets":[%b],"jobs":[%b]}' % (b",".join(encoded), b",".join(jobs))
    return Response(content, media_type="application/json")


async def _summary_rows(request: Request, service: Service) -> tuple[SummaryRows, Graph]:
    """Return encoded summaries and the graph, up to date. Rows are kept until the service replaces its records."""
    while True:
        graph = await current_graph(service)
        rows: SummaryRows | None = getattr(request.app.state, "summary_rows", None)
        if rows is None or rows.lineage is not service.lineage:
            rows = request.app.state.summary_rows = SummaryRows(service.lineage)
        await run_cooperatively(rows.steps(graph))
        # A rebuild may have replaced the records in between.
        if rows.lineage is service.lineage and graph is service.graph:
            return rows, graph


@router.get("/schema-breaks", response_model=page.SchemaBreaks)
async def schema_breaks(request: Request, service: ServiceDep) -> Response:
    """Return the datasets whose last schema change removed or retyped columns, as one job reported it, by name.

    `{"breaks": [{"namespace", "name", "since", "run", "job", "removed", "retyped": [{"column", "before", "after"}]}]}`.
    """
    found = await derived(request.app.state, service, SchemaBreaks)
    return json_response({"breaks": found.rows()})


async def _sorted(names: Iterable[_Name]) -> AsyncIterator[Sequence[_Name]]:
    async for part in in_slices(await sorted_in_slices(list(names), tuple), _ROWS_PER_SLICE):
        yield part


def _job_edges(graph: Graph, job: JobId, places: Mapping[DatasetId, int]) -> bytes:
    """Return the members of a summary that are edges: indexes from `places`, and identities of jobs."""
    view = graph.lineage_of(job)
    edges = {
        "inputs": sorted(places[dataset] for dataset in view.inputs if dataset in places),
        "outputs": sorted(places[dataset] for dataset in view.outputs if dataset in places),
        "upstreamJobs": [identity_json(other) for other in sorted(graph.upstream_jobs(job))],
        "downstreamJobs": [identity_json(other) for other in sorted(graph.downstream_jobs(job))],
    }
    return canonical_json(edges)[1:-1]


@router.get("/alerts", response_model=page.Alerts)
async def alerts(request: Request, service: ServiceDep) -> Response:
    """Return what is wrong now, and the state of the webhooks.

    `{"alerts": [{"id", "kind", "subject": {"type", "namespace", "name"} | null, "text", "since"}],
    "webhooks": [{"name", "delivered", "givenUp", "waiting", "lastError"}]}`. Differences from the contract are in
    `/contract`.
    """
    found = await node_alerts(request.app.state, service, time.time_ns())
    watch: Watch | None = request.app.state.watch
    try:
        webhooks = [] if watch is None else await watch.status()
    except OutboxError as error:
        raise ApiError(503, "webhooks_unusable", str(error)) from error
    return json_response({"alerts": [alert.to_json() for alert in found], "webhooks": webhooks})


@router.get("/namespaces/{namespace:path}/datasets/{dataset:path}/activity", response_model=page.DatasetActivity)
async def activity(
    service: ServiceDep, dataset: DatasetDep, limit: Annotated[int, Query(ge=1, le=1000)] = 50
) -> Response:
    """Return writes and data quality checks of a dataset among the latest events.

    `{"writes": [{"job", "run", "eventTime", "rowCount", "size", "fileCount"}], "quality": [{"assertion", "column",
    "success", "job", "eventTime"}], "scanned"}`, newest first; numbers are null if the emitter omits them.
    """
    names = frozenset(service.lineage.nodes.names(dataset))
    stored = await asyncio.to_thread(service.log.latest_run_events, _MAX_SCANNED_EVENTS)
    found = await asyncio.to_thread(_transfers, service.reader, names, stored, limit)
    return json_response({**found, "scanned": _MAX_SCANNED_EVENTS})


@router.get("/flow", response_model=page.IngestFlow)
async def flow(service: ServiceDep) -> page.IngestFlow:
    """Return number and lag of events per interval of the last half hour since the start.

    `{"stepSeconds", "mostSamples", "samples": [{"start", "events", "lagSeconds"}]}`, oldest first; the last sample
    still grows. `lagSeconds` is the longest time from an event's own to the graph, null without events.
    """
    samples = [
        page.IngestSample(start=format_time(sample.start * 10**9), events=sample.events, lag_seconds=sample.lag)
        for sample in service.ingest_metrics.samples(time.time())
    ]
    return page.IngestFlow(step_seconds=STEP, most_samples=SAMPLES, samples=samples)


@router.get("/lab", response_model=page.LabOverview)
async def lab_overview(request: Request) -> page.LabOverview:
    """Return the services of the lab and their state; name null and no services outside a lab."""
    lab: Lab | None = request.app.state.lab
    if lab is None:
        return page.LabOverview(name=None, services=[])
    services = [page.LabServiceState.model_validate(state) for state in await states(lab)]
    return page.LabOverview(name=lab.name, services=services)


@router.get("/contract", response_model=page.ContractReport)
async def contract(service: ServiceDep, request: Request) -> Response:
    """Compare the graph with the lineage contract, as `lab verify` does; 404 if no contract is configured."""
    lab: Lab | None = request.app.state.lab
    try:
        report = None if lab is None else await contract_report(service, lab)
    except ContractError as error:
        raise ApiError(503, "contract_unusable", str(error)) from error
    if report is None:
        raise ApiError(404, "not_found", NO_CONTRACT, {})
    return Response(report.render_json(), media_type="application/json")


def _transfers(
    reader: EventReader, names: frozenset[DatasetId], stored: Iterable[StoredEvent], limit: int
) -> JsonObject:
    """Return the writes and quality checks of a dataset by all its names, in events that the rules accept."""

    def bodies() -> Iterator[JsonObject]:
        for event in stored:
            with suppress(EventError):  # a dead letter already
                yield reader.event(event.original, event.accepted).body

    return transfers(names, bodies(), limit)
