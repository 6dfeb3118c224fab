# SPDX-License-Identifier: Apache-2.0
"""OpenLineage events: from bytes to a validated, immutable `Event`."""

from lineage.events.errors import EventError, InvalidEvent, MalformedJson
from lineage.events.event import Event, event_of
from lineage.events.ids import DatasetId, JobId, JsonObject, RunId, identity_json
from lineage.events.original import Original, read_original
from lineage.events.strict_json import canonical_json, parse_json
from lineage.events.validation import Kind, ValidatedEvent, validate_event

__all__ = [
    "DatasetId",
    "Event",
    "EventError",
    "InvalidEvent",
    "JobId",
    "JsonObject",
    "Kind",
    "MalformedJson",
    "Original",
    "RunId",
    "ValidatedEvent",
    "canonical_json",
    "event_of",
    "identity_json",
    "parse_json",
    "read_original",
    "validate_event",
]
