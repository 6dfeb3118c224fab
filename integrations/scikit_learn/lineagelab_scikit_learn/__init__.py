# SPDX-License-Identifier: Apache-2.0
"""Lineage of models that are trained on a table: the model as a dataset, and the drift of its features."""

from lineagelab_common.events import Dataset
from lineagelab_scikit_learn.feature_profile import Drift, FeatureProfile
from lineagelab_scikit_learn.training import Trained, Training
from lineagelab_scikit_learn.training_run import TrainingRun

__all__ = ["Dataset", "Drift", "FeatureProfile", "Trained", "Training", "TrainingRun"]
