# SPDX-License-Identifier: Apache-2.0
"""OpenLineage events: from bytes to a checked, immutable `Event`."""

from lineage.events.errors import EventError, InvalidEvent, MalformedJson
from lineage.events.event import Event, event_from_body
from lineage.events.ids import DatasetId, JobId, JsonObject, RunId
from lineage.events.strict_json import canonical_json, parse_json
from lineage.events.validation import Checked, Kind, check_shape

__all__ = [
    "Checked",
    "DatasetId",
    "Event",
    "EventError",
    "InvalidEvent",
    "JobId",
    "JsonObject",
    "Kind",
    "MalformedJson",
    "RunId",
    "canonical_json",
    "check_shape",
    "event_from_body",
    "parse_json",
]
