# SPDX-License-Identifier: Apache-2.0
"""SQL statements: the tables that they read and write, and the lineage of their columns. Pure.

Constructs that are not derived make columns unknown, with the reason, instead of wrong.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify

from lineagelab_sql import relations
from lineagelab_sql.dependencies import NONE, Dependencies
from lineagelab_sql.errors import UnsupportedSqlError
from lineagelab_sql.relations import table_name
from lineagelab_sql.scopes import Relation, Schemas, Scope

DUCKDB, TRINO = "duckdb", "trino"
"""Dialects, as SQLGlot names them."""

TOO_DEEP = "its expressions are nested too deeply"
"""Reason for generated statements, such as a sum of thousands of terms."""

_WRITTEN_KINDS = {DUCKDB: frozenset({"TABLE"}), TRINO: frozenset({"TABLE", "VIEW"})}
"""Kinds of objects that CREATE ... AS and DROP change in the lake; DuckDB has views in its own catalog only."""


@dataclass(frozen=True)
class StatementLineage:
    """Lineage of one statement; table and column names in lower case.

    Attributes:
        target: table that is written; empty for a query.
        inputs: tables that are read.
        columns: output column -> the columns on which it depends.
        rows: columns that decide about rows.
        unknown: output columns whose dependencies are not known -> reason.
    """

    target: str
    inputs: frozenset[str]
    columns: Mapping[str, Dependencies] = field(default_factory=dict)
    rows: Dependencies = NONE
    unknown: Mapping[str, str] = field(default_factory=dict)


class Statement:
    """One parsed statement."""

    def __init__(self, tree: exp.Expr, dialect: str = DUCKDB) -> None:
        self.tree = tree
        self._dialect = dialect

    @classmethod
    def parse(cls, text: str, default: tuple[str, ...] = (), dialect: str = DUCKDB) -> "Statement":
        """Parse one statement.

        Args:
            text: of the statement.
            default: catalog and schema of tables that are named without them.
            dialect: `DUCKDB` or `TRINO`.

        Raises:
            UnsupportedSqlError: the text is not one statement that SQLGlot can parse.
        """
        try:
            trees = [tree for tree in sqlglot.parse(text, dialect=dialect) if tree is not None]
        except SqlglotError as error:
            raise UnsupportedSqlError(f"the statement cannot be parsed: {_first_line(error)}") from error
        except RecursionError as error:
            raise UnsupportedSqlError(f"the statement cannot be parsed: {TOO_DEEP}") from error
        if len(trees) != 1 or isinstance(trees[0], exp.Command):
            raise UnsupportedSqlError("the statement cannot be parsed")
        try:
            named = list(_tables(trees[0], frozenset()))
        except RecursionError as error:
            raise UnsupportedSqlError(TOO_DEEP) from error
        for table in named:
            missing = default[: 3 - len(table.parts)]
            for key, name in zip(("catalog", "db"), missing, strict=False):
                table.set(key, exp.to_identifier(name))
        return cls(trees[0], dialect)

    @cached_property
    def target(self) -> str:
        """Table or view that the statement writes, empties or drops; empty for none."""
        return table_name(self._target_table) if self._target_table is not None else ""

    @cached_property
    def _target_table(self) -> exp.Table | None:
        tree, kinds = self.tree, _WRITTEN_KINDS[self._dialect]
        match tree:
            case exp.Drop():
                found = tree.args.get("tables") if tree.args.get("kind") in kinds else None
            case exp.TruncateTable():
                found = tree.expressions
            case exp.Create() if tree.kind not in kinds or tree.expression is None or _is_temporary(tree):
                found = None
            case exp.Create() | exp.Insert() | exp.Update() | exp.Delete() | exp.Merge():
                found = [tree.this.this if isinstance(tree.this, exp.Schema) else tree.this]
            case _:
                found = None
        return found[0] if found and len(found) == 1 and isinstance(found[0], exp.Table) else None

    @property
    def change(self) -> str:
        """Change of the target's life cycle, as OpenLineage names it: DROP, TRUNCATE; empty for none."""
        if self.target and isinstance(self.tree, exp.Drop):
            return "DROP"
        return "TRUNCATE" if self.target and isinstance(self.tree, exp.TruncateTable) else ""

    @property
    def operation(self) -> str:
        """Kind of the statement in lower case: `create`, `insert`, `update`, `delete`, `merge`, `drop`, `truncate`."""
        return self.change.lower() or str(self.tree.key)

    @property
    def creates(self) -> bool:
        """True if the statement creates its target."""
        return isinstance(self.tree, exp.Create)

    @cached_property
    def query(self) -> exp.Query | None:
        """Query whose rows are returned, or written by INSERT or CREATE TABLE; None for other statements."""
        tree = self.tree
        found = tree.expression if isinstance(tree, exp.Create | exp.Insert) else tree
        return found if isinstance(found, exp.Query) else None

    @cached_property
    def tables(self) -> frozenset[str]:
        """All tables that the statement names, without common table expressions."""
        return frozenset(map(table_name, _tables(self.tree, frozenset())))

    @cached_property
    def inputs(self) -> frozenset[str]:
        """Tables that are read: the target only if the statement names it again."""
        read = (table for table in _tables(self.tree, frozenset()) if table is not self._target_table)
        return frozenset(map(table_name, read))

    def lineage(self, schemas: Schemas, output_columns: Sequence[str]) -> StatementLineage:
        """Return the lineage.

        Args:
            schemas: of `tables` that exist, the target included: table, in lower case -> column -> type.
            output_columns: columns of the query as the engine names them, or those of the written table.
        """
        if self.change:
            return StatementLineage(self.target, frozenset())
        names = [column.lower() for column in output_columns]
        schemas = {table: {name.lower(): kind for name, kind in found.items()} for table, found in schemas.items()}
        inputs = self.inputs & frozenset(schemas)
        try:
            self._reject_missing(schemas)
            columns, rows = self._derive(schemas, names)
        except (UnsupportedSqlError, SqlglotError) as error:
            return StatementLineage(self.target, inputs, unknown=dict.fromkeys(names, _first_line(error)))
        except RecursionError:
            return StatementLineage(self.target, inputs, unknown=dict.fromkeys(names, TOO_DEEP))
        # What an UPDATE, DELETE or MERGE reads of the table that it changes is no input.
        known = {name: _of_tables(each, inputs) for name, each in columns.items()}
        return StatementLineage(self.target, inputs, known, _of_tables(rows, inputs))

    def _reject_missing(self, schemas: Schemas) -> None:
        missing = sorted(self.inputs - schemas.keys())
        if missing:
            raise UnsupportedSqlError(f"{missing[0]} is not a table of a known catalog")

    def _derive(self, schemas: Schemas, names: Sequence[str]) -> tuple[Mapping[str, Dependencies], Dependencies]:
        match self.tree:
            case exp.Insert() | exp.Create():
                return self._derive_insert(schemas, names)
            case exp.Update():
                return _derive_update(self.tree, schemas, self._dialect)
            case exp.Delete():
                return _derive_delete(self.tree, schemas, self._dialect)
            case exp.Merge():
                return _derive_merge(self.tree, schemas, self._dialect)
            case exp.Query():
                relation = _derive_query(self.tree, schemas, self._dialect)
                return _by_position(relation, names), relation.rows
        raise UnsupportedSqlError(f"the statement {self.tree.key.upper()}")

    def _derive_insert(self, schemas: Schemas, names: Sequence[str]) -> tuple[Mapping[str, Dependencies], Dependencies]:
        if self.query is None:
            raise UnsupportedSqlError(f"{self.tree.key.upper()} without a query")
        if self.tree.args.get("conflict") or self.tree.args.get("returning"):
            raise UnsupportedSqlError("ON CONFLICT or RETURNING")
        query = self.query.copy()
        clause = self.tree.args.get("with_")
        if clause is not None:
            query.set("with_", clause.copy())
        relation = _derive_query(query, schemas, self._dialect)
        if isinstance(self.tree, exp.Create):
            return _by_position(relation, names), relation.rows
        if self.tree.args.get("by_name"):
            return dict(relation.columns), relation.rows
        listed = self.tree.this.expressions if isinstance(self.tree.this, exp.Schema) else ()
        return _by_position(relation, [each.name.lower() for each in listed] or names), relation.rows


