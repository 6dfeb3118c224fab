# SPDX-License-Identifier: Apache-2.0
"""Routes of the lineage page: summaries, dataset activity, ingest rate, lab services, contract."""

import asyncio
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from lineage.api.dataset_activity import transfers
from lineage.api.dependencies import DatasetDep, ServiceDep, current_graph
from lineage.api.errors import ApiError
from lineage.api.lab import Lab, states
from lineage.api.responses import json_response
from lineage.api.schemas import page
from lineage.api.time_slices import in_slices, sorted_in_slices
from lineage.checks.contract import ContractError, compare, load
from lineage.events import DatasetId, EventError, JsonObject, canonical_json
from lineage.events.timestamps import format_time
from lineage.graph.summaries import dataset_summary, job_summary
from lineage.ingest_metrics import SAMPLES, STEP
from lineage.rules.event_reader import EventReader
from lineage.store.rows import StoredEvent

router = APIRouter(prefix="/api/v1")

_ROWS_PER_SLICE = 25
"""Rows encoded between two yields to the event loop: some milliseconds."""

_RECORDS_PER_SLICE = 1_000
"""Records looked at between two yields to the event loop: a few milliseconds."""

_MAX_SCANNED_EVENTS = 2_000
"""Latest events that are scanned for writes of one dataset."""


@router.get("/summaries", response_model=page.Summaries)
async def summaries(service: ServiceDep) -> Response:
    """Return a summary of each job and dataset, sorted, with the edges between them.

    `{"jobs": [...], "datasets": [...]}`.
    """
    graph = await current_graph(service)
    now = time.time_ns()
    lineage, job_lineages = service.lineage, list(graph.job_lineages.values())
    # Sorted by name, not by arrival, so that equal graphs have equal drawings.
    known: list[DatasetId] = []
    for records in lineage.datasets.parts(await sorted_in_slices(list(lineage.datasets), tuple), _RECORDS_PER_SLICE):
        known += [name for name, record in records if not lineage.catalog.is_deleted_dataset(record)]
        await asyncio.sleep(0)
    places = {name: place for place, name in enumerate(known)}
    masked: dict[DatasetId, set[str]] = {}
    async for part in in_slices(job_lineages, _RECORDS_PER_SLICE):
        for dataset, field in (column for view in part for column in view.masked):
            masked.setdefault(dataset, set()).add(field)
    jobs = [
        canonical_json(job_summary(lineage, graph, lineage.jobs[job], places, now))
        async for part in in_slices(await sorted_in_slices(list(lineage.jobs), tuple), _ROWS_PER_SLICE)
        for job in part
        if job in graph.job_lineages
    ]
    datasets: list[bytes] = []
    for described in lineage.datasets.parts(known, _ROWS_PER_SLICE):
        rows = (dataset_summary(lineage, record, masked.get(name, ())) for name, record in described)
        datasets += map(canonical_json, rows)
        await asyncio.sleep(0)
    content = b'{"datasets":[%b],"jobs":[%b]}' % (b",".join(datasets), b",".join(jobs))
    return Response(content, media_type="application/json")


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
    if lab is None or lab.contract is None:
        raise ApiError(404, "not_found", "the service was started without a lineage contract (--lab)", {})
    try:
        # Read for each request, because users edit the file while the lab runs.
        wanted = load(await asyncio.to_thread(lab.contract.read_text, encoding="utf-8"))
    except (OSError, ContractError) as error:
        raise ApiError(
            503, "contract_unusable", f"the lineage contract {lab.contract} cannot be used: {error}"
        ) from error
    report = await asyncio.to_thread(compare, wanted, await service.export(), lab.features)
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
