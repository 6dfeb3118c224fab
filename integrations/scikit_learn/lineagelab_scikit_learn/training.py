# SPDX-License-Identifier: Apache-2.0
"""A training as OpenLineage describes it: inputs, the model as output, and the columns of both. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lineagelab_common.events import ColumnEdge, Dataset, EventWriter, Json, dataset_json
from lineagelab_scikit_learn.feature_profile import Drift, FeatureProfile

WRITER = EventWriter("urn:lineage-lab:jobs:scikit-learn")

PREDICTION = "predicted_"
"""Prefix of the model's field that holds what predicts the target."""

DRIFT_ASSERTION = "feature_distribution_is_that_of_the_last_model"


@dataclass(frozen=True)
class Training:
    """A model that is trained on a version of a table.

    The model has a field for each feature, which holds the profile of its values, and one for the prediction of the
    target. That one depends on the target and on all features; a profile on its own feature. Only rows in which
    none of them is null count, so each of them decides about rows.

    Attributes:
        table: on which it is trained.
        version: of the table, such as the id of an Iceberg snapshot; that of the model, too.
        types: column of the table -> type; at least features and target.
        features: columns that the model takes, in its order.
        target: column that it predicts.
        model: dataset of the model.
        filters: further columns that decide which rows count.
    """

    table: Dataset
    version: str
    types: Mapping[str, str]
    features: tuple[str, ...]
    target: str
    model: Dataset
    filters: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        missing = sorted({*self.features, self.target, *self.filters} - self.types.keys())
        if missing:
            raise ValueError(f"{self.table.name} has no column {', '.join(missing)}")
        if not self.features or self.target in self.features:
            raise ValueError(f"the features of {self.model.name} must be some columns, and not the target")

    @property
    def prediction(self) -> str:
        """Field of the model that predicts the target."""
        return f"{PREDICTION}{self.target}"

    def columns(self) -> dict[str, list[ColumnEdge]]:
        """Return the edges to each field of the model."""
        own = {name: [self._edge(name, "AGGREGATION")] for name in self.features}
        return own | {self.prediction: [self._edge(name, "AGGREGATION") for name in (*self.features, self.target)]}

    def rows(self) -> list[ColumnEdge]:
        """Return the edges that decide which rows count."""
        return [self._edge(name, "FILTER") for name in dict.fromkeys((*self.features, self.target, *self.filters))]

    def inputs(self, trained: "Trained | None" = None) -> list[Json]:
        """Return the table with its version; of a finished training, with what is known of its features."""
        table = dataset_json(
            self.table,
            {
                "schema": WRITER.schema(self.types),
                "version": WRITER.facet("version", datasetVersion=self.version),
            },
        )
        if trained is not None:
            table["inputFacets"] = trained.input_facets()
        return [table]

    def outputs(self, trained: "Trained | None" = None) -> list[Json]:
        """Return the model; that of a finished training has a version with a schema.

        A schema without a version would be read as another version.
        """
        facets: Json = {"columnLineage": WRITER.column_lineage(self.columns(), self.rows())}
        if trained is not None:
            fields = {name: self.types[name] for name in self.features} | {self.prediction: self.types[self.target]}
            facets["schema"] = WRITER.schema(fields)
            facets["version"] = WRITER.facet("version", datasetVersion=self.version)
        return [dataset_json(self.model, facets)]

    def _edge(self, column: str, subtype: str) -> ColumnEdge:
        return ColumnEdge(self.table, column, subtype, masking=False)


@dataclass(frozen=True)
class Trained:
    """Result of a training.

    Attributes:
        profiles: feature -> distribution of its values in the rows on which the model was trained.
        drifts: feature -> comparison of the values since the last model with its profile; empty for the first model.
    """

    profiles: Mapping[str, FeatureProfile]
    drifts: Mapping[str, Drift] = field(default_factory=dict)

    def input_facets(self) -> dict[str, Any]:
        """Return metrics of the features, and an assertion about each that was compared."""
        metrics = {name: _metrics(profile) for name, profile in self.profiles.items()}
        # Without a number of rows: a table that is read from its beginning has more each time, which is no change.
        facets: dict[str, Any] = {"dataQualityMetrics": WRITER.facet("dataQualityMetrics", columnMetrics=metrics)}
        if self.drifts:
            rows = [_assertion(name, drift) for name, drift in self.drifts.items()]
            facets["dataQualityAssertions"] = WRITER.facet("dataQualityAssertions", assertions=rows)
        return facets


def _metrics(profile: FeatureProfile) -> Json:
    return {
        "count": profile.rows,
        "sum": profile.mean * profile.rows,
        "min": profile.minimum,
        "max": profile.maximum,
    }


def _assertion(feature: str, drift: Drift) -> Json:
    return {
        "assertion": DRIFT_ASSERTION,
        "success": not drift.has_drifted,
        "severity": "warn",
        "column": feature,
        "actual": str(drift),
    }
