# SPDX-License-Identifier: Apache-2.0
"""Where a shop that was cut short takes up again, and what it still owes. No I/O."""

from dataclasses import dataclass

IN_FLIGHT = 2000
"""The most messages that are written and not yet acknowledged. What a crash lost lies among the last so many."""

WINDOW = 2 * IN_FLIGHT
"""How many messages back from the end of a partition to look: each order may be there twice."""


@dataclass(frozen=True)
class Resume:
    """What to write: first the numbers of orders and of bids that are owed, then everything from `first` on."""

    first: int
    orders: tuple[int, ...]
    bids: tuple[int, ...]


def resume(orders: frozenset[int], bids: frozenset[int]) -> Resume:
    """Takes up after a shop that left these order numbers at the ends of its topics.

    Numbers are handed out in order and acknowledged in any: a later one may be there while an earlier one, on
    another partition or topic, is not.
    """
    top = max(orders | bids, default=-1)
    recent = range(max(0, top - IN_FLIGHT + 1), top + 1)
    return Resume(
        top + 1,
        tuple(number for number in recent if number not in orders),
        tuple(number for number in recent if number not in bids),
    )
