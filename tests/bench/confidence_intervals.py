# SPDX-License-Identifier: Apache-2.0
"""Confidence intervals of ratios and differences that were measured in pairs."""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_UPPER_PROBABILITY = 0.975
"""Probability below the upper limit of a two-sided 95 % interval."""


@dataclass(frozen=True)
class Interval:
    """Mean of `n` pairs with its 95 % confidence interval."""

    mean: float
    low: float
    high: float
    n: int

    def transformed(self, function: Callable[[float], float]) -> "Interval":
        """Return the interval of an increasing function of the value."""
        return Interval(function(self.mean), function(self.low), function(self.high), self.n)

    def __str__(self) -> str:
        return f"{self.mean:.3f}, 95 % interval {self.low:.3f} to {self.high:.3f}, n = {self.n}"


def paired_ratio(pairs: Sequence[tuple[float, float]]) -> Interval:
    """Return the geometric mean of `first / second` with Student's interval of its logarithm.

    Disturbances that affect both values of a pair (another process, CPU temperature) cancel out.

    Raises:
        ValueError: fewer than two pairs.
    """
    return _mean_with_interval([math.log(first / second) for first, second in pairs]).transformed(math.exp)


def paired_difference(pairs: Sequence[tuple[float, float]]) -> Interval:
    """Return the mean of `first - second` with Student's interval. Raises ValueError for fewer than two pairs."""
    return _mean_with_interval([first - second for first, second in pairs])


def _mean_with_interval(values: Sequence[float]) -> Interval:
    if len(values) < 2:
        raise ValueError(f"a confidence interval requires at least two pairs, got {len(values)}")
    mean = statistics.mean(values)
    half_width = student_quantile(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return Interval(mean, mean - half_width, mean + half_width, len(values))


def student_quantile(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t for `freedom` degrees, by bisection (error below 1e-6)."""
    low, high = 0.0, 13.0  # 12.7 for one degree of freedom, less for more
    while high - low > 1e-7:
        middle = (low + high) / 2
        low, high = (middle, high) if _student_probability(middle, freedom) < _UPPER_PROBABILITY else (low, middle)
    return (low + high) / 2


def _student_probability(t: float, freedom: int) -> float:
    """Return P(T <= t) of Student's distribution for t >= 0 (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = math.atan2(t, math.sqrt(freedom))
    cosine = math.cos(angle)
    odd = freedom % 2
    term, total = cosine if odd else 1.0, 0.0
    for power in range(1 if odd else 0, freedom - 1, 2):
        total += term
        term *= cosine**2 * (power + 1) / (power + 2)
    between = 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total
    return 0.5 + between / 2
