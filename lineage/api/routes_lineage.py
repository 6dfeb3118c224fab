# SPDX-License-Identifier: Apache-2.0
"""Lineage graphs, search and the log of events, as Marquez serves them."""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from lineage.api.dependencies import CatalogDep, Depth, Limit, NodeDep, Offset, ServiceDep
from lineage.api.errors import ApiError
from lineage.events import JsonObject
from lineage.events.timestamps import parse_time
from lineage.marquez import column_lineage, lineage_graph, search
from lineage.store import EventQuery

router = APIRouter(prefix="/api/v1")

DEFAULT_DEPTH = 20


@router.get("/lineage")
async def lineage(service: ServiceDep, catalog: CatalogDep, node: NodeDep, depth: Depth = DEFAULT_DEPTH) -> JsonObject:
    """Jobs and datasets around a job or dataset, both directions."""
    return lineage_graph(catalog, service.graph, node, depth)


@router.get("/column-lineage")
async def columns(
    service: ServiceDep,
    catalog: CatalogDep,
    node: NodeDep,
    downstream: Annotated[bool, Query(alias="withDownstream")] = False,
    depth: Depth = DEFAULT_DEPTH,
) -> JsonObject:
    """Columns upstream of a dataset, a column or a job's outputs; downstream too where asked."""
    return column_lineage(catalog, service.graph, node, depth, downstream)


@router.get("/search")
async def search_names(
    service: ServiceDep,
    q: Annotated[str, Query(min_length=1)],
    kind: Annotated[Literal["JOB", "DATASET", "job", "dataset"] | None, Query(alias="filter")] = None,
    sort: Literal["NAME", "UPDATE_AT", "name", "update_at", "updated_at"] = "NAME",
    limit: Limit = 10,
) -> JsonObject:
    """Jobs and datasets by part of their name."""
    return search(service.lineage, q, kind.upper() if kind else None, sort.upper() != "NAME", limit)


@router.get("/events/lineage")
async def events(
    service: ServiceDep,
    before: str | None = None,
    after: str | None = None,
    direction: Annotated[Literal["asc", "desc"], Query(alias="sortDirection")] = "desc",
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """Run events as they were stored, by event time.

    A page may hold fewer events than asked for, because its size is bounded: go on behind those it holds until
    `totalCount` is reached.
    """
    query = EventQuery(_time("after", after), _time("before", before), direction == "desc", limit, offset)
    bodies, total = await asyncio.to_thread(service.log.run_events, query)
    content = b'{"events":[%b],"totalCount":%d}' % (b",".join(bodies), total)
    return Response(content, media_type="application/json")


def _time(parameter: str, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return parse_time(text)
    except ValueError as error:
        raise ApiError(400, "invalid_parameter", f"{parameter}: {error}", {"field": parameter}) from error
