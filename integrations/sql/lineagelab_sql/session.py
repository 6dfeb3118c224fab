# SPDX-License-Identifier: Apache-2.0
"""Sessions of DuckDB whose statements are reported as runs."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten

import duckdb

from lineagelab_common.events import Json
from lineagelab_common.identifiers import ParentRun, new_run_id, timestamp
from lineagelab_sql.errors import UnsupportedSqlError
from lineagelab_sql.interruption import interrupted_by_sigint
from lineagelab_sql.lake import NAMESPACE, Lake, quoted
from lineagelab_sql.run_events import Described, SqlRun
from lineagelab_sql.statements import Statement

log = logging.getLogger(__name__)

ROWS_PER_FETCH = 1000

UNNAMED, QUERY = "sql", "query"
"""First part of the job names of scripts without a name, and last part of those of queries."""

EXPANDED = (
    "DuckDB runs a PIVOT that does not list its values as several statements, whose lineage is not known: "
    "list them (PIVOT t ON column IN ('a', 'b') ...), or run it alone, without --write and --name"
)


class StatementError(Exception):
    """A statement failed; the message is the engine's, and what to do."""


@dataclass(frozen=True)
class Result:
    """Result of a query: column names, and lazily its rows."""

    columns: Sequence[str]
    rows: Iterator[tuple[object, ...]]


@dataclass(frozen=True)
class Reporting:
    """Receiver of the events, and names of the jobs.

    Attributes:
        send: takes each event.
        namespace: of the jobs.
        name: job name of the statements; empty for a name made from the written table, and for queries none.
        parent: run that the statements are part of.
    """

    send: Callable[[Json], None]
    namespace: str
    name: str = ""
    parent: ParentRun | None = None


