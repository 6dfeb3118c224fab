# SPDX-License-Identifier: Apache-2.0
"""How far a ratio, or a difference, that was measured a few times can be believed."""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_TWO_SIDED = 0.975
"""What lies below the upper end of an interval of 95 %."""


@dataclass(frozen=True)
class Interval:
    """A mean and the 95 % interval about it, from `n` pairs."""

    mean: float
    low: float
    high: float
    n: int

    def each(self, change: Callable[[float], float]) -> "Interval":
        """The interval of something that grows with this."""
        return Interval(change(self.mean), change(self.low), change(self.high), self.n)

    def __str__(self) -> str:
        return f"{self.mean:.3f}, 95 % interval {self.low:.3f} to {self.high:.3f}, n = {self.n}"


def paired_ratio(pairs: Sequence[tuple[float, float]]) -> Interval:
    """The geometric mean of `ours / theirs`, and Student's interval of its logarithm.

    What disturbs both of a pair alike (another process, a warm processor) is in neither.

    Raises:
        ValueError: fewer than two pairs say nothing of how far they lie apart.
    """
    return _mean([math.log(ours / theirs) for ours, theirs in pairs]).each(math.exp)


def paired_difference(pairs: Sequence[tuple[float, float]]) -> Interval:
    """The mean of `ours - theirs`, and Student's interval. Raises as `paired_ratio` does."""
    return _mean([ours - theirs for ours, theirs in pairs])


def _mean(values: Sequence[float]) -> Interval:
    if len(values) < 2:
        raise ValueError(f"an interval needs two pairs, and there is {len(values)}")
    middle = statistics.mean(values)
    reach = student(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return Interval(middle, middle - reach, middle + reach, len(values))


def student(freedom: int) -> float:
    """The 97.5 % quantile of Student's t, by bisection of its distribution (within 1e-6)."""
    low, high = 0.0, 13.0  # with one degree of freedom it is 12.7, with more it is less
    while high - low > 1e-7:
        middle = (low + high) / 2
        low, high = (middle, high) if _below(middle, freedom) < _TWO_SIDED else (low, middle)
    return (low + high) / 2


def _below(t: float, freedom: int) -> float:
    """The share of Student's distribution below `t` >= 0 (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = math.atan2(t, math.sqrt(freedom))
    cosine = math.cos(angle)
    odd = freedom % 2
    term, total = cosine if odd else 1.0, 0.0
    for power in range(1 if odd else 0, freedom - 1, 2):
        total += term
        term *= cosine**2 * (power + 1) / (power + 2)
    between = 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total
    return 0.5 + between / 2
