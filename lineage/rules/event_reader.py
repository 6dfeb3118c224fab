# SPDX-License-Identifier: Apache-2.0
"""Decode events: received bytes to a canonical event, and stored bytes back to one."""

import json
from collections.abc import Mapping

from lineage.events import Event, InvalidEvent, Kind, ValidatedEvent, event_from_body, parse_json, validate_event
from lineage.rules import Names, Rules, TableName, canonical_event

NO_LOCATIONS: Mapping[TableName, str] = {}


def read_event(data: bytes, rules: Rules, locations: Mapping[TableName, str] = NO_LOCATIONS) -> Event:
    """Read one event as sent by an emitter; `locations` are table locations from catalogs.

    Raises:
        MalformedJson: the bytes are not JSON that every consumer reads alike.
        InvalidEvent: a field is missing or wrong, or a name is empty after applying the rules.
    """
    return canonical(validate_event(parse_json(data)), Names(rules, locations))


def read_array(data: bytes) -> list[object]:
    """Parse a batch: a JSON array of events, not yet validated.

    Raises:
        MalformedJson: the bytes are not JSON that every consumer reads alike.
        InvalidEvent: they are JSON, but not an array.
    """
    content = parse_json(data)
    if not isinstance(content, list):
        raise InvalidEvent("", "a batch is a JSON array of events; send a single event to /api/v1/lineage")
    return content


def canonical(checked: ValidatedEvent, names: Names) -> Event:
    """Apply the naming rules to a validated event.

    Raises:
        InvalidEvent: a name is empty after applying the rules.
        MalformedJson: see `lineage.events.canonical_json`.
    """
    return event_from_body(checked.kind, canonical_event(checked.body, names))


def restore_event(kind: str, encoded: bytes) -> Event:
    """Decode a stored event, which is validated and canonical."""
    return event_from_body(Kind(kind), json.loads(encoded), encoded)
