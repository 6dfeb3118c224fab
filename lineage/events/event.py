# SPDX-License-Identifier: Apache-2.0
"""Validated event under canonical names, with its place in the order of all events."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from lineage.events.ids import DatasetId, JobId, JsonObject, RunId
from lineage.events.original import Original
from lineage.events.validation import Kind

MAX_CLOCK_SKEW = 5 * 60 * 10**9
"""Nanoseconds by which an event's time may be ahead of its first acceptance."""

NEVER_CLAMPED = 2**63 - 1 - MAX_CLOCK_SKEW
"""Time of acceptance of events that were not accepted by a service, such as those of a file: no time is clamped."""


NO_TABLES: Mapping[DatasetId, DatasetId] = {}

ORDER_HASH_BYTES = 16
"""Bytes of the hash of an order: events differ in them, and hashes are half of the size of a run's record."""


class Order(NamedTuple):
    """Place in the total order of events: effective time in nanoseconds, then the first bytes of the original's hash.

    `hash` has `ORDER_HASH_BYTES`.
    """

    time: int
    hash: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Validated event. `body` has canonical names; it is shared with the records and must not be changed."""

    kind: Kind
    order: Order
    body: JsonObject
    job: JobId | None
    run: RunId | None
    dataset: DatasetId | None
    event_type: str
    """Event type of the standard; OTHER for a run event without one, empty for job and dataset events."""
    original: Original
    locations: Mapping[DatasetId, DatasetId] = field(default_factory=dict)
    """Location of each catalog table that the event names, unless the catalog states another one."""

    @property
    def hash(self) -> bytes:
        """Return the hash of the original, under which the log stores it."""
        return self.original.hash

    @property
    def clamped(self) -> bool:
        """Return whether the stated time is in the future of the first acceptance, and so not the effective time."""
        return self.order.time != self.original.time


def event_of(
    original: Original, body: JsonObject, accepted: int, locations: Mapping[DatasetId, DatasetId] = NO_TABLES
) -> Event:
    """Return the event of an original; `body` is its body under canonical names, `accepted` its first acceptance (ns).

    The effective time is the stated one, but at most `MAX_CLOCK_SKEW` after the first acceptance: an event of an
    emitter whose clock is wrong must not come after all events of the years until then.
    """
    order = Order(min(original.time, accepted + MAX_CLOCK_SKEW), original.hash[:ORDER_HASH_BYTES])
    job = run = dataset = None
    event_type = ""
    if original.kind is Kind.DATASET:
        dataset = DatasetId(body["dataset"]["namespace"], body["dataset"]["name"])
    else:
        job = JobId(body["job"]["namespace"], body["job"]["name"])
    if original.run is not None and job is not None:
        run = RunId(original.run, job)
        event_type = body.get("eventType") or "OTHER"
    return Event(
        kind=original.kind,
        order=order,
        body=body,
        job=job,
        run=run,
        dataset=dataset,
        event_type=event_type,
        original=original,
        locations=locations,
    )
