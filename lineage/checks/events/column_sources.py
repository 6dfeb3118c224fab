# SPDX-License-Identifier: Apache-2.0
"""Consistency of column lineage with the inputs of a run, whose events are cumulative."""

from collections.abc import Iterator

from lineage.checks.events.check_rules import SOURCE_NO_INPUT, SOURCE_NOT_IN_SCHEMA
from lineage.checks.events.naming import (
    column_sources,
    dataset_id,
    datasets_of,
    in_schema,
    lineage_entries,
    lineage_sources,
    schema_columns,
)
from lineage.checks.events.problem import Problem
from lineage.events import DatasetId, JsonObject


class ColumnSources:
    """Inputs of a run with their schemas, and the source columns that its lineage facets name."""

    __slots__ = ("_inputs", "_sources")

    def __init__(self) -> None:
        self._inputs: dict[DatasetId, frozenset[str] | None] = {}
        self._sources: dict[DatasetId, dict[str, str]] = {}

    def add(self, event: JsonObject) -> None:
        """Add the inputs and source columns of one event."""
        for dataset, path in datasets_of(event):
            if path.startswith("inputs") and (found := dataset_id(dataset)):
                self._inputs[found] = schema_columns(dataset) or self._inputs.get(found)
            for source, where in column_sources(dataset, path):
                self._add_source(source, where)
        for entry, path in lineage_entries(event):
            for source, where in lineage_sources(entry, path):
                self._add_source(source, where)

    def finish(self) -> Iterator[Problem]:
        """Return sources that are not inputs and columns that the input's schema does not list; clear the state."""
        for source, columns in self._sources.items():
            path = next(iter(columns.values()))
            text = f"{source.namespace}/{source.name}"
            if source not in self._inputs:
                yield Problem(SOURCE_NO_INPUT, path, f"{text} is not an input of the run")
            elif schema := self._inputs[source]:
                for column, where in columns.items():
                    if column and not in_schema(column, schema):
                        yield Problem(SOURCE_NOT_IN_SCHEMA, where, f"{text} has no column {column!r:.100}")
        self._inputs.clear()
        self._sources.clear()

    def _add_source(self, source: JsonObject, path: str) -> None:
        found, column = dataset_id(source), source.get("field")
        if found is not None:
            self._sources.setdefault(found, {}).setdefault(column if isinstance(column, str) else "", path)
