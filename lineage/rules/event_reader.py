# SPDX-License-Identifier: Apache-2.0
"""Events under canonical names: the naming rules applied to originals."""

from lineage.events import Event, Original, event_of, read_original
from lineage.events.event import NEVER_CLAMPED
from lineage.rules.canonical import canonical_event
from lineage.rules.model import Rules
from lineage.rules.names import Names


class EventReader:
    """Applies the rules to originals."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    def names(self) -> Names:
        """Return the names of one event."""
        return Names(self.rules)

    def event(self, original: Original, accepted: int) -> Event:
        """Return the event of an original that was first accepted at `accepted` (ns).

        Raises:
            InvalidEvent: a name is empty after applying the rules.
        """
        names = self.names()
        return event_of(original, canonical_event(original.body, names), accepted, names.locations)


def read_event(data: bytes, rules: Rules) -> Event:
    """Read one event as sent by an emitter, at its stated time.

    Raises:
        MalformedJson: the bytes are not JSON that every consumer reads alike.
        InvalidEvent: a field is missing or wrong, or a name is empty after applying the rules.
    """
    return EventReader(rules).event(read_original(data), NEVER_CLAMPED)
