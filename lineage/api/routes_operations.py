# SPDX-License-Identifier: Apache-2.0
"""Routes of operations: dead letters, rebuild, compaction."""

import asyncio
import json
from typing import Annotated, Literal

from fastapi import APIRouter, Query

from lineage.api.dependencies import Limit, Offset, ServiceDep
from lineage.api.errors import ApiError, ingest_error
from lineage.api.parameters import hash_parameter, time_parameter
from lineage.api.schemas import operations as schemas
from lineage.events.timestamps import format_time
from lineage.store import DeadLetter, DeadLetterKind, StoreError
from lineage.store.horizons import Horizon, Horizons

router = APIRouter(prefix="/api/v1")

Kind = Literal["fold", "damaged", "forward", "refused"]


@router.get("/dead-letters", response_model_exclude_unset=True)
async def dead_letters(
    service: ServiceDep, kind: Kind | None = None, limit: Limit = 100, offset: Offset = 0
) -> schemas.DeadLetters:
    """List events that could not be used: kind, hash, error, time, and the event itself.

    `fold`: a defect keeps it out of the graph. `damaged`: its row in the log is corrupt. `forward`: the backend
    that events are forwarded to rejects it permanently. `refused`: a terminal event that was answered 413 or 422; its
    run has ended all the same.
    """
    trouble = DeadLetterKind(kind) if kind else None
    letters = await asyncio.to_thread(service.log.dead_letters.page, limit, offset, trouble)
    counts = await asyncio.to_thread(service.log.dead_letters.count)
    total = sum(count for known, count in counts.items() if trouble in (None, known))
    return schemas.DeadLetters(dead_letters=[_dead_letter(letter) for letter in letters], total_count=total)


@router.post("/dead-letters/replay")
async def replay(
    service: ServiceDep, kind: Kind | None = None, event: Annotated[str | None, Query(alias="hash")] = None
) -> schemas.Replayed:
    """Retry dead letters: all, those of one kind, or one by its hash. Returns how many remain."""
    wanted = hash_parameter("hash", event) if event else None
    replayed = failed = 0
    try:
        for trouble in [DeadLetterKind(kind)] if kind else list(DeadLetterKind):
            for content_hash in await asyncio.to_thread(service.log.dead_letters.hashes, trouble):
                if wanted in (None, content_hash):
                    done = await service.replay(trouble, content_hash)
                    replayed, failed = replayed + done, failed + (not done)
    except StoreError as error:
        raise ingest_error(error) from error
    if wanted is not None and not replayed and not failed:
        raise ApiError(404, "not_found", f"no dead letter has the hash {event}", {"hash": event})
    return schemas.Replayed(replayed=replayed, failed=failed)


@router.post("/rebuild")
async def rebuild(service: ServiceDep) -> schemas.Rebuilt:
    """Rebuild the graph from the log and use it; `equal` is true if it matches the previous one."""
    done = await service.rebuild()
    return schemas.Rebuilt(equal=done.equal, events=done.events, seconds=round(done.seconds, 3))


@router.post("/compact")
async def compact(service: ServiceDep, before: str) -> schemas.Compacted:
    """Compact events older than `before`, as retention does: the events leave the log, the graph is unchanged."""
    try:
        removed = await service.compact(Horizons(Horizon(time_parameter("before", before))))
    except StoreError as error:
        raise ingest_error(error) from error
    return schemas.Compacted(removed=removed)


def _dead_letter(letter: DeadLetter) -> schemas.DeadLetter:
    found = schemas.DeadLetter(
        kind=letter.trouble.value,
        hash=letter.hash.hex(),
        error=letter.error,
        parked_at=format_time(letter.parked_at),
        event=None,
    )
    try:
        found.event = None if letter.body is None else json.loads(letter.body)
    except ValueError:
        # A damaged row is listed with its remaining text.
        found.raw = (letter.body or b"").decode(errors="replace")
    return found
