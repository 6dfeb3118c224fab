# SPDX-License-Identifier: Apache-2.0
"""The way of an event from bytes on the wire to a canonical event, and back from the log."""

import json

from lineage.events import Event, Kind, check_shape, event_from_body, parse_json
from lineage.rules import Rules, canonical_event


def read_event(data: bytes, rules: Rules) -> Event:
    """Read one event as an emitter sent it.

    Raises:
        MalformedJson: the bytes are not JSON that every consumer reads alike.
        InvalidEvent: a field is missing or wrong, or a name stays empty after the rules.
    """
    kind, body = check_shape(parse_json(data))
    return event_from_body(kind, canonical_event(body, rules))


def restore_event(kind: str, encoded: bytes) -> Event:
    """Read one event as `read_event` made it: checked and canonical already."""
    return event_from_body(Kind(kind), json.loads(encoded), encoded)
