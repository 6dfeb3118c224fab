# SPDX-License-Identifier: Apache-2.0
"""Routes of ingest, health and statistics."""

import asyncio

from fastapi import APIRouter, Request, Response

from lineage.api.dependencies import ServiceDep, service_of
from lineage.api.errors import ApiError, ingest_error
from lineage.api.request_body import BodyShare, read_body, too_large
from lineage.api.schemas import ingest as schemas
from lineage.api.starting_gate import INGEST_PATHS
from lineage.events import EventError, JsonObject
from lineage.events.batch import BatchTooLong
from lineage.service import Service
from lineage.store import QueueFull, StoreError

router = APIRouter()

_MAX_LISTED = 1_000
"""Refused events of a batch that are listed; further ones are only counted."""


async def post_event(request: Request) -> Response:
    """Store one OpenLineage event (run, job or dataset event; optionally gzip).

    201 once it is on disk, also for one stored before. 400 malformed, 413 too large, 415 unknown encoding,
    422 a field is missing or wrong, 503 overloaded (Retry-After), 507 disk full.
    """
    service = await service_of(request)
    try:
        with request.app.state.bodies.share() as share:
            data = await _read_event(request, service, share)
            await service.ingest(data)
    except ApiError as error:
        service.refused[error.code] += 1
        raise
    except (EventError, QueueFull, StoreError) as error:
        refusal = ingest_error(error)
        service.refused[refusal.code] += 1
        raise refusal from error
    return Response(status_code=201)


async def _read_event(request: Request, service: Service, share: BodyShare) -> bytes:
    """Return the body of one event. Up to the size of a batch, one that is too large still ends its run.

    Raises:
        ApiError: see `read_body`.
    """
    settings = request.app.state.settings
    try:
        data = await read_body(request, max(settings.max_event_bytes, settings.max_batch_bytes), share)
    except ApiError as error:
        raise too_large(settings.max_event_bytes) if "limit" in error.details else error from error
    if len(data) > settings.max_event_bytes:
        refusal = too_large(settings.max_event_bytes)
        await service.keep_ends([(data, str(refusal))])
        raise refusal
    return data


async def post_batch(request: Request) -> Response:
    """Store a JSON array of OpenLineage events; report the cause of each refused one.

    200 once all are on disk: `{"received", "stored", "duplicates"}`. 422 where some are refused: the others are
    stored, `details` holds the same counts, `refusedCount`, and `refused` with index, code and message of each.
    400, 413, 415, 503 and 507 as for one event: nothing was stored.
    """
    service = await service_of(request)
    try:
        with request.app.state.bodies.share() as share:
            data = await read_body(request, request.app.state.settings.max_batch_bytes, share)
            result = await service.ingest_batch(data)
    except ApiError as error:
        service.refused[error.code] += 1
        raise
    except BatchTooLong as error:
        service.refused["too_large"] += 1
        raise ApiError(413, "too_large", str(error), {"limit": error.limit}) from error
    except (EventError, QueueFull, StoreError) as error:
        refusal = ingest_error(error)
        service.refused[refusal.code] += 1
        raise refusal from error
    counts = schemas.BatchCounts(received=result.received, stored=result.stored, duplicates=result.duplicates)
    if not result.refused:
        return Response(counts.model_dump_json(), media_type="application/json")
    refused: list[JsonObject] = []
    for index, cause in result.refused:
        refusal = ingest_error(cause)
        service.refused[refusal.code] += 1
        if len(refused) < _MAX_LISTED:
            refused.append(
                {"index": index, "code": refusal.code, "message": refusal.message, "details": refusal.details}
            )
    count = len(result.refused)
    message = f"{count} of {result.received} events are refused, the others are stored; see details.refused"
    raise ApiError(422, "invalid_events", message, {**counts.model_dump(), "refusedCount": count, "refused": refused})


# Plain routes: FastAPI's parameter resolution costs a tenth of the ingest rate and has nothing to resolve here.
_EVENT_PATH, _BATCH_PATH = INGEST_PATHS
router.add_route(_EVENT_PATH, post_event, methods=["POST"])
router.add_route(_BATCH_PATH, post_batch, methods=["POST"])

documented = APIRouter()
"""The same two routes for the OpenAPI document; not mounted."""

_EVENT: dict[str, object] = {"type": "object", "description": "OpenLineage run, job or dataset event"}


def _request_body_schema(schema: dict[str, object]) -> dict[str, object]:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


documented.add_api_route(
    _EVENT_PATH,
    post_event,
    methods=["POST"],
    status_code=201,
    response_class=Response,
    openapi_extra=_request_body_schema(_EVENT),
)
documented.add_api_route(
    _BATCH_PATH,
    post_batch,
    methods=["POST"],
    response_model=schemas.BatchCounts,
    openapi_extra=_request_body_schema({"type": "array", "items": _EVENT}),
)


@router.get("/health", response_model_exclude_none=True)
async def health(service: ServiceDep) -> schemas.Health:
    """Report that events are accepted, and with `starting` that the graph cannot be read yet."""
    return schemas.Health(status="UP", starting=service.starting)


@router.get("/api/v1/stats")
async def stats(service: ServiceDep) -> schemas.Statistics:
    """Return counts since the start; `logged` and `deadLetters` count what the log holds, `refused` is by error code.

    `unapplied` lists events that could not be applied to the graph, and jobs whose lineage is outdated.
    `instance` is the role of an instance that shares its log with others; null without others. `forward` is the
    progress of forwarding, `kafka` that of reading a topic, `publish` that of publishing to one; null if disabled.
    """
    logged = await asyncio.to_thread(service.log.count)
    letters = await asyncio.to_thread(service.log.dead_letters.count)
    counts = {"logged": logged, "deadLetters": {kind.value: count for kind, count in letters.items()}}
    return schemas.Statistics.model_validate({**service.counts(), **counts})
