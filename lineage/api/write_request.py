# SPDX-License-Identifier: Apache-2.0
"""Write requests of Marquez's API: their bodies, and storing their events."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from pydantic import ValidationError

from lineage.api.dependencies import ServiceDep, current_graph
from lineage.api.errors import ApiError, ingest_error
from lineage.api.request_body import read_body
from lineage.api.schemas.marquez_writes import WriteModel
from lineage.events import EventError, JsonObject, canonical_json
from lineage.marquez.writes import Writes
from lineage.service import Service
from lineage.store import QueueFull, StoreError

_Model = TypeVar("_Model", bound=WriteModel)


def body_of(model: type[_Model]) -> Callable[[Request], AsyncIterator[_Model]]:
    """Return a dependency that reads the body of a request as a model; an empty body is an empty object.

    It holds the memory of the body, in the budget of all requests, until the request ends.
    """

    async def read(request: Request) -> AsyncIterator[_Model]:
        with request.app.state.bodies.share() as share:
            data = await read_body(request, request.app.state.settings.max_event_bytes, share)
            try:
                content = model.model_validate_json(data or b"{}")
            except ValidationError as error:
                raise _invalid_body(error) from error
            yield content

    return read


def _invalid_body(error: ValidationError) -> ApiError:
    first = error.errors()[0]
    field = ".".join(map(str, first["loc"]))
    message = f"{field}: {first['msg']}" if field else first["msg"]
    return ApiError(400, "invalid_body", message, {"field": field})


def body_schema(model: type[WriteModel]) -> dict[str, Any]:
    """Return the part of the OpenAPI document that describes the body of a route."""
    reference = {"$ref": f"#/components/schemas/{model.__name__}"}
    return {"requestBody": {"content": {"application/json": {"schema": reference}}}}


class WriteRequest:
    """One write: builds events from the current records, and stores them."""

    def __init__(self, service: Service) -> None:
        self.service = service

    @property
    def events(self) -> Writes:
        """Return the builder of events over the current records."""
        return Writes(self.service.lineage, time.time_ns())

    async def store(self, *events: JsonObject) -> None:
        """Store events; on return they are on disk and in the graph.

        Raises:
            ApiError: an event is refused, or cannot be stored now.
        """
        try:
            await self._store(events)
        except (EventError, QueueFull, StoreError) as error:
            refusal = ingest_error(error)
            self.service.refused[refusal.code] += 1
            raise refusal from error
        await current_graph(self.service)

    async def _store(self, events: Sequence[JsonObject]) -> None:
        if len(events) == 1:
            await self.service.ingest(canonical_json(events[0]))
            return
        result = await self.service.ingest_batch(canonical_json(list(events)))
        if result.refused:
            raise result.refused[0][1]


async def write_request(request: Request, service: ServiceDep) -> AsyncIterator[WriteRequest]:
    """Yield a write request that no other one overlaps: each reads what the one before it has stored."""
    state = request.app.state
    lock: asyncio.Lock | None = getattr(state, "write_lock", None)
    if lock is None:
        lock = state.write_lock = asyncio.Lock()
    async with lock:
        await current_graph(service)
        yield WriteRequest(service)


WriteDep = Annotated[WriteRequest, Depends(write_request)]
