# SPDX-License-Identifier: Apache-2.0
"""Marquez-compatible routes of lineage graphs, search, events and counts."""

import asyncio
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, tzinfo
from time import time_ns
from typing import Annotated, Literal, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from fastapi import APIRouter, Query, Response

from lineage.api.dependencies import CatalogDep, Depth, Limit, NameListsDep, NodeDep, Offset, ServiceDep
from lineage.api.errors import ApiError, not_found
from lineage.api.parameters import time_parameter
from lineage.api.responses import json_response, rows_response
from lineage.api.schemas import marquez
from lineage.api.schemas.ingest import StoredEvents
from lineage.api.time_slices import in_slices, run_cooperatively
from lineage.graph.mergeable import Span
from lineage.marquez import ColumnNeighbourhood, Neighbourhood, Search, UpstreamRuns
from lineage.marquez import Query as Wanted
from lineage.marquez.stats import EventCounts, Growth, Period, intervals_of
from lineage.store import EventQuery

router = APIRouter(prefix="/api/v1")

_Record = TypeVar("_Record")

DEFAULT_DEPTH = 20
_ROWS_PER_SLICE = 2000
"""Records processed between two yields to the event loop: a few milliseconds."""


@router.get("/lineage", response_model=marquez.LineageGraph)
async def lineage(service: ServiceDep, catalog: CatalogDep, node: NodeDep, depth: Depth = DEFAULT_DEPTH) -> Response:
    """Return jobs and datasets around a job or dataset, in both directions."""
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
async def search_names(
    lists: NameListsDep,
    q: Annotated[str, Query(min_length=1)],
    kind: Annotated[Literal["JOB", "DATASET", "job", "dataset"] | None, Query(alias="filter")] = None,
    sort: Literal["NAME", "UPDATE_AT", "UPDATED_AT", "name", "update_at", "updated_at"] = "NAME",
    limit: Limit = 10,
    namespace: str | None = None,
    before: str | None = None,
    after: str | None = None,
) -> Response:
    """Search jobs and datasets by part of their name; `before` and `after` are days (UTC) of their last event."""
    wanted = Wanted(
        q,
        kind.upper() if kind else None,
        namespace,
        _optional_day("after", after),
        _optional_day("before", before),
        by_update=sort.upper() != "NAME",
        limit=limit,
    )
    search = Search(lists.index, wanted)
    await run_cooperatively(search.steps())
    return json_response(search.result())


@router.get("/events", response_model=StoredEvents)
@router.get("/events/lineage", response_model=StoredEvents)
async def events(
    service: ServiceDep,
    before: str | None = None,
    after: str | None = None,
    direction: Annotated[Literal["asc", "desc"], Query(alias="sortDirection")] = "desc",
    limit: Limit = 100,
    offset: Offset = 0,
    run: str | None = None,
) -> Response:
    """Return stored run events by event time; `run` selects those of one run.

    A page may hold fewer events than `limit`, because its size in bytes is bounded: continue with `offset` until
    `totalCount` is reached.
    """
    query = EventQuery(
        after=_optional_time("after", after),
        before=_optional_time("before", before),
        newest_first=direction == "desc",
        limit=limit,
        offset=offset,
        run=run,
    )
    bodies, total = await asyncio.to_thread(service.log.run_events, query)
    content = b'{"events":[%b],"totalCount":%d}' % (b",".join(bodies), total)
    return Response(content, media_type="application/json")


@router.get("/stats/lineage-events", response_model=list[marquez.EventCounts])
async def event_counts(service: ServiceDep, period: Period, timezone: str = "UTC") -> Response:
    """Return started and ended runs per hour of the last day or day of the last week."""
    counts = EventCounts(intervals_of(period, _time_zone(timezone), time_ns()))
    async for part in in_slices(list(service.lineage.jobs.values()), _ROWS_PER_SLICE):
        for job in part:
            counts.add(job)
    return json_response(counts.rows())


@router.get("/stats/{kind}", response_model=list[marquez.NodeCount])
async def growth(
    service: ServiceDep,
    lists: NameListsDep,
    kind: Literal["jobs", "datasets", "sources"],
    period: Period,
    timezone: str = "UTC",
) -> Response:
    """Return the number of jobs, datasets or sources per hour of the last day or day of the last week."""
    found = Growth(intervals_of(period, _time_zone(timezone), time_ns()))
    known = service.lineage
    match kind:
        case "jobs":
            await _count_growth(found, known.jobs.values(), lambda record: record.span)
        case "datasets":
            await _count_growth(found, known.datasets.values(), lambda record: record.span)
        case "sources":
            await _count_growth(found, lists.index.datasets.namespaces, lambda name: known.namespaces[name])
    return json_response(found.rows())


async def _count_growth(found: Growth, things: Iterable[_Record], span_of: Callable[[_Record], Span]) -> None:
    async for part in in_slices(list(things), _ROWS_PER_SLICE):
        found.add(map(span_of, part))


def _optional_time(parameter: str, text: str | None) -> int | None:
    return None if text is None else time_parameter(parameter, text)


def _optional_day(parameter: str, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return int(datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()) * 10**9
    except ValueError as error:
        message = f"{parameter}: {text[:40]!r} is not a date; write it as 2026-01-31"
        raise ApiError(400, "invalid_parameter", message, {"field": parameter}) from error


def _time_zone(name: str) -> tzinfo:
    try:
        return UTC if name == "UTC" else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        message = f"timezone: {name[:60]!r} is an unknown time zone; write it as Europe/Berlin, or UTC"
        raise ApiError(400, "invalid_parameter", message, {"field": "timezone"}) from error
