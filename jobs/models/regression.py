# SPDX-License-Identifier: Apache-2.0
"""Linear regression on features, with the profile of each feature. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from lineagelab_scikit_learn import FeatureProfile

MIN_ROWS = 20
"""Rows below which no model is trained."""

HELD_OUT = 0.25
"""Share of the newest rows by which the model is judged. The stored model is trained on all rows."""


class TrainingError(Exception):
    """A model cannot be trained; the message says why."""


@dataclass(frozen=True)
class Regression:
    """Trained model.

    Attributes:
        model: scales the features, and predicts the target.
        profiles: feature -> distribution of its values.
        rows: on which it was trained.
        error: mean absolute error on rows that a model of the older ones has not seen.
        naive_error: the same of a forecast that is always the mean of the older rows.
    """

    model: Pipeline
    profiles: Mapping[str, FeatureProfile]
    rows: int
    error: float
    naive_error: float

    @classmethod
    def train(cls, features: Mapping[str, Sequence[float]], target: Sequence[float]) -> "Regression":
        """Train on rows from the oldest to the newest; without null.

        Raises:
            TrainingError: they are too few.
        """
        rows = len(target)
        if rows < MIN_ROWS:
            raise TrainingError(f"{rows} rows are too few: a model needs {MIN_ROWS}")
        matrix, values = np.column_stack(list(features.values())).astype(float), np.asarray(target, dtype=float)
        older = int(rows * (1 - HELD_OUT))
        judged = _pipeline().fit(matrix[:older], values[:older])
        naive = np.full(rows - older, values[:older].mean())
        return cls(
            _pipeline().fit(matrix, values),
            {name: FeatureProfile.of(list(map(float, column))) for name, column in features.items()},
            rows,
            float(mean_absolute_error(values[older:], judged.predict(matrix[older:]))),
            float(mean_absolute_error(values[older:], naive)),
        )


def _pipeline() -> Pipeline:
    return make_pipeline(StandardScaler(), Ridge())
