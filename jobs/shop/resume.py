# SPDX-License-Identifier: Apache-2.0
"""Where a shop takes up again, whatever became of the last one. No I/O."""

from collections.abc import Callable, Collection, Sequence

WIDTH = 64
"""How many numbers are asked for at once: a million orders are searched with four questions."""

_STEPS = tuple(2**exponent - 1 for exponent in range(WIDTH - 1))


def first_unwritten(written: Callable[[Sequence[int]], Collection[int]]) -> int:
    """The number to go on with: orders are written in the order of their numbers, each batch whole or not at all.

    Where rows were deleted by hand, the number may be one of theirs: what follows it is there already, and is to
    be left as it is.

    Args:
        written: says which of these order numbers are written; gets at most `WIDTH` of them.
    """
    low = max(written(_STEPS), default=-1)
    if low < 0:
        return 0
    high = 2 * low + 1
    while high - low > 1:
        asked = range(low + 1, high, max(1, (high - low) // WIDTH + 1))
        low = max(written(asked), default=low)
        high = min((number for number in asked if number > low), default=high)
    return high