def _of_tables(dependencies: Dependencies, tables: frozenset[str]) -> Dependencies:
    return frozenset(each for each in dependencies if each.table in tables)


def _is_temporary(tree: exp.Create) -> bool:
    properties = tree.args.get("properties")
    return properties is not None and properties.find(exp.TemporaryProperty) is not None


def _tables(node: exp.Expr, defined: frozenset[str]) -> Iterator[exp.Table]:
    """Yield the references to tables; `defined` are the names of common table expressions that are visible."""
    clause = node.args.get("with_")
    if clause is not None:
        for each in clause.expressions:
            yield from _tables(each.this, defined | {each.alias} if clause.recursive else defined)
            defined |= {each.alias}
    is_named = isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier)
    if isinstance(node, exp.Table) and is_named and (node.args.get("db") or node.name not in defined):
        yield node
    for child in node.iter_expressions():
        if child is not clause:
            yield from _tables(child, defined)


def _derive_query(query: exp.Expr, schemas: Schemas, dialect: str) -> Relation:
    return relations.derive(_qualified(query, schemas, dialect), Scope(schemas, relations.derive))


def _qualified(query: exp.Expr, schemas: Schemas, dialect: str) -> exp.Expr:
    nested: dict[str, object] = {}
    for table, columns in schemas.items():
        level = nested
        *parents, last = table.split(".")
        for parent in parents:
            level = level.setdefault(parent, {})  # type: ignore[assignment]
        level[last] = dict(columns)
    return qualify(_with_wrapped_orders(query.copy()), schema=nested, dialect=dialect, quote_identifiers=False)


