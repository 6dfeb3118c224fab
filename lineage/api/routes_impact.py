# SPDX-License-Identifier: Apache-2.0
"""Routes of impact analysis and origin of datasets and columns."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Query, Response

from lineage.api.dependencies import MAX_DEPTH, ColumnDep, ServiceDep
from lineage.api.schemas import graph as schemas
from lineage.api.time_slices import in_slices, run_cooperatively
from lineage.events import JsonObject, canonical_json, identity_json
from lineage.graph.adjacency import Column
from lineage.graph.traversal import ReachedNode, Step, Traversal, TraversalResult
from lineage.service import Service

router = APIRouter(prefix="/api/v1")

DepthOrAll = Annotated[int | None, Query(ge=0, le=MAX_DEPTH)]
_ROWS_PER_SLICE = 100
"""Rows encoded between two yields to the event loop: some milliseconds."""


@router.get("/impact", response_model=schemas.Reach)
async def impact(service: ServiceDep, start: ColumnDep, depth: DepthOrAll = None) -> Response:
    """Return everything that depends on a dataset or column.

    `{"start": {"namespace", "name", "field"?}, "columns": [row], "datasets": [row and "whole"], "jobs": [row]}`, a
    row being `{"namespace", "name", "field" of a column, "distance" in jobs, "certain", "edges": [{"job", "input",
    "output", "type", "subtype", "masking"}]}`; input and output have no `field` for a dataset as a whole.
    See `lineage.graph.traversal` for what depends on what.
    """
    return await _traversal_response(service, start, depth, downstream=True)


@router.get("/origin", response_model=schemas.Reach)
async def origin(service: ServiceDep, start: ColumnDep, depth: DepthOrAll = None) -> Response:
    """Return everything that a dataset or column depends on; the response has the shape of `/impact`."""
    return await _traversal_response(service, start, depth, downstream=False)


async def _traversal_response(service: Service, start: Column, depth: int | None, downstream: bool) -> Response:
    search = Traversal(service.lineage, service.graph, start, downstream, depth)
    await run_cooperatively(search.steps(), lambda: search.size)
    parts = []
    for key, rows in sorted(_result_sections(search.found).items()):
        encoded = [canonical_json(row) async for part in in_slices(rows, _ROWS_PER_SLICE) for row in part]
        parts.append(b'"%b":[%b]' % (key.encode(), b",".join(encoded)))
    content = b'{%b,"start":%b}' % (b",".join(parts), canonical_json(_column_json(start)))
    return Response(content, media_type="application/json")


def _result_sections(found: TraversalResult) -> dict[str, Iterator[JsonObject]]:
    return {
        "columns": (_column_json(column) | _reach_json(how) for column, how in sorted(found.columns.items())),
        "datasets": (
            identity_json(dataset) | _reach_json(reached.how) | {"whole": reached.whole}
            for dataset, reached in sorted(found.datasets.items())
        ),
        "jobs": (identity_json(job) | _reach_json(how) for job, how in sorted(found.jobs.items())),
    }


def _reach_json(how: ReachedNode) -> JsonObject:
    edges = sorted((_step_json(step) for step in how.steps), key=canonical_json)
    return {"distance": how.distance, "certain": how.certain, "edges": edges}


def _step_json(step: Step) -> JsonObject:
    return {
        "job": identity_json(step.job),
        "input": _column_json(step.source),
        "output": _column_json(step.output),
        "type": step.type,
        "subtype": step.subtype,
        "masking": step.masking,
    }


def _column_json(column: Column) -> JsonObject:
    return identity_json(column.dataset) | ({} if column.field is None else {"field": column.field})
