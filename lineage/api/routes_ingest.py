# SPDX-License-Identifier: Apache-2.0
"""Where events come in, and how the service is doing."""

from fastapi import APIRouter, Request, Response

from lineage.api.body import read_body
from lineage.api.dependencies import ServiceDep, service_of
from lineage.api.errors import ApiError, ingest_error
from lineage.events import EventError, JsonObject, canonical_json
from lineage.fold import export_graph
from lineage.store import QueueFull, StoreError

router = APIRouter()


async def post_event(request: Request) -> Response:
    """Accept one OpenLineage event (run, job or dataset event; optionally gzip).

    201 once it is on disk, also for one that was there before. 400 malformed, 413 too large, 415 unknown
    encoding, 422 a field is missing or wrong, 503 overloaded (Retry-After), 507 no room.
    """
    service = await service_of(request)
    try:
        data = await read_body(request, request.app.state.settings.max_event_bytes)
        await service.ingest(data)
    except ApiError as error:
        service.refused[error.code] += 1
        raise
    except (EventError, QueueFull, StoreError) as error:
        refusal = ingest_error(error)
        service.refused[refusal.code] += 1
        raise refusal from error
    return Response(status_code=201)


# As a plain route: FastAPI's parameter machinery costs a tenth of the ingest rate and has nothing to resolve.
router.add_route("/api/v1/lineage", post_event, methods=["POST"])


@router.get("/health")
async def health() -> JsonObject:
    """200 once the graph is rebuilt and events are accepted; before that, nothing listens."""
    return {"status": "UP"}


@router.get("/api/v1/stats")
async def stats(service: ServiceDep) -> JsonObject:
    """Counts since the start (`logged`: events in the log). Refused events are counted by error code.

    `unapplied` lists what a defect kept out of the graph: events, and jobs whose lineage is not up to date.
    """
    return {
        "accepted": service.accepted,
        "stored": service.stored,
        "duplicates": service.duplicates,
        "refused": dict(sorted(service.refused.items())),
        "waiting": service.waiting,
        "logged": service.logged,
        "unapplied": service.defects(),
    }


@router.get("/api/v1/graph")
async def graph(service: ServiceDep) -> Response:
    """The whole graph as canonical JSON; see `lineage.fold.export` for its shape."""
    export = export_graph(service.lineage, service.graph)
    return Response(canonical_json(export), media_type="application/json")
