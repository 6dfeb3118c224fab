# SPDX-License-Identifier: Apache-2.0
"""Graph export, past graphs, differences between two times, and the change stream."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from lineage.api.dependencies import Depth, ServiceDep
from lineage.api.errors import ApiError
from lineage.api.past import past_answer, past_graph
from lineage.api.responses import packed_response
from lineage.api.schemas.graph import GraphDifference, GraphExport
from lineage.change_feed import Message, TooManyListeners
from lineage.checks.diff import diff_texts
from lineage.events import canonical_json
from lineage.service import Service
from lineage.store.packed_answer import PackedAnswer

router = APIRouter(prefix="/api/v1")

HEARTBEAT = 15.0
"""Seconds without a message after which a comment line is sent; proxies close idle connections."""


@router.get("/graph", response_model=GraphExport)
async def graph(
    service: ServiceDep,
    at: Annotated[str | None, Query(alias="asOf")] = None,
    node: Annotated[str | None, Query(alias="nodeId")] = None,
    depth: Depth = 0,
) -> Response:
    """Return the graph as canonical JSON; with `nodeId` only its part that `/lineage` shows around that node.

    `asOf` limits it to events up to that time; 410 if retention has compacted later events.
    """
    if at is None and node is None:
        return packed_response(await service.export())
    return packed_response(await _past_graph(service, "asOf", at, node, depth))


@router.get("/diff", response_model=GraphDifference)
async def diff(
    service: ServiceDep,
    since: Annotated[str, Query(alias="from")],
    to: str | None = None,
    node: Annotated[str | None, Query(alias="nodeId")] = None,
    depth: Depth = 0,
) -> Response:
    """Return the differences between the graphs of two times, or of their parts around a node; `to` defaults to now."""
    before, after = await asyncio.gather(
        _graph_json(service, "from", since, node, depth), _graph_json(service, "to", to, node, depth)
    )
    return Response(await asyncio.to_thread(_diff_json, before, after), media_type="application/json")


@router.get("/changes", response_class=StreamingResponse, responses={200: {"content": {"text/event-stream": {}}}})
async def changes(service: ServiceDep) -> StreamingResponse:
    """Stream server-sent events: `event` for each event that was applied to the graph, with a summary.

    `resync` means that messages may be missing: at the beginning, and after the client fell behind.
    """
    try:
        service.change_feed.check_room()
    except TooManyListeners as error:
        message = f"{service.change_feed.listeners} streams of changes are open, which is the maximum; retry later"
        raise ApiError(503, "too_many_listeners", message, headers={"Retry-After": "15"}) from error
    return StreamingResponse(
        _server_sent_events(service.change_feed.subscribe(HEARTBEAT)),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


def _diff_json(before: bytes, after: bytes) -> bytes:
    return json.dumps(diff_texts(before, after).to_json()).encode()


async def _graph_json(service: Service, parameter: str, at: str | None, node: str | None, depth: int) -> bytes:
    whole = at is None and node is None
    found = await service.export() if whole else await _past_graph(service, parameter, at, node, depth)
    return await asyncio.to_thread(lambda: found.text)


async def _past_graph(service: Service, parameter: str, at: str | None, node: str | None, depth: int) -> PackedAnswer:
    """Return the graph of a time, which may be now for the part around a node."""
    if node is not None:
        return await past_answer(service, "graph", node, depth, at, parameter)
    assert at is not None, "the whole present graph needs no query of the past"
    return await past_graph(service, parameter, at)


async def _server_sent_events(messages: AsyncIterator[Message | None]) -> AsyncIterator[bytes]:
    async for message in messages:
        if message is None:
            yield b": alive\n\n"
        else:
            name, content = message
            yield b"event: %b\ndata: %b\n\n" % (name.encode(), canonical_json(content))
