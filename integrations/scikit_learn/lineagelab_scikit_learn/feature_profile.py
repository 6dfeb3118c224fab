# SPDX-License-Identifier: Apache-2.0
"""Distribution of a feature, and whether later values still have it. Pure, and without NumPy."""

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist, fmean, pstdev, quantiles
from typing import Any

BINS = 5
"""Bins between minimum and maximum, each with about the same number of the profiled values."""

MIN_INDEX = 0.25
"""Population stability index beyond which a distribution is commonly taken as another one."""

CONFIDENCE = 0.999
"""Probability that values of the same distribution stay below the limit, however few they are."""


@dataclass(frozen=True)
class Drift:
    """Comparison of values with a profile.

    Attributes:
        index: population stability index: 0 for the same distribution.
        limit: index beyond which the difference is neither small nor chance.
    """

    index: float
    limit: float

    @property
    def has_drifted(self) -> bool:
        """True if the values have another distribution."""
        return self.index > self.limit

    def __str__(self) -> str:
        return f"population stability index {self.index:.2f}, limit {self.limit:.2f}"


@dataclass(frozen=True)
class FeatureProfile:
    """Distribution of a feature in the rows that a model is trained on.

    Attributes:
        rows: number of values.
        mean, deviation, minimum, maximum: of the values; the deviation is that of the population.
        limits: lower limits of the second and later bins between minimum and maximum.
        counts: values below the minimum (none), in each bin, and above the maximum (none).
    """

    rows: int
    mean: float
    deviation: float
    minimum: float
    maximum: float
    limits: tuple[float, ...]
    counts: tuple[int, ...]

    @classmethod
    def of(cls, values: Sequence[float]) -> "FeatureProfile":
        """Return the profile of values.

        Raises:
            ValueError: there are none, or one is not finite.
        """
        if not values or not all(map(math.isfinite, values)):
            raise ValueError("a profile needs values, and finite ones")
        low, high = min(values), max(values)
        inner = quantiles(values, n=BINS, method="inclusive") if len(values) > 1 else []
        limits = tuple(sorted({limit for limit in inner if low < limit < high}))
        return cls(len(values), fmean(values), pstdev(values), low, high, limits, _counts(values, low, high, limits))

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> "FeatureProfile":
        """Read the form that `to_json` returns.

        Raises:
            ValueError: it is none.
        """
        try:
            values = dict(document)
            values["limits"], values["counts"] = tuple(values["limits"]), tuple(values["counts"])
            return cls(**values)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"not the profile of a feature: {error!r}") from error

    def to_json(self) -> dict[str, Any]:
        """Return the profile as a JSON object."""
        return asdict(self)

    def drift(self, values: Sequence[float]) -> Drift | None:
        """Compare later values with those of the profile; None if there are none."""
        if not values:
            return None
        found = _counts(values, self.minimum, self.maximum, self.limits)
        # Of the same distribution, the index times this number of rows has a chi-squared distribution.
        rows = self.rows * len(values) / (self.rows + len(values))
        chance = _chi_squared(len(self.counts) - 1) / rows
        return Drift(_stability_index(self.counts, found), max(MIN_INDEX, chance))


def _counts(values: Iterable[float], low: float, high: float, limits: Sequence[float]) -> tuple[int, ...]:
    """Return how many values are below `low`, in each bin, and above `high`."""
    counts = [0] * (len(limits) + 3)
    for value in values:
        counts[0 if value < low else -1 if value > high else 1 + bisect_right(limits, value)] += 1
    return tuple(counts)


def _stability_index(before: Sequence[int], after: Sequence[int]) -> float:
    """Return the population stability index; half a value more in each bin keeps empty ones finite."""
    total_before, total_after = sum(before) + len(before) / 2, sum(after) + len(after) / 2
    shares = [((old + 0.5) / total_before, (new + 0.5) / total_after) for old, new in zip(before, after, strict=True)]
    return sum((new - old) * math.log(new / old) for old, new in shares)


def _chi_squared(freedom: int) -> float:
    """Return the quantile `CONFIDENCE` of a chi-squared distribution, by Wilson's and Hilferty's approximation."""
    spread = 2 / (9 * freedom)
    return freedom * (1 - spread + NormalDist().inv_cdf(CONFIDENCE) * math.sqrt(spread)) ** 3
