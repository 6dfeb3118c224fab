# SPDX-License-Identifier: Apache-2.0
"""The whole graph: as it is, as it was, what changed between two times, and what changes now."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from lineage.api.dependencies import ServiceDep
from lineage.api.errors import ApiError
from lineage.api.parameters import time_parameter
from lineage.api.schemas.graph import GraphDifference, GraphExport
from lineage.change_feed import Message
from lineage.checks.diff import diff_graphs
from lineage.events import canonical_json
from lineage.events.timestamps import format_time
from lineage.service import Service
from lineage.store.as_of_queries import AsOfQueryFailed, TooManyAsOfQueries
from lineage.store.graph_as_of import Compacted

router = APIRouter(prefix="/api/v1")

HEARTBEAT = 15.0
"""Seconds without a message after which a listener is shown that the line is alive; proxies cut silent ones."""


@router.get("/graph", response_model=GraphExport)
async def graph(service: ServiceDep, at: Annotated[str | None, Query(alias="asOf")] = None) -> Response:
    """The graph as canonical JSON; see `lineage.graph.export` for its shape.

    With `asOf` as the events up to that time made it; 410 where retention has compacted what came after it.
    """
    return Response(await _graph(service, "asOf", at), media_type="application/json")


@router.get("/diff", response_model=GraphDifference)
async def diff(service: ServiceDep, since: Annotated[str, Query(alias="from")], to: str | None = None) -> Response:
    """What changed in the graph between two times; without `to` until now."""
    before = await _graph(service, "from", since)
    after = await _graph(service, "to", to)
    return Response(await asyncio.to_thread(_difference, before, after), media_type="application/json")


@router.get("/changes", response_class=StreamingResponse, responses={200: {"content": {"text/event-stream": {}}}})
async def changes(service: ServiceDep) -> StreamingResponse:
    """Server-sent events: `event` for each event that has come into the graph, with what it is about.

    `resync` says that messages may be missing: at the beginning, and to a listener who fell behind.
    """
    return StreamingResponse(
        _encoded(service.change_feed.listen(HEARTBEAT)),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


def _difference(before: bytes, after: bytes) -> bytes:
    return json.dumps(diff_graphs(json.loads(before), json.loads(after)).to_json()).encode()


async def _graph(service: Service, parameter: str, at: str | None) -> bytes:
    if at is None:
        return canonical_json(await service.export())
    try:
        return await service.past.graph(time_parameter(parameter, at))
    except Compacted as error:
        earliest = format_time(error.since)
        message = f"{parameter}: retention has compacted the events up to {earliest}; ask for that time or later"
        raise ApiError(410, "compacted", message, {"field": parameter, "earliest": earliest}) from error
    except AsOfQueryFailed as error:
        message = f"the graph of that time could not be made ({error}); ask again"
        raise ApiError(503, "unanswered", message, headers={"Retry-After": "5"}) from error
    except TooManyAsOfQueries as error:
        message = "too many questions about the past wait; ask again in a moment"
        raise ApiError(503, "overloaded", message, headers={"Retry-After": "2"}) from error


async def _encoded(messages: AsyncIterator[Message | None]) -> AsyncIterator[bytes]:
    async for message in messages:
        if message is None:
            yield b": alive\n\n"
        else:
            name, content = message
            yield b"event: %b\ndata: %b\n\n" % (name.encode(), canonical_json(content))
