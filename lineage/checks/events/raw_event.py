# SPDX-License-Identifier: Apache-2.0
"""What a source gives to the check."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lineage.checks.events.check_rules import Rule


class Unreadable(NamedTuple):
    """Something in the place of an event that could not be read at all."""

    rule: Rule
    message: str


class Item(NamedTuple):
    """One event as it came: its source, its line or number there (from 1), and its bytes or parsed JSON."""

    source: str
    line: int
    content: object | bytes | Unreadable


def items_of(events: Iterable[object], source: str = "events") -> Iterator[Item]:
    """Events that are in memory: parsed, or as bytes."""
    return (Item(source, number, event) for number, event in enumerate(events, 1))
