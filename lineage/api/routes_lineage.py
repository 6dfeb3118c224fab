# SPDX-License-Identifier: Apache-2.0
"""Marquez-compatible routes of lineage graphs, search, events and counts."""

import asyncio
import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, tzinfo
from time import time_ns
from typing import Annotated, Literal, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from fastapi import APIRouter, Path, Query, Response
from pydantic import BeforeValidator

from lineage.api.dependencies import (
    CatalogDep,
    Depth,
    Limit,
    NameListsDep,
    NodeDep,
    NodeParameter,
    Offset,
    ServiceDep,
    TimeParameter,
    catalog_of,
    known_node,
)
from lineage.api.errors import ApiError, not_found
from lineage.api.parameters import lower_case, time_parameter, upper_case
from lineage.api.past import past_answer
from lineage.api.responses import json_response, packed_response, rows_response
from lineage.api.schemas import marquez
from lineage.api.schemas.ingest import StoredEvents
from lineage.api.time_slices import in_slices, run_cooperatively
from lineage.events.ids import DatasetId, JobId
from lineage.events.own_facets import EntryKind
from lineage.graph.dataset_record import DatasetRecord
from lineage.graph.job_record import JobRecord
from lineage.graph.mergeable import Span
from lineage.graph.records_by_name import RecordsByName
from lineage.marquez import ColumnNeighbourhood, Neighbourhood, Search, UpstreamRuns, node_id
from lineage.marquez import Query as Wanted
from lineage.marquez.stats import EventCounts, Growth, Period, intervals_of
from lineage.store import EventQuery
from lineage.store.event_store import EventStore

router = APIRouter(prefix="/api/v1")

_Record = TypeVar("_Record")
_Name = TypeVar("_Name", JobId, DatasetId)
_Counted = TypeVar("_Counted", JobRecord, DatasetRecord)

PeriodParameter = Annotated[Period, BeforeValidator(upper_case), Query()]

DEFAULT_DEPTH = 20
_ROWS_PER_SLICE = 2000
"""Records processed between two yields to the event loop: a few milliseconds."""


@router.get("/lineage", response_model=marquez.LineageGraph)
@router.get("/lineage/", response_model=marquez.LineageGraph, include_in_schema=False)
async def lineage(
    service: ServiceDep, named: NodeParameter, depth: Depth = DEFAULT_DEPTH, at: TimeParameter = None
) -> Response:
    """Return jobs and datasets around a job or dataset, in both directions; 404 for a column.

    With `asOf` from the events up to that time; 410 if retention has compacted later events.
    """
    if at is not None:
        return packed_response(await past_answer(service, "lineage", named, depth, at))
    node = await known_node(service, named)
    catalog = await catalog_of(service)
    if node.column is not None and node.column.field is not None:
        raise not_found("job or dataset", node_id(node.column))
    found = Neighbourhood(service.graph, node, depth)
    await run_cooperatively(found.steps(), lambda: found.size)
    return await rows_response("graph", found.nodes(catalog))


@router.get("/column-lineage", response_model=marquez.ColumnGraph)
async def columns(
    service: ServiceDep,
    catalog: CatalogDep,
    node: NodeDep,
    downstream: Annotated[bool, Query(alias="withDownstream")] = False,
    depth: Depth = DEFAULT_DEPTH,
) -> Response:
    """Return columns upstream of a dataset, a column or a job's outputs; `withDownstream` adds those downstream."""
    found = ColumnNeighbourhood(service.graph, node, depth, downstream)
    await run_cooperatively(found.steps(), lambda: found.size)
    return await rows_response("graph", found.nodes(catalog))


@router.get("/runlineage/upstream", response_model=marquez.UpstreamRuns)
async def upstream_runs(
    service: ServiceDep, catalog: CatalogDep, run: Annotated[str, Query(alias="runId")], depth: Depth = DEFAULT_DEPTH
) -> Response:
    """Return a run and the runs upstream of it, nearest first."""
    record = service.lineage.run(run)
    if record is None:
        raise not_found("run", run)
    found = UpstreamRuns(catalog, service.lineage, service.graph, record, depth)
    await run_cooperatively(found.steps())
    return json_response(found.result())


