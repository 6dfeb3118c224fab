# SPDX-License-Identifier: Apache-2.0
"""Routes of impact analysis and origin of datasets and columns."""

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Annotated, Literal, TypeVar

from fastapi import APIRouter, Query, Response

from lineage.api.dependencies import MAX_DEPTH, NodeParameter, ServiceDep, TimeParameter, column_of, known_node
from lineage.api.past import past_answer
from lineage.api.responses import packed_response
from lineage.api.schemas import graph as schemas
from lineage.api.time_slices import in_slices, run_cooperatively, sorted_in_slices
from lineage.events import JsonObject, canonical_json
from lineage.graph.adjacency import Column
from lineage.graph.reach_json import (
    column_json,
    reached_column_json,
    reached_dataset_json,
    reached_job_json,
    step_json,
)
from lineage.graph.traversal import ReachedDataset, ReachedNode, Traversal
from lineage.service import Service

router = APIRouter(prefix="/api/v1")

_Key = TypeVar("_Key")
_Reached = TypeVar("_Reached", ReachedNode, ReachedDataset)

DepthOrAll = Annotated[int | None, Query(ge=0, le=MAX_DEPTH)]
_ROWS_PER_SLICE = 100
"""Rows, or edges of one row, encoded between two yields to the event loop: some milliseconds."""

_NO_EDGES = b'"edges":[]'
"""Key and value of a row before its edges are encoded; within a string its quotes would be escaped."""


@router.get("/impact", response_model=schemas.Reach)
async def impact(
    service: ServiceDep, node: NodeParameter, depth: DepthOrAll = None, at: TimeParameter = None
) -> Response:
    """Return everything that depends on a dataset or column; with `asOf` from the events up to that time.

    `{"start": {"namespace", "name", "field"?}, "columns": [row], "datasets": [row and "whole"], "jobs": [row]}`, a
    row being `{"namespace", "name", "field" of a column, "distance" in jobs, "certain", "edges": [{"job", "input",
    "output", "type", "subtype", "masking"}]}`; input and output have no `field` for a dataset as a whole.
    See `lineage.graph.traversal` for what depends on what.
    """
    return await _reach(service, "impact", node, depth, at)


@router.get("/origin", response_model=schemas.Reach)
async def origin(
    service: ServiceDep, node: NodeParameter, depth: DepthOrAll = None, at: TimeParameter = None
) -> Response:
    """Return everything that a dataset or column depends on; the response has the shape of `/impact`."""
    return await _reach(service, "origin", node, depth, at)


async def _reach(
    service: Service, answer: Literal["impact", "origin"], node: str, depth: int | None, at: str | None
) -> Response:
    if at is not None:
        return packed_response(await past_answer(service, answer, node, depth, at))
    start = column_of(await known_node(service, node))
    return await _traversal_response(service, start, depth, downstream=answer == "impact")


async def _traversal_response(service: Service, start: Column, depth: int | None, downstream: bool) -> Response:
    search = Traversal(service.lineage, service.graph, start, downstream, depth)
    try:
        await run_cooperatively(search.steps(), lambda: search.size)
        columns = await _rows_json(search.found.columns, reached_column_json)
        datasets = await _rows_json(search.found.datasets, reached_dataset_json)
        jobs = await _rows_json(search.found.jobs, reached_job_json)
    finally:
        await run_cooperatively(search.free())
    parts = (columns, datasets, jobs, canonical_json(column_json(start)))
    return Response(b'{"columns":%b,"datasets":%b,"jobs":%b,"start":%b}' % parts, media_type="application/json")


async def _rows_json(found: Mapping[_Key, _Reached], row: Callable[[_Key, _Reached], JsonObject]) -> bytes:
    """Return a JSON array with a row for each item, sorted by key."""
    items = await sorted_in_slices(found.items(), itemgetter(0))
    rows = []
    async for part in in_slices(items, _ROWS_PER_SLICE):
        for key, reached in part:
            edges = await _edges_json(reached.how if isinstance(reached, ReachedDataset) else reached)
            rows.append(canonical_json(row(key, reached)).replace(_NO_EDGES, edges, 1))
    return b"[%b]" % b",".join(rows)


async def _edges_json(how: ReachedNode) -> bytes:
    """Return the key `edges` with its value: as many edges as there are jobs, or only one."""
    encoded = [canonical_json(step_json(step)) async for part in in_slices(how.steps, _ROWS_PER_SLICE) for step in part]
    return b'"edges":[%b]' % b",".join(sorted(encoded))
