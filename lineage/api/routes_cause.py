# SPDX-License-Identifier: Apache-2.0
"""Route of the cause of a wrong number: what changed upstream of a dataset or column in a period."""

import asyncio
import json
from time import time_ns
from typing import Annotated

from fastapi import APIRouter, Query, Response

from lineage.api.dependencies import NodeParameter, ServiceDep
from lineage.api.errors import ApiError
from lineage.api.parameters import time_parameter
from lineage.api.past import past_answer
from lineage.api.responses import json_response
from lineage.api.routes_impact import DepthOrAll, origin
from lineage.api.schemas import cause as schemas
from lineage.api.time_slices import in_slices
from lineage.checks.cause import Upstream, find_cause, render_json
from lineage.events import JobId, JsonObject
from lineage.service import Service
from lineage.store.event_query import EventQuery
from lineage.store.event_store import EventStore

router = APIRouter(prefix="/api/v1")

MAX_EVENTS = 100_000
"""Run events of a period that one request reads: about 10 s in a thread."""

_EVENTS_PER_PAGE = 1_000
_BASELINE_NS = 24 * 3600 * 10**9


@router.get("/cause", response_model=schemas.Finding)
async def cause(
    service: ServiceDep,
    node: NodeParameter,
    since: Annotated[str, Query(description="a time at which the number was right")],
    until: str | None = None,
    depth: DepthOrAll = None,
    baseline: Annotated[
        str | None, Query(description="start of the time before `since` that is compared with; one day before")
    ] = None,
) -> Response:
    """Return what changed upstream of a dataset or column between `since` and `until` (now), best explanation first.

    Schemas, definitions of jobs, column edges, failed and missing runs, volumes, quality checks and tags; see
    `lineage.checks.cause`; up to `depth` jobs away. The origins at both times count, because edges that went are part
    of the explanation.
    """
    begin, end = time_parameter("since", since), time_ns() if until is None else time_parameter("until", until)
    first = max(0, begin - _BASELINE_NS) if baseline is None else time_parameter("baseline", baseline)
    if not first <= begin < end:
        message = f"since: {since} is not between the baseline and the end of the period; name a time before it"
        raise ApiError(400, "invalid_parameter", message, {"field": "since"})
    origins = [json.loads(bytes((await origin(service, node, depth)).body))]
    try:
        origins.append(json.loads((await past_answer(service, "origin", node, depth, since, "since")).text))
    except ApiError as error:
        if error.status not in {404, 410}:  # the node is younger, or its past was compacted
            raise
    jobs = frozenset(job for each in origins for job in Upstream.of_origin(each).jobs)
    stored = await asyncio.to_thread(_events_of, service.log, jobs, first, end)
    events = [_canonical(service, body) async for part in in_slices(stored, 10) for body in part]
    finding = await asyncio.to_thread(find_cause, origins, events, begin, end)
    return json_response(render_json(finding))


def _canonical(service: Service, body: bytes) -> JsonObject:
    event: JsonObject = json.loads(service.under_canonical_names(body))
    return event


def _events_of(log: EventStore, jobs: frozenset[JobId], first: int, until: int) -> list[bytes]:
    """Return the run events of some jobs in a period.

    Raises:
        ApiError: 422 if the period has more than `MAX_EVENTS` events.
    """
    found, offset, total = [], 0, 1
    while offset < total:
        query = EventQuery(after=first, before=until, newest_first=False, limit=_EVENTS_PER_PAGE, offset=offset)
        bodies, total = log.run_events(query)
        if total > MAX_EVENTS:
            message = (
                f"the period has {total} run events, at most {MAX_EVENTS} are read: name a later since or baseline"
            )
            raise ApiError(422, "too_much", message, {"field": "since", "limit": MAX_EVENTS})
        if not bodies:
            break  # the others were compacted in between
        offset += len(bodies)
        found += [body for body in bodies if _job_of(body) in jobs]
    return found


def _job_of(body: bytes) -> JobId:
    job = json.loads(body)["job"]
    return JobId(job["namespace"], job["name"])