class Session:
    """Statements on one connection to a lake.

    Args:
        lake: catalog of the tables.
        connection: of `lake.connect`.
        reporting: of statements that write, and of all if it has a name.
        is_writable: the connection may write.
    """

    def __init__(
        self, lake: Lake, connection: duckdb.DuckDBPyConnection, reporting: Reporting, *, is_writable: bool
    ) -> None:
        self._lake = lake
        self._connection = connection
        self._reporting = reporting
        self._is_writable = is_writable

    def run(self, text: str, show: Callable[[Result], None]) -> None:
        """Run the statements of a script in order; `show` takes the results of queries.

        Raises:
            StatementError: a statement failed; those after it are not run.
        """
        try:
            parsed = self._connection.extract_statements(text)
        except duckdb.Error as error:
            raise StatementError(_explained(error)) from error
        if not parsed:
            raise StatementError("there is no SQL statement")
        if (self._is_writable or self._reporting.name) and not all(each.query.strip() for each in parsed):
            raise StatementError(EXPANDED)
        # Names depend on which tables exist: they are given before any statement is run.
        statements = [self._statement(each) for each in parsed]
        names = self._job_names(statements)
        for each, statement, name in zip(parsed, statements, names, strict=True):
            if statement is not None and name:
                self._run_reported(each, statement, name, show)
            else:
                self._execute(each, show)

    def _statement(self, parsed: duckdb.Statement) -> Statement | None:
        """Return the statement for its lineage; None if it cannot be parsed, with a warning if it would be reported."""
        try:
            return Statement.parse(parsed.query, self._lake.default)
        except UnsupportedSqlError as error:
            if self._reporting.name or (self._is_writable and parsed.type in _WRITING):
                log.warning("not in the lineage: %s: %s", shorten(parsed.query, 80), error)
            return None

    def _job_names(self, statements: Sequence[Statement | None]) -> list[str]:
        """Return the job name of each statement; empty for those that are not reported."""
        created = {each.target for each in statements if each is not None and each.creates}
        details = [
            self._detail(each) if each is not None and self._is_reported(each, created) else "" for each in statements
        ]
        script = self._reporting.name
        if script and sum(map(bool, details)) == 1:
            return [script if detail else "" for detail in details]
        # A job has the edges of its last run: two INSERTs into one table are two jobs.
        counts: Counter[str] = Counter()
        names = []
        for detail in details:
            counts[detail] += 1
            repeated = f"_{counts[detail]}" if counts[detail] > 1 else ""
            names.append(f"{script or UNNAMED}.{detail}{repeated}" if detail else "")
        return names

    def _is_reported(self, statement: Statement, created: set[str]) -> bool:
        """Return whether a statement is reported: it writes or drops a table, or it is a query with a name."""
        if not statement.target:
            return bool(self._reporting.name) and statement.query is not None
        # The engine rejects the others.
        return self._is_writable and (statement.target in created or bool(self._columns(statement.target)))

    def _detail(self, statement: Statement) -> str:
        """Return the operation and table of a statement, such as `insert.sales.orders`."""
        table = statement.target.removeprefix(f"{self._lake.name}.")
        return f"{statement.operation}.{table}" if table else QUERY

    def _run_reported(
        self, parsed: duckdb.Statement, statement: Statement, name: str, show: Callable[[Result], None]
    ) -> None:
        described = self._describe(parsed.query.strip(), statement)
        run = SqlRun(new_run_id(), self._reporting.namespace, name, f"v{duckdb.__version__}", self._reporting.parent)

        def report(event_type: str, rows: int | None = None, error: str = "") -> None:
            moment = timestamp(time.time_ns() // 1_000_000)
            self._reporting.send(run.event(event_type, moment, described, rows=rows, error=error))

        report("START")
        try:
            rows = self._execute(parsed, show)
        except StatementError as error:
            report("FAIL", error=str(error))
            raise
        except BaseException:
            report("ABORT")
            raise
        report("COMPLETE", rows)

    def _execute(self, parsed: duckdb.Statement, show: Callable[[Result], None]) -> int | None:
        """Run a statement; return the number of rows that it wrote, None for a query."""
        try:
            with interrupted_by_sigint(self._connection), _without_stray_folder():
                self._connection.execute(parsed)
            columns = [str(column[0]) for column in self._connection.description or ()]
            if parsed.type in _WRITING and columns == ["Count"]:
                found = self._connection.fetchone()
                return int(found[0]) if found else None
            if columns and duckdb.ExpectedResultType.QUERY_RESULT in parsed.expected_result_type:
                show(Result(columns, self._rows()))
        except duckdb.Error as error:
            raise StatementError(_explained(error)) from error
        return None

    def _rows(self) -> Iterator[tuple[object, ...]]:
        while rows := self._connection.fetchmany(ROWS_PER_FETCH):
            yield from rows

    def _describe(self, text: str, statement: Statement) -> Described:
        """Return the statement with the lineage of its columns, from the engine's own schemas."""
        existing = schemas = {table: columns for table in statement.tables if (columns := self._columns(table))}
        target = statement.target
        if not target or statement.creates:
            produced = self._produced(text, statement)
            schemas = {**existing, target: produced} if target else existing
        else:
            produced = existing.get(target, {})
        return Described(text, NAMESPACE, statement.lineage(existing, list(produced)), statement.change, schemas)

    def _columns(self, table: str) -> dict[str, str]:
        """Return the columns of a table; empty if there is no such table."""
        return self._fields(".".join(map(quoted, table.split("."))))

    def _produced(self, text: str, statement: Statement) -> dict[str, str]:
        """Return the columns of the statement's query; empty if it has none, or the engine rejects it."""
        if statement.query is None:
            return {}
        return self._fields(statement.query.sql("duckdb") if statement.creates else text)

    def _fields(self, relation: str) -> dict[str, str]:
        """Return the columns of a table or query -> types; empty if the engine rejects it."""
        try:
            found = self._connection.execute(f"DESCRIBE {relation}").fetchall()
        except duckdb.Error:
            return {}
        return {str(name): str(kind).lower() for name, kind, *_ in found}


@contextmanager
def _without_stray_folder() -> Iterator[None]:
    """Remove the empty folder that DuckDB 1.5 makes in the working directory for CREATE TABLE AS on Iceberg."""
    folder = Path("data")
    existed = folder.exists()
    try:
        yield
    finally:
        if not existed and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


_WRITING = frozenset(
    (
        duckdb.StatementType.INSERT,
        duckdb.StatementType.CREATE,
        duckdb.StatementType.UPDATE,
        duckdb.StatementType.DELETE,
        duckdb.StatementType.MERGE_INTO,
        duckdb.StatementType.COPY,
    )
)
"""Statements whose result is the number of rows that they wrote."""


def _explained(error: duckdb.Error) -> str:
    """Return the engine's message, with the remedy for a write in a read-only session."""
    message = str(error).strip()
    if "read-only mode" in message:
        return f"{message}\nThe session only reads; to write: --write"
    return message
