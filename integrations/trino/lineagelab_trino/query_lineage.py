# SPDX-License-Identifier: Apache-2.0
"""Lineage of a query: of its SQL, and where that is not derived, what Trino's own analysis says. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from sqlglot import exp

from lineagelab_common.events import EventWriter, Json
from lineagelab_sql.dependencies import TRANSFORMATION, Dependencies, Dependency
from lineagelab_sql.errors import UnsupportedSqlError
from lineagelab_sql.run_events import Described
from lineagelab_sql.statements import TRINO, Statement, StatementLineage
from lineagelab_trino.job_name import QUERY, is_named, job_name
from lineagelab_trino.listener_event import EngineOutput, Query

WRITER = EventWriter("urn:lineage-lab:integrations:trino")

Schemas = Mapping[str, Mapping[str, str]]
"""Table in lower case -> column -> type."""

_SELECT_KINDS = frozenset({"SELECT", ""})
"""Kinds of queries; a statement that Trino cannot parse has none."""

_COUNTED = frozenset({"CREATE TABLE", "INSERT"})
"""Statements whose written rows Trino counts; of a view, or a changed table, it says 0."""

_SYSTEM_CATALOG, _INFORMATION_SCHEMA = "system", "information_schema"
_METADATA_SEPARATOR = "$"
"""Separates the name of a table from that of a table about it: `orders$snapshots`."""


@dataclass(frozen=True)
class QueryNames:
    """Names that do not depend on the query.

    Attributes:
        jobs: OpenLineage namespace of jobs.
        datasets: namespace of tables, `trino://host:port`.
        catalog: that job names omit.
    """

    jobs: str
    datasets: str
    catalog: str


@dataclass(frozen=True)
class ReportedQuery:
    """A query with its statement.

    Attributes:
        statement: None if it does not say what it reads.
        reason: why it does not.
    """

    query: Query
    statement: Statement | None
    reason: str = ""

    @classmethod
    def of(cls, query: Query) -> "ReportedQuery":
        try:
            statement = Statement.parse(query.text, query.default, TRINO)
        except UnsupportedSqlError as error:
            return cls(query, None, str(error))
        if isinstance(statement.tree, exp.Refresh):
            return cls(query, None, "the query of a materialized view is not part of the statement")
        return cls(query, statement)

    @cached_property
    def target(self) -> str:
        """Table that is written; empty for none."""
        if self.statement is not None:
            return self.statement.target
        return self.query.output.table if self.query.output is not None else ""

    @property
    def is_reported(self) -> bool:
        """Return whether the query is a run: it writes a table, or it reads and its client has a name."""
        if self.target:
            return True
        query = self.query
        is_query = query.kind in _SELECT_KINDS
        return is_query and is_named(query.source) and (bool(self.inputs) or query.event_type == "FAIL")

    @cached_property
    def tables(self) -> frozenset[str]:
        """Tables whose columns have to be known."""
        named = self.statement.tables if self.statement is not None else frozenset()
        return frozenset(each for each in named | self.query.tables | {self.target} if each.count(".") == 2)

    @cached_property
    def inputs(self) -> frozenset[str]:
        """Tables that are read: tables about a table count as that table, and those of Trino itself do not count."""
        named = self.statement.inputs if self.statement is not None else self.query.tables
        return _data_tables(named)

    @property
    def operation(self) -> str:
        if not self.target:
            return QUERY
        if self.statement is not None:
            return self.statement.operation
        return self.query.update_type.lower().replace(" ", "_") or "write"

    def job(self, names: QueryNames) -> str:
        """Return the name of the job."""
        return job_name(self.query.source, self.operation, self.target, self.inputs, names.catalog)

    def describe(self, schemas: Schemas, names: QueryNames) -> Described:
        """Return the lineage; `schemas` are those of the `tables` that exist."""
        output = self.query.output
        existing = {table: columns for table, columns in schemas.items() if table != self.target or not self._creates}
        produced = (output.types if output is not None else {}) or existing.get(self.target, {})
        found = self._lineage(existing, list(produced))
        if output is not None:
            found = _with_engine_edges(found, output)
        found = replace(
            found,
            # A table about a table may be unknown where its own table is known.
            inputs=_data_tables(found.inputs or (self.inputs & frozenset(existing))),
            columns={name: _of_data_tables(each) for name, each in found.columns.items()},
            rows=_of_data_tables(found.rows),
        )
        # Tables that Trino did not describe, and those that others are about, have no columns.
        known = {**{table: {} for table in found.inputs}, self.target: produced, **schemas}
        return Described(self.query.text, names.datasets, found, self.change, known, WRITER)

    @property
    def change(self) -> str:
        """Change of the target's life cycle; empty for none."""
        return self.statement.change if self.statement is not None else ""

    @property
    def _creates(self) -> bool:
        return self.statement is not None and self.statement.creates

    def _lineage(self, schemas: Schemas, produced: list[str]) -> StatementLineage:
        if self.statement is None:
            unknown = dict.fromkeys(produced, self.reason)
            return StatementLineage(self.target, self.query.tables, unknown=unknown)
        return self.statement.lineage(schemas, produced)


def _with_engine_edges(found: StatementLineage, output: EngineOutput) -> StatementLineage:
    """Return the lineage with Trino's own edges for the columns that are unknown.

    They stay unknown: Trino counts conditions as values, does not say what decides about rows, and finds nothing behind
    `MATCH_RECOGNIZE`.
    """
    by_engine: dict[str, Dependencies] = {
        name: frozenset(Dependency(table, column, TRANSFORMATION) for table, column in output.columns[name])
        for name in found.unknown
        if output.columns.get(name)
    }
    tables = found.inputs | {each.table for edges in by_engine.values() for each in edges}
    return replace(found, inputs=tables, columns={**found.columns, **by_engine})


def _data_tables(tables: frozenset[str]) -> frozenset[str]:
    bases = (table.partition(_METADATA_SEPARATOR)[0] for table in tables)
    return frozenset(filter(_holds_data, bases))


def _holds_data(table: str) -> bool:
    catalog, _, rest = table.partition(".")
    return catalog != _SYSTEM_CATALOG and rest.partition(".")[0] != _INFORMATION_SCHEMA


def _of_data_tables(dependencies: Dependencies) -> Dependencies:
    """Return the dependencies on columns of data; those of tables about a table are columns of no dataset."""
    return frozenset(each for each in dependencies if _METADATA_SEPARATOR not in each.table and _holds_data(each.table))


def run_event(reported: ReportedQuery, described: Described, names: QueryNames) -> Json:
    """Return the OpenLineage event of a query's event."""
    query = reported.query
    event_type = query.event_type
    error = (query.error or "the query failed") if event_type == "FAIL" else ""
    facets = WRITER.run_facets("Trino", query.version, query.parent, error, "SQL")
    facets["externalQuery"] = WRITER.facet("externalQuery", externalQueryId=query.query_id, source=names.datasets)
    job_facets = {
        "jobType": WRITER.facet("jobType", processingType="BATCH", integration="TRINO", jobType="QUERY"),
        "sql": WRITER.facet("sql", query=query.text, dialect=TRINO),
    }
    return WRITER.run_event(
        event_type,
        query.event_time,
        {"runId": query.run_id, "facets": facets},
        {"namespace": names.jobs, "name": reported.job(names), "facets": job_facets},
        described.inputs,
        described.outputs(_written_rows(query), is_complete=event_type == "COMPLETE"),
    )


def _written_rows(query: Query) -> int | None:
    is_counted = query.event_type == "COMPLETE" and query.update_type in _COUNTED
    return query.written_rows if is_counted else None
