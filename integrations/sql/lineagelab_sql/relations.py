# SPDX-License-Identifier: Apache-2.0
"""Columns of queries, from SQLGlot's tree: FROM, joins, clauses, common table expressions, set operations. Pure.

The tree is qualified: every column names its source, `*` is expanded, and names are in lower case.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from sqlglot import exp

from lineagelab_sql import expressions
from lineagelab_sql.dependencies import (
    FILTER,
    GROUP_BY,
    JOIN,
    NONE,
    SORT,
    TRANSFORMATION,
    Dependencies,
    Dependency,
    indirectly,
    through,
    union,
)
from lineagelab_sql.errors import UnsupportedSqlError
from lineagelab_sql.scopes import Relation, Scope

_CLAUSES = frozenset(
    {
        *("with_", "expressions", "from_", "joins", "laterals", "where", "group", "having", "qualify", "windows"),
        *("distinct", "order", "limit", "offset", "kind", "hint", "alias", "sample", "this", "expression", "by_name"),
        *("side", "on", "operation_modifiers"),
    }
)
"""Parts of queries that are derived, or do not affect columns."""


def derive(query: exp.Expr, scope: Scope) -> Relation:
    """Return the columns of a query. Raises UnsupportedSqlError."""
    scope = _with_queries(query, scope)
    if isinstance(query, exp.Subquery):
        return _derive_subquery(query, scope)
    if isinstance(query, exp.SetOperation):
        return _derive_set_operation(query, scope)
    if isinstance(query, exp.Select):
        return _derive_select(query, scope)
    if isinstance(query, exp.Values):
        return _derive_values(query, scope)
    raise UnsupportedSqlError(f"{query.key} in a query")


def _with_queries(query: exp.Expr, scope: Scope) -> Scope:
    """Return the scope with the common table expressions of a query."""
    clause = query.args.get("with_")
    if clause is None:
        return scope
    for each in clause.expressions:
        names = _column_names(each)
        is_recursive = clause.recursive and isinstance(each.this, exp.SetOperation)
        derived = _derive_recursive(each, scope, names) if is_recursive else derive(each.this, scope).renamed(names)
        scope = replace(scope, queries={**scope.queries, each.alias: derived})
    return scope


def _derive_recursive(query: exp.CTE, scope: Scope, names: Sequence[str]) -> Relation:
    """Return the least fixed point of a recursive query: each round adds dependencies, of which there are few."""
    derived = derive(query.this.this, scope).renamed(names)
    while True:
        inner = replace(scope, queries={**scope.queries, query.alias: derived})
        after = _united(derived, derive(query.this.expression, inner))
        if query.this.args.get("distinct"):
            after = replace(after, rows=after.rows | indirectly(GROUP_BY, union(after.columns.values())))
        if after == derived:
            return derived
        derived = after


def _united(left: Relation, right: Relation) -> Relation:
    if len(left.columns) != len(right.columns):
        raise UnsupportedSqlError("a set operation over queries with different numbers of columns")
    pairs = zip(left.columns, left.columns.values(), right.columns.values(), strict=True)
    return Relation({name: first | second for name, first, second in pairs}, left.rows | right.rows)


def _derive_subquery(query: exp.Subquery, scope: Scope) -> Relation:
    _reject_clauses(query)
    inner = derive(query.this, scope)
    if query.args.get("joins"):
        raise UnsupportedSqlError("joins in parentheses")
    return inner.renamed(_column_names(query))


def _derive_set_operation(query: exp.SetOperation, scope: Scope) -> Relation:
    _reject_clauses(query)
    left, right = derive(query.left, scope), derive(query.right, scope)
    if query.args.get("by_name") or query.args.get("side") or query.args.get("on"):
        raise UnsupportedSqlError("a set operation by name")
    united = _united(left, right)
    rows = united.rows
    if isinstance(query, exp.Union):
        columns = united.columns
        if query.args.get("distinct"):
            rows |= indirectly(GROUP_BY, union(columns.values()))
    else:
        # Rows are compared as a whole; the values are those of the left side.
        columns = left.columns
        rows |= indirectly(FILTER, union(united.columns.values()))
    inner = replace(scope, sources={"": Relation(columns)}, values=dict(columns))
    return Relation(columns, rows | _derive_limit(query, inner))


def _derive_values(query: exp.Values, scope: Scope) -> Relation:
    rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in query.expressions]
    columns = [union(expressions.derive(value, scope) for value in values) for values in zip(*rows, strict=True)]
    relation = Relation({f"col{number}": dependencies for number, dependencies in enumerate(columns)})
    return relation.renamed(_column_names(query))


def _derive_select(query: exp.Select, scope: Scope) -> Relation:
    _reject_clauses(query)
    scope, rows = _derive_from(query, scope.inner())
    windows = {each.name: each for each in query.args.get("windows") or ()}
    scope = replace(scope, windows=windows)
    columns: dict[str, Dependencies] = {}
    for each in query.expressions:
        if each.alias_or_name in columns:
            raise UnsupportedSqlError(f"two columns named {each.alias_or_name}")
        rows |= indirectly(FILTER, _exploded(each, scope))
        columns[each.alias_or_name] = expressions.derive(each, scope)
    # Clauses may use aliases of the SELECT list.
    named = replace(scope, values={**scope.values, **columns})
    for clause in ("where", "having", "qualify"):
        if condition := query.args.get(clause):
            rows |= indirectly(FILTER, expressions.derive(condition.this, named))
    rows |= _derive_group(query, columns, named)
    if distinct := query.args.get("distinct"):
        keys = distinct.args.get("on")
        compared = expressions.derive(keys, named) if keys else union(columns.values())
        rows |= indirectly(GROUP_BY, compared)
    return Relation(columns, rows | _derive_limit(query, named))


def _derive_from(query: exp.Select, scope: Scope) -> tuple[Scope, Dependencies]:
    """Return the scope with the sources of FROM, and what decides about their rows."""
    rows = NONE
    from_ = query.args.get("from_")
    if from_ is not None:
        relation = _derive_source(from_.this, scope)
        scope, rows = scope.with_source(from_.this.alias_or_name, relation), relation.rows
        for join in from_.this.args.get("joins") or ():
            scope, rows = _derive_join(join, scope, rows)
    for join in chain(query.args.get("joins") or (), query.args.get("laterals") or ()):
        scope, rows = _derive_join(join, scope, rows)
    return scope, rows


def _derive_join(join: exp.Expr, scope: Scope, rows: Dependencies) -> tuple[Scope, Dependencies]:
    if isinstance(join, exp.Lateral):
        relation = _derive_source(join, scope)
        return scope.with_source(join.alias, relation), rows | relation.rows
    if join.args.get("using"):
        raise UnsupportedSqlError("a join with USING that could not be expanded")
    method = join.text("method")
    if method not in {"", "ASOF", "NATURAL"} or join.args.get("pivots"):
        raise UnsupportedSqlError(f"a {method.lower()} join")
    relation = _derive_source(join.this, scope)
    scope = scope.with_source(join.this.alias_or_name, relation)
    condition = join.args.get("on")
    decided = indirectly(JOIN, expressions.derive(condition, scope)) if condition else NONE
    return scope, rows | relation.rows | decided


def _derive_source(source: exp.Expr, scope: Scope) -> Relation:
    if source.args.get("pivots"):
        raise UnsupportedSqlError("PIVOT or UNPIVOT")
    if isinstance(source, exp.Table):
        return _derive_table(source, scope)
    if isinstance(source, exp.Unnest):
        return _derive_unnest(source.expressions, source, scope)
    if isinstance(source, exp.Lateral):
        if isinstance(source.this, exp.Subquery):
            inner = derive(source.this, scope.inner())
            return inner.renamed(_column_names(source))
        return _derive_unnest([source.this], source, scope)
    # Subqueries in FROM see the sources before them.
    return derive(source, scope.inner())


def _derive_table(table: exp.Table, scope: Scope) -> Relation:
    names = _column_names(table)
    if isinstance(table.this, exp.Func):
        return _derive_table_function(table.this, scope).renamed(names)
    if not table.args.get("db") and table.name in scope.queries:
        return scope.queries[table.name].renamed(names)
    name = table_name(table)
    if name not in scope.schemas:
        raise UnsupportedSqlError(f"{name} is not a table of a known catalog")
    columns = {column: frozenset({Dependency(name, column)}) for column in scope.schemas[name]}
    return Relation(columns).renamed(names)


def _derive_table_function(function: exp.Func, scope: Scope) -> Relation:
    name = expressions.function_name(function)
    if name not in expressions.GENERATING_FUNCTIONS:
        raise UnsupportedSqlError(f"table function {name}")
    arguments = expressions.derive_children(function, scope)
    return Relation({}, indirectly(FILTER, arguments), through(TRANSFORMATION, arguments))


def _derive_unnest(values: Sequence[exp.Expr], source: exp.Expr, scope: Scope) -> Relation:
    """Return the columns of an unnested list: values and number of rows depend on the list."""
    dependencies = union(expressions.derive(value, scope) for value in values)
    relation = Relation({}, indirectly(FILTER, dependencies), through(TRANSFORMATION, dependencies))
    return relation.renamed(_column_names(source))


def _derive_group(query: exp.Select, columns: Mapping[str, Dependencies], scope: Scope) -> Dependencies:
    group = query.args.get("group")
    if group is None:
        return NONE
    if group.args.get("all"):
        keys = [columns[each.alias_or_name] for each in query.expressions if not each.find(exp.AggFunc)]
        return indirectly(GROUP_BY, union(keys))
    return indirectly(GROUP_BY, expressions.derive_children(group, scope))


def _derive_limit(query: exp.Expr, scope: Scope) -> Dependencies:
    """Return what decides about the rows that LIMIT, OFFSET or DISTINCT ON keep."""
    limits = [clause for name in ("limit", "offset") if (clause := query.args.get(name))]
    order, distinct = query.args.get("order"), query.args.get("distinct")
    kept = union(expressions.derive_children(clause, scope) for clause in limits)
    rows = indirectly(FILTER, kept)
    is_first = isinstance(distinct, exp.Distinct) and distinct.args.get("on") is not None
    if order is not None and (limits or is_first):
        sorted_by = union(expressions.derive(each.this, scope) for each in order.expressions)
        rows |= indirectly(SORT, sorted_by)
    return rows


def _exploded(projection: exp.Expr, scope: Scope) -> Dependencies:
    """Return the dependencies of lists that a projection unnests, which makes several rows of one."""
    lists = projection.find_all(exp.Unnest, exp.Explode)
    return union(expressions.derive_children(each, scope) for each in lists)


def _column_names(source: exp.Expr) -> list[str]:
    """Return the names that the alias of a source gives to its columns; empty if it gives none."""
    alias = source.args.get("alias")
    return [column.name for column in alias.columns] if alias else []


def _reject_clauses(query: exp.Expr) -> None:
    unknown = [name for name, value in query.args.items() if value and name not in _CLAUSES]
    if unknown:
        raise UnsupportedSqlError(f"the clause {unknown[0].rstrip('_')} of a {query.key}")


def table_name(table: exp.Table) -> str:
    """Return the full name of a table, in lower case."""
    return ".".join(part.name for part in table.parts).lower()
