# SPDX-License-Identifier: Apache-2.0
"""Responses of operations: dead letters, rebuild, compaction."""

from typing import Any

from lineage.api.schemas.base import ResponseModel


class DeadLetter(ResponseModel):
    """Accepted event that could not be used. `raw` is the text of a row that is not JSON."""

    kind: str
    hash: str
    error: str
    parked_at: str
    event: Any
    raw: str | None = None


class DeadLetters(ResponseModel):
    """One page of dead letters; `totalCount` counts all of the requested kind."""

    dead_letters: list[DeadLetter]
    total_count: int


class Replayed(ResponseModel):
    """Number of dead letters that were used, and that remain."""

    replayed: int
    failed: int


class Rebuilt(ResponseModel):
    """Result of a rebuild; `equal` is true if the graph is the same as before."""

    equal: bool
    events: int
    seconds: float


class Compacted(ResponseModel):
    """Number of events that left the log."""

    removed: int
