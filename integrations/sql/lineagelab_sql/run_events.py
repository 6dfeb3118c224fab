# SPDX-License-Identifier: Apache-2.0
"""OpenLineage events of SQL statements. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lineagelab_common.events import ColumnEdge, Dataset, EventWriter, Json, dataset_json
from lineagelab_common.identifiers import ParentRun
from lineagelab_sql.dependencies import Dependencies
from lineagelab_sql.statements import StatementLineage

WRITER = EventWriter("urn:lineage-lab:jobs:sql")


@dataclass(frozen=True)
class Described:
    """Statement with its lineage.

    Attributes:
        text: of the statement.
        namespace: of the datasets.
        change: of the target's life cycle (`Statement.change`).
        schemas: table, in lower case -> column, as the engine spells it -> type.
        writer: of the facets.
        written: dataset of the target, if it is not a table of the namespace.
    """

    text: str
    namespace: str
    lineage: StatementLineage
    change: str = ""
    schemas: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    writer: EventWriter = WRITER
    written: Dataset | None = None

    def dataset(self, table: str) -> Dataset:
        if self.written is not None and table == self.lineage.target:
            return self.written
        return Dataset(self.namespace, table)

    @property
    def inputs(self) -> list[Json]:
        """Inputs with their schemas."""
        return [
            dataset_json(self.dataset(table), {"schema": self.writer.schema(self.schemas[table])})
            for table in sorted(self.lineage.inputs)
        ]

    def outputs(self, rows: int | None = None, *, is_complete: bool = False) -> list[Json]:
        """Return the table that is written, if any, with schema and column lineage.

        Args:
            rows: those that were written.
            is_complete: the statement has succeeded, and a change of the life cycle has been made.
        """
        target = self.lineage.target
        if not target or (self.change and not is_complete):
            return []
        if self.change:
            changed = self.writer.facet("lifecycleStateChange", lifecycleStateChange=self.change)
            return [dataset_json(self.dataset(target), {"lifecycleStateChange": changed})]
        facets: Json = {"columnLineage": self._column_lineage()}
        if fields := self.schemas.get(target):
            facets["schema"] = self.writer.schema(fields)
        output = dataset_json(self.dataset(target), facets)
        if rows is not None:
            output["outputFacets"] = {"outputStatistics": self.writer.facet("outputStatistics", rowCount=rows)}
        return [output]

    def _column_lineage(self) -> Json:
        spelled = {name.lower(): name for name in self.schemas.get(self.lineage.target, ())}
        columns = {spelled.get(name, name): self._edges(each) for name, each in self.lineage.columns.items()}
        facet = self.writer.column_lineage(columns, self._edges(self.lineage.rows))
        if unknown := self.lineage.unknown:
            facet["unknownFields"] = sorted(spelled.get(name, name) for name in unknown)
            facet["unknownBecause"] = sorted(f"{spelled.get(name, name)}: {reason}" for name, reason in unknown.items())
        return facet

    def _edges(self, dependencies: Dependencies) -> list[ColumnEdge]:
        return [
            ColumnEdge(
                self.dataset(each.table), self._spelled(each.table, each.column), each.subtype, masking=each.masking
            )
            for each in dependencies
        ]

    def _spelled(self, table: str, column: str) -> str:
        return next((name for name in self.schemas.get(table, ()) if name.lower() == column), column)


def run_facets(engine_version: str, parent: ParentRun | None, error: str) -> Json:
    """Return the facets of a run of DuckDB; `error` is the message of a failed one."""
    return WRITER.run_facets("DuckDB", engine_version, parent, error, "SQL")


@dataclass(frozen=True)
class SqlRun:
    """Run of one statement."""

    run_id: str
    namespace: str
    job: str
    engine_version: str
    parent: ParentRun | None = None

    def event(
        self, event_type: str, time: str, described: Described, *, rows: int | None = None, error: str = ""
    ) -> Json:
        """Return a run event; `error` is the message of a failed statement."""
        facets = run_facets(self.engine_version, self.parent, error)
        job_facets = {
            "jobType": WRITER.facet("jobType", processingType="BATCH", integration="DUCKDB", jobType="QUERY"),
            "sql": WRITER.facet("sql", query=described.text, dialect="duckdb"),
        }
        return WRITER.run_event(
            event_type,
            time,
            {"runId": self.run_id, "facets": facets},
            {"namespace": self.namespace, "name": self.job, "facets": job_facets},
            described.inputs,
            described.outputs(rows, is_complete=event_type == "COMPLETE"),
        )