@router.get("/search", response_model=marquez.SearchResults)
@router.get("/search/", response_model=marquez.SearchResults, include_in_schema=False)
async def search_names(
    lists: NameListsDep,
    q: Annotated[str, Query(min_length=1)],
    kind: Annotated[Literal["JOB", "DATASET"] | None, BeforeValidator(upper_case), Query(alias="filter")] = None,
    sort: Annotated[Literal["NAME", "UPDATE_AT", "UPDATED_AT"], BeforeValidator(upper_case)] = "NAME",
    limit: Limit = 10,
    namespace: str | None = None,
    before: str | None = None,
    after: str | None = None,
) -> Response:
    """Search jobs and datasets by part of their name; `before` and `after` are days (UTC) of their last event."""
    wanted = Wanted(
        q,
        kind,
        namespace,
        _optional_day("after", after),
        _optional_day("before", before),
        by_update=sort != "NAME",
        limit=limit,
    )
    search = Search(lists.index, wanted)
    await run_cooperatively(search.steps())
    return await rows_response("results", search.rows(), _ROWS_PER_SLICE // 10, totalCount=search.total)


@router.get("/events", response_model=StoredEvents)
@router.get("/events/lineage", response_model=StoredEvents)
async def events(
    service: ServiceDep,
    before: str | None = None,
    after: str | None = None,
    direction: Annotated[Literal["asc", "desc"], BeforeValidator(lower_case), Query(alias="sortDirection")] = "desc",
    limit: Limit = 100,
    offset: Offset = 0,
    run: str | None = None,
    names: Literal["original", "canonical"] = "original",
) -> Response:
    """Return stored run events by event time; `run` selects those of one run.

    Datasets have the names that the emitter used; with `names` canonical those of the graph's nodes.

    A page may hold fewer events than `limit`, because its size in bytes is bounded: continue with `offset` until
    `totalCount` is reached. Every event has `inputs` and `outputs`, as in Marquez: empty where the emitter left them
    out.
    """
    query = EventQuery(
        after=_optional_time("after", after),
        before=_optional_time("before", before),
        newest_first=direction == "desc",
        limit=limit,
        offset=offset,
        run=run,
    )
    bodies, total = await asyncio.to_thread(_events_page, service.log, query)
    if names == "canonical":
        # On the event loop, which the graph belongs to.
        bodies = [service.under_canonical_names(body) async for part in in_slices(bodies, 10) for body in part]
    return Response(b'{"events":[%b],"totalCount":%d}' % (b",".join(bodies), total), media_type="application/json")


def _events_page(log: EventStore, query: EventQuery) -> tuple[list[bytes], int]:
    bodies, total = log.run_events(query)
    return list(map(_with_datasets, bodies)), total


def _with_datasets(event: bytes) -> bytes:
    """Return an event with empty `inputs` and `outputs` where it has none."""
    missing = {"inputs", "outputs"} - json.loads(event).keys()
    if not missing:
        return event
    added = b"".join(b'"%b":[],' % key.encode() for key in sorted(missing))
    return b"{" + added + event[event.index(b"{") + 1 :]


@router.get("/stats/lineage-events", response_model=list[marquez.EventCounts])
async def event_counts(service: ServiceDep, period: PeriodParameter, timezone: str = "UTC") -> Response:
    """Return started and ended runs per hour of the last day or day of the last week."""
    counts = EventCounts(intervals_of(period, _time_zone(timezone), time_ns()))
    jobs = service.lineage.jobs
    for part in jobs.parts(list(jobs), _ROWS_PER_SLICE):
        for _, job in part:
            counts.add(job)
        await asyncio.sleep(0)
    if service.lineage.archive is not None:
        counts.add_archived(service.lineage.archive)
    return json_response(counts.rows())


def _known_count(kind: str) -> str:
    if kind not in ("jobs", "datasets", "sources"):
        raise not_found("statistic", kind)
    return kind


@router.get("/stats/{kind}", response_model=list[marquez.NodeCount])
async def growth(
    service: ServiceDep,
    lists: NameListsDep,
    kind: Annotated[Literal["jobs", "datasets", "sources"], BeforeValidator(_known_count), Path()],
    period: PeriodParameter,
    timezone: str = "UTC",
) -> Response:
    """Return the number of jobs, datasets or sources per hour of the last day or day of the last week."""
    found = Growth(intervals_of(period, _time_zone(timezone), time_ns()))
    known = service.lineage
    match kind:
        case "jobs":
            await _count_records(found, known.jobs)
        case "datasets":
            await _count_records(found, known.datasets)
        case "sources":
            requested = (known.catalog[key].span for key in known.catalog if key.kind is EntryKind.SOURCE)
            await _count_growth(found, requested, lambda span: span)
            await _count_growth(found, lists.index.datasets.namespaces, lambda name: known.namespaces[name])
    return json_response(found.rows())


async def _count_records(found: Growth, records: RecordsByName[_Name, _Counted]) -> None:
    for part in records.parts(list(records), _ROWS_PER_SLICE):
        found.add(record.span for _, record in part)
        await asyncio.sleep(0)


async def _count_growth(found: Growth, things: Iterable[_Record], span_of: Callable[[_Record], Span]) -> None:
    async for part in in_slices(list(things), _ROWS_PER_SLICE):
        found.add(map(span_of, part))


def _optional_time(parameter: str, text: str | None) -> int | None:
    return time_parameter(parameter, text) if text else None


def _optional_day(parameter: str, text: str | None) -> int | None:
    if not text:
        return None
    try:
        return int(datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()) * 10**9
    except ValueError as error:
        message = f"{parameter}: {text[:40]!r} is not a date; write it as 2026-01-31"
        raise ApiError(400, "invalid_parameter", message, {"field": parameter}) from error


def _time_zone(name: str) -> tzinfo:
    """Return a time zone; UTC for an unknown one, as in Marquez."""
    try:
        return UTC if name == "UTC" else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
