# SPDX-License-Identifier: Apache-2.0
"""Validated event under canonical names."""

import hashlib
from dataclasses import dataclass
from typing import NamedTuple

from lineage.events.ids import DatasetId, JobId, JsonObject, RunId
from lineage.events.strict_json import canonical_json
from lineage.events.timestamps import parse_time
from lineage.events.validation import Kind


class Order(NamedTuple):
    """Place in the total order of events: event time in nanoseconds, then content hash."""

    time: int
    hash: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Validated event under canonical names. `encoded` is its canonical JSON, `order.hash` its SHA-256.

    `body` is shared with the records and must not be changed.
    """

    kind: Kind
    order: Order
    body: JsonObject
    encoded: bytes
    job: JobId | None
    run: RunId | None
    dataset: DatasetId | None
    event_type: str
    """Event type of the standard; OTHER for a run event without one, empty for job and dataset events."""


def event_from_body(kind: Kind, body: JsonObject, encoded: bytes | None = None) -> Event:
    """Build the event of a validated body with canonical names.

    `encoded` is the body's canonical JSON where the caller has it, as when reading the log.

    Raises:
        MalformedJson: see `canonical_json`.
    """
    if encoded is None:
        encoded = canonical_json(body)
    order = Order(parse_time(body["eventTime"]), hashlib.sha256(encoded).digest())
    job = run = dataset = None
    event_type = ""
    if kind is Kind.DATASET:
        dataset = DatasetId(body["dataset"]["namespace"], body["dataset"]["name"])
    else:
        job = JobId(body["job"]["namespace"], body["job"]["name"])
    if kind is Kind.RUN and job is not None:
        run = RunId(body["run"]["runId"].lower(), job)
        event_type = body.get("eventType") or "OTHER"
    return Event(
        kind=kind, order=order, body=body, encoded=encoded, job=job, run=run, dataset=dataset, event_type=event_type
    )
