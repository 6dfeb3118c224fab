# SPDX-License-Identifier: Apache-2.0
"""The way of an event from bytes on the wire to a canonical event, and back from the log."""

import json
from collections.abc import Mapping

from lineage.events import Event, InvalidEvent, Kind, ValidatedEvent, event_from_body, parse_json, validate_event
from lineage.rules import Names, Rules, TableName, canonical_event

NOWHERE: Mapping[TableName, str] = {}


def read_event(data: bytes, rules: Rules, locations: Mapping[TableName, str] = NOWHERE) -> Event:
    """Read one event as an emitter sent it; `locations` are what catalogs tell of their tables.

    Raises:
        MalformedJson: the bytes are not JSON that every consumer reads alike.
        InvalidEvent: a field is missing or wrong, or a name stays empty after the rules.
    """
    return canonical(validate_event(parse_json(data)), Names(rules, locations))


def read_array(data: bytes) -> list[object]:
    """Read a batch: a JSON array of events, none of which has been checked yet.

    Raises:
        MalformedJson: the bytes are not JSON that every consumer reads alike.
        InvalidEvent: they are JSON, but no array.
    """
    content = parse_json(data)
    if not isinstance(content, list):
        raise InvalidEvent("", "a batch is a JSON array of events; send a single event to /api/v1/lineage")
    return content


def canonical(checked: ValidatedEvent, names: Names) -> Event:
    """A checked event under canonical names.

    Raises:
        InvalidEvent: a name stays empty after the rules.
        MalformedJson: see `lineage.events.canonical_json`.
    """
    return event_from_body(checked.kind, canonical_event(checked.body, names))


def restore_event(kind: str, encoded: bytes) -> Event:
    """Read one event as `read_event` made it: checked and canonical already."""
    return event_from_body(Kind(kind), json.loads(encoded), encoded)