def _with_wrapped_orders(query: exp.Expr) -> exp.Expr:
    """Wrap sorted queries whose columns are renamed: SQLGlot renames them in SELECT, but not in ORDER BY."""
    for each in list(query.find_all(exp.CTE, exp.Subquery)):
        alias = each.args.get("alias")
        if alias is not None and alias.columns and each.this.args.get("order"):
            inner = exp.Subquery(this=each.this, alias=exp.TableAlias(this=exp.to_identifier("sorted")))
            each.set("this", exp.Select(expressions=[exp.Star()], from_=exp.From(this=inner)))
    return query


def _by_position(relation: Relation, names: Sequence[str]) -> dict[str, Dependencies]:
    """Return the columns under the names of the engine."""
    if len(names) != len(relation.columns):
        raise UnsupportedSqlError(f"{len(relation.columns)} columns were derived, but the engine has {len(names)}")
    return dict(zip(names, relation.columns.values(), strict=True))


def _derive_update(tree: exp.Update, schemas: Schemas, dialect: str) -> tuple[Mapping[str, Dependencies], Dependencies]:
    """Derive UPDATE from the query that computes the new values."""
    query = exp.Select(from_=exp.From(this=tree.this.copy()))
    if source := tree.args.get("from_"):
        query.append("joins", exp.Join(this=source.this.copy(), kind="CROSS"))
        for join in source.this.args.get("joins") or ():
            raise UnsupportedSqlError(f"{join.key} in UPDATE ... FROM")
    return _assignments(query, tree.expressions, [tree.args.get("where")], schemas, dialect)


def _assignments(
    query: exp.Select,
    assignments: Sequence[exp.Expr],
    conditions: Sequence[exp.Where | None],
    schemas: Schemas,
    dialect: str,
) -> tuple[Mapping[str, Dependencies], Dependencies]:
    values = {each.this.name.lower(): each.expression for each in assignments}
    projections = [exp.alias_(value.copy(), name) for name, value in values.items()]
    query.set("expressions", projections or [exp.alias_(exp.Literal.number(1), "nothing")])
    for condition in conditions:
        if condition is not None:
            query.set("where", condition.copy())
    relation = _derive_query(query, schemas, dialect)
    return _by_position(relation, list(values)) if values else {}, relation.rows


def _derive_delete(tree: exp.Delete, schemas: Schemas, dialect: str) -> tuple[Mapping[str, Dependencies], Dependencies]:
    query = exp.Select(from_=exp.From(this=tree.this.copy()))
    for source in tree.args.get("using") or ():
        query.append("joins", exp.Join(this=source.copy(), kind="CROSS"))
    return _assignments(query, (), [tree.args.get("where")], schemas, dialect)


def _derive_merge(tree: exp.Merge, schemas: Schemas, dialect: str) -> tuple[Mapping[str, Dependencies], Dependencies]:
    """Derive MERGE as a join of target and source with one query for each WHEN."""
    if tree.args.get("using_cond"):
        raise UnsupportedSqlError("MERGE with USING columns")
    source, target = tree.args["using"], tree.this
    columns: dict[str, Dependencies] = {}
    rows = NONE
    for when in tree.args["whens"].expressions:
        query = exp.Select(from_=exp.From(this=target.copy()))
        query.append("joins", exp.Join(this=source.copy(), on=tree.args["on"].copy()))
        condition = when.args.get("condition")
        where = exp.Where(this=condition) if condition is not None else None
        found, decided = _assignments(query, list(_actions(when, dialect)), [where], schemas, dialect)
        rows |= decided
        for name, dependencies in found.items():
            columns[name] = columns.get(name, NONE) | dependencies
    return columns, rows


def _actions(when: exp.When, dialect: str) -> Iterator[exp.Expr]:
    """Yield the assignments of a WHEN clause as `column = value`."""
    then = when.args["then"]
    if isinstance(then, exp.Update):
        if any(not isinstance(each, exp.EQ) for each in then.expressions) or not then.expressions:
            raise UnsupportedSqlError("UPDATE SET * in MERGE")
        yield from then.expressions
    elif isinstance(then, exp.Insert):
        names = then.this.expressions if then.this is not None else ()
        values = then.expression.expressions if isinstance(then.expression, exp.Tuple) else ()
        if not names or len(names) != len(values):
            raise UnsupportedSqlError("INSERT without a list of columns in MERGE")
        for name, value in zip(names, values, strict=True):
            yield exp.EQ(this=exp.column(name.name), expression=value)
    elif not (isinstance(then, exp.Var) and then.name.upper() in {"DELETE", "DO NOTHING"}):
        raise UnsupportedSqlError(f"{then.sql(dialect)} in MERGE")


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].replace("\x1b[4m", "").replace("\x1b[0m", "")
