# SPDX-License-Identifier: Apache-2.0
"""Responses of ingest, health and statistics."""

from typing import Any, Literal

from lineage.api.schemas.base import ResponseModel


class BatchCounts(ResponseModel):
    """Number of events received, newly stored, and stored before."""

    received: int
    stored: int
    duplicates: int


class Health(ResponseModel):
    """The service accepts events. With `starting`, the progress, the graph is made again and cannot be read yet."""

    status: Literal["UP"] = "UP"
    starting: str | None = None


class UnappliedEvent(ResponseModel):
    """Stored event that could not be applied to the graph."""

    hash: str
    error: str


class UnderivedJob(ResponseModel):
    """Job whose lineage could not be derived; the graph holds its previous lineage."""

    job: str
    error: str


class KafkaStatus(ResponseModel):
    """Progress of reading a topic: numbers of records since the start, and of records not yet read."""

    topic: str
    received: int
    refused: int
    empty: int
    lost: int
    behind: int
    last_error: str | None


class PublishStatus(ResponseModel):
    """Progress of publishing to a topic: events published since the start, and events not yet published."""

    topic: str
    published: int
    behind: int
    last_error: str | None


class ForwardStatus(ResponseModel):
    """Progress of forwarding: events delivered and parked since the start, and events not yet sent."""

    to: str
    delivered: int
    behind: int
    parked: int
    last_error: str | None
    cursor: int


class InstanceStatus(ResponseModel):
    """Role of an instance that shares its log with others; `writer` is the name of the one that writes, if known."""

    name: str
    writes: bool
    writer: str | None


class Statistics(ResponseModel):
    """Counts since the start; `logged` and `deadLetters` count what the log holds, `refused` is by error code.

    `clamped` counts events whose time was in the future when they arrived.
    """

    accepted: int
    stored: int
    duplicates: int
    clamped: int
    refused: dict[str, int]
    waiting: int
    listeners: int
    unapplied: list[UnappliedEvent | UnderivedJob]
    instance: InstanceStatus | None
    forward: ForwardStatus | None
    kafka: KafkaStatus | None
    publish: PublishStatus | None
    logged: int
    dead_letters: dict[str, int]


class StoredEvents(ResponseModel):
    """One page of run events as stored; `totalCount` counts all matching events."""

    events: list[dict[str, Any]]
    total_count: int
