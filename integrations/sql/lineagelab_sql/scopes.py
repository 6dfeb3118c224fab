# SPDX-License-Identifier: Apache-2.0
"""Relations, and the names that an expression may use. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from lineagelab_sql.dependencies import NONE, Dependencies
from lineagelab_sql.errors import UnsupportedSqlError

Schemas = Mapping[str, Mapping[str, str]]
"""Table (`catalog.schema.table`) -> column -> type; all names in lower case."""


@dataclass(frozen=True)
class Relation:
    """Columns by name, in order, and what decides about the rows of a source.

    Attributes:
        others: dependencies of every column that is not in `columns`; None if there is none.
    """

    columns: Mapping[str, Dependencies]
    rows: Dependencies = NONE
    others: Dependencies | None = None

    def column(self, name: str) -> Dependencies:
        """Return the dependencies of a column. Raises UnsupportedSqlError."""
        found = self.columns.get(name, self.others)
        if found is None:
            raise UnsupportedSqlError(f"column {name} of a source is not known")
        return found

    def renamed(self, names: Sequence[str]) -> "Relation":
        """Return the relation with its first columns renamed."""
        if len(names) > len(self.columns) and self.others is None:
            raise UnsupportedSqlError(f"more names than columns: {', '.join(names)}")
        dependencies = [*self.columns.values(), *[self.others or NONE] * (len(names) - len(self.columns))]
        kept = [*names, *list(self.columns)[len(names) :]]
        return replace(self, columns=dict(zip(kept, dependencies, strict=True)))


@dataclass(frozen=True)
class Scope:
    """Names that an expression may use.

    Attributes:
        schemas: of the tables.
        derive_query: returns the columns of a query in a scope, for subqueries.
        queries: common table expressions.
        sources: relations in FROM, of this query.
        outer: sources of the queries around it.
        values: values of lambda parameters and aliases, by name.
        windows: named windows.
    """

    schemas: Schemas
    derive_query: "Callable[[exp.Expr, Scope], Relation]"
    queries: Mapping[str, Relation] = field(default_factory=dict)
    sources: Mapping[str, Relation] = field(default_factory=dict)
    outer: Mapping[str, Relation] = field(default_factory=dict)
    values: Mapping[str, Dependencies] = field(default_factory=dict)
    windows: Mapping[str, exp.Window] = field(default_factory=dict)

    def inner(self) -> "Scope":
        """Return the scope of a query in this one."""
        return replace(self, sources={}, outer={**self.outer, **self.sources}, windows={})

    def with_source(self, name: str, relation: Relation) -> "Scope":
        return replace(self, sources={**self.sources, name: relation})

    def column(self, table: str, name: str) -> Dependencies:
        """Return the dependencies of a column. Raises UnsupportedSqlError."""
        if not table:
            if name in self.values:
                return self.values[name]
            owners = [each for each in (*self.sources.values(), *self.outer.values()) if name in each.columns]
            if len(owners) == 1:
                return owners[0].columns[name]
            raise UnsupportedSqlError(f"column {name} is not qualified")
        relation = self.sources.get(table) or self.outer.get(table)
        if relation is None:
            raise UnsupportedSqlError(f"source {table} is not known")
        return relation.column(name)
