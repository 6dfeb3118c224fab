# SPDX-License-Identifier: Apache-2.0
"""Events as they were read from a source, before any check."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lineage.checks.events.check_rules import Rule


class UnreadableEvent(NamedTuple):
    """Bytes that could not be read as an event, and the rule that they violate."""

    rule: Rule
    message: str


class RawEvent(NamedTuple):
    """One event: its source (file, URL), its line or number there (from 1), and its bytes or parsed JSON."""

    source: str
    line: int
    content: object | bytes | UnreadableEvent


def raw_events(events: Iterable[object], source: str = "events") -> Iterator[RawEvent]:
    """Number events that are in memory, parsed or as bytes."""
    return (RawEvent(source, number, event) for number, event in enumerate(events, 1))
