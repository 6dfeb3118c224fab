# SPDX-License-Identifier: Apache-2.0
"""The sources of columns against the inputs, over all events of a run: its events add up."""

from collections.abc import Iterator

from lineage.checks.events.check_rules import SOURCE_NO_INPUT, SOURCE_NOT_IN_SCHEMA
from lineage.checks.events.classes import Problem
from lineage.checks.events.naming import (
    column_sources,
    datasets_of,
    identity,
    in_schema,
    lineage_entries,
    lineage_sources,
    schema_fields,
)
from lineage.events import DatasetId, JsonObject


class ColumnSources:
    """Inputs with their schemas, and the columns that lineage facets have as sources."""

    __slots__ = ("_inputs", "_sources")

    def __init__(self) -> None:
        self._inputs: dict[DatasetId, frozenset[str] | None] = {}
        self._sources: dict[DatasetId, dict[str, str]] = {}

    def join(self, event: JsonObject) -> None:
        """Take in what one more event says."""
        for dataset, path in datasets_of(event):
            if path.startswith("inputs") and (found := identity(dataset)):
                self._inputs[found] = schema_fields(dataset) or self._inputs.get(found)
            for source, where in column_sources(dataset, path):
                self._add(source, where)
        for entry, path in lineage_entries(event):
            for source, where in lineage_sources(entry, path):
                self._add(source, where)

    def close(self) -> Iterator[Problem]:
        """Sources that are no input, and columns that their input's schema lacks; forgets everything."""
        for source, columns in self._sources.items():
            path = next(iter(columns.values()))
            text = f"{source.namespace}/{source.name}"
            if source not in self._inputs:
                yield Problem(SOURCE_NO_INPUT, path, f"{text} is none of the run's inputs")
            elif schema := self._inputs[source]:
                for column, where in columns.items():
                    if column and not in_schema(column, schema):
                        yield Problem(SOURCE_NOT_IN_SCHEMA, where, f"{text} has no column {column!r:.100}")
        self._inputs.clear()
        self._sources.clear()

    def _add(self, source: JsonObject, path: str) -> None:
        found, column = identity(source), source.get("field")
        if found is not None:
            self._sources.setdefault(found, {}).setdefault(column if isinstance(column, str) else "", path)
