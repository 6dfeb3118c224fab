# SPDX-License-Identifier: Apache-2.0
"""Search for the first order to write after a restart. No I/O."""

from collections.abc import Callable, Collection, Sequence

WIDTH = 64
"""Order numbers per query: a million orders are searched with four queries."""

_STEPS = tuple(2**exponent - 1 for exponent in range(WIDTH - 1))


def first_unwritten(written: Callable[[Sequence[int]], Collection[int]]) -> int:
    """Return the first unwritten order number; orders are written in sequence, in atomic batches.

    If rows were deleted, this may be the number of a deleted row; later rows then exist and must not change.

    Args:
        written: returns the written ones of at most `WIDTH` order numbers.
    """
    low = max(written(_STEPS), default=-1)
    if low < 0:
        return 0
    high = 2 * low + 1
    while high - low > 1:
        queried = range(low + 1, high, max(1, (high - low) // WIDTH + 1))
        low = max(written(queried), default=low)
        high = min((number for number in queried if number > low), default=high)
    return high
