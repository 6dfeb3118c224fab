# SPDX-License-Identifier: Apache-2.0
"""Record of an event for Kafka: flat fields and the event, in the form of Connect's JsonConverter. Pure.

Each record has its schema, so that a sink creates its table with the right types without a schema registry.
"""

from typing import cast

from lineage.events import DatasetId, Event, EventError, JsonObject, Kind, Original, event_of
from lineage.events.event import MAX_CLOCK_SKEW, NO_TABLES
from lineage.events.strict_json import canonical_json, parse_json
from lineage.events.timestamps import parse_time

HASH = "event_hash"
"""Field with the hash of an event, which identifies it."""

_MILLISECOND = 1_000_000

_TIMESTAMP = {"type": "int64", "name": "org.apache.kafka.connect.data.Timestamp", "version": 1}

_FIELDS: dict[str, JsonObject] = {
    HASH: {"type": "string"},
    "position": {"type": "int64"},
    "event_time": _TIMESTAMP,
    "accepted_at": _TIMESTAMP,
    "effective_ns": {"type": "int64"},
    "kind": {"type": "string"},
    "event_type": {"type": "string", "optional": True},
    "run_id": {"type": "string", "optional": True},
    "job_namespace": {"type": "string", "optional": True},
    "job_name": {"type": "string", "optional": True},
    "dataset_namespace": {"type": "string", "optional": True},
    "dataset_name": {"type": "string", "optional": True},
    "producer": {"type": "string"},
    "event": {"type": "string"},
    "locations": {"type": "string", "optional": True},
}
"""Fields of a record, with Connect's types:

- `position`: number of the event in the log, in order of arrival.
- `event_time`: time that the emitter states. `effective_ns`: the same in nanoseconds, but at most five minutes after
  the event's acceptance; events are ordered by it, and then by their hash.
- `kind`: `run`, `job` or `dataset`; `dataset_namespace` and `dataset_name` are those of a dataset event.
- `event`: the event as canonical JSON. All names are those of the service's naming rules.
- `locations`: where the tables lie that the event names by their catalog alone, as JSON `[[namespace, name, namespace
  of the location, its name]]`; null without any.
"""

_SCHEMA = {
    "type": "struct",
    "optional": False,
    "fields": [{"field": name, "optional": False, **kind} for name, kind in _FIELDS.items()],
}
_PREFIX = b'{"schema":' + canonical_json(_SCHEMA) + b',"payload":'


def record_key(event: Event) -> bytes:
    """Return the key of an event's record: its hash, hexadecimal."""
    return event.hash.hex().encode()


def record_value(event: Event, position: int, accepted: int) -> bytes:
    """Return the value of an event's record.

    Args:
        event: event of the log.
        position: its number in the log.
        accepted: time of its first acceptance, ns.
    """
    job, dataset = event.job, event.dataset
    payload = {
        HASH: event.hash.hex(),
        "position": position,
        "event_time": event.original.time // _MILLISECOND,
        "accepted_at": accepted // _MILLISECOND,
        "effective_ns": event.order.time,
        "kind": event.kind.value,
        "event_type": event.event_type or None,
        "run_id": event.run.run if event.run else None,
        "job_namespace": job.namespace if job else None,
        "job_name": job.name if job else None,
        "dataset_namespace": dataset.namespace if dataset else None,
        "dataset_name": dataset.name if dataset else None,
        "producer": event.original.body["producer"],
        "event": canonical_json(event.body).decode(),
        "locations": _locations_text(event),
    }
    return _PREFIX + canonical_json(payload) + b"}"


def event_of_record(content_hash: str, kind: str, effective_ns: int, event: str, locations: str | None) -> Event:
    """Return the event of a record, from the fields of these names; its `original` has canonical names."""
    body = cast(JsonObject, parse_json(event.encode()))
    found = Kind(kind)
    original = Original(
        kind=found,
        hash=bytes.fromhex(content_hash),
        time=parse_time(body["eventTime"]),
        run=body["run"]["runId"].lower() if found is Kind.RUN else None,
        body=body,
        data=b"",
    )
    # The acceptance by which an event of that time or a later one has this effective time.
    accepted = effective_ns - MAX_CLOCK_SKEW
    return event_of(original, body, accepted, _locations(locations) if locations else NO_TABLES)


def _locations(text: str) -> dict[DatasetId, DatasetId]:
    return {DatasetId(*row[:2]): DatasetId(*row[2:]) for row in cast(list[list[str]], parse_json(text.encode()))}


def _locations_text(event: Event) -> str | None:
    rows = sorted([*table, *location] for table, location in event.locations.items())
    return canonical_json(rows).decode() if rows else None


def hash_of_record(value: bytes) -> bytes:
    """Return the hash of the event of a record; empty if the record is none of this service."""
    try:
        content = parse_json(value)
    except EventError:
        return b""
    payload = content.get("payload") if isinstance(content, dict) else None
    found = payload.get(HASH) if isinstance(payload, dict) else None
    return bytes.fromhex(found) if isinstance(found, str) else b""
