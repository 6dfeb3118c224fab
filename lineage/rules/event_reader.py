# SPDX-License-Identifier: Apache-2.0
"""Events under canonical names: the naming rules applied to originals."""

from collections.abc import Mapping

import msgspec

from lineage.events import Event, InvalidEvent, Original, canonical_json, event_of, parse_json, read_original
from lineage.events.event import NEVER_CLAMPED
from lineage.rules.canonical import canonical_event
from lineage.rules.model import Rules, TableName
from lineage.rules.names import Names

NO_LOCATIONS: Mapping[TableName, str] = {}

_array_decoder = msgspec.json.Decoder(list[msgspec.Raw])


class EventReader:
    """Applies the rules to originals. `locations` are table locations from catalogs, which may grow meanwhile."""

    def __init__(self, rules: Rules, locations: Mapping[TableName, str] = NO_LOCATIONS) -> None:
        self._rules = rules
        self._locations = locations

    def names(self) -> Names:
        """Return the resolution of names for one event."""
        return Names(self._rules, self._locations)

    def event(self, original: Original, accepted: int) -> Event:
        """Return the event of an original that was first accepted at `accepted` (ns).

        Raises:
            InvalidEvent: a name is empty after applying the rules.
        """
        return event_of(original, canonical_event(original.body, self.names()), accepted)


def read_event(data: bytes, rules: Rules, locations: Mapping[TableName, str] = NO_LOCATIONS) -> Event:
    """Read one event as sent by an emitter, at its stated time; `locations` are table locations from catalogs.

    Raises:
        MalformedJson: the bytes are not JSON that every consumer reads alike.
        InvalidEvent: a field is missing or wrong, or a name is empty after applying the rules.
    """
    return EventReader(rules, locations).event(read_original(data), NEVER_CLAMPED)


def split_array(data: bytes) -> list[bytes]:
    """Cut a batch, a JSON array of events, into its elements as they came. Elements are not validated.

    Raises:
        MalformedJson: the bytes are not JSON that every consumer reads alike.
        InvalidEvent: they are JSON, but not an array.
    """
    try:
        return [bytes(element) for element in _array_decoder.decode(data)]
    except (msgspec.DecodeError, RecursionError):
        # Reports cause and position.
        content = parse_json(data)
    if not isinstance(content, list):
        raise InvalidEvent("", "a batch is a JSON array of events; send a single event to /api/v1/lineage")
    return [canonical_json(element) for element in content]
