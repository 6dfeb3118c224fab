# SPDX-License-Identifier: Apache-2.0
"""Dependencies of SQL expressions, from SQLGlot's tree. Pure."""

from dataclasses import replace

from sqlglot import exp

from lineagelab_sql.dependencies import (
    AGGREGATION,
    CONDITIONAL,
    NONE,
    SORT,
    TRANSFORMATION,
    WINDOW,
    Dependencies,
    indirectly,
    through,
    union,
)
from lineagelab_sql.errors import UnsupportedSqlError
from lineagelab_sql.scopes import Scope

GENERATING_FUNCTIONS = frozenset({"range", "generate_series", "unnest", "repeat", "repeat_row", "test_all_types"})
"""Table functions whose rows consist of their arguments; others read files, or are not known."""

_HASHES = (exp.MD5, exp.MD5Digest, exp.SHA, exp.SHA1Digest, exp.SHA2, exp.SHA2Digest)
_HASH_NAMES = frozenset({"hash", "md5", "md5_number", "sha1", "sha256"})
"""Functions from whose result the argument cannot be read."""

_RANKINGS = (exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile)
"""Window functions whose result depends on the window alone."""

_SELECTING_LAMBDAS = frozenset({"list_filter", "filter", "array_filter"})
"""Functions whose lambda decides which elements are kept."""

_POSITIONS = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue)
"""Window functions that pass a value of another row on."""

_UNKNOWN = (exp.Columns, exp.Pivot, exp.Placeholder)


def derive(node: exp.Expr, scope: Scope) -> Dependencies:
    """Return the dependencies of an expression. Raises UnsupportedSqlError."""
    if isinstance(node, _UNKNOWN):
        raise UnsupportedSqlError(f"{node.key} in an expression")
    match node:
        case exp.Column():
            return scope.column(node.table, node.name)
        case exp.Alias() | exp.Paren():
            return derive(node.this, scope)
        case exp.Case() | exp.If():
            return _derive_conditional(node, scope)
        case exp.Filter():
            return derive(node.this, scope) | indirectly(CONDITIONAL, derive(node.expression.this, scope))
        case exp.Window():
            return _derive_window(node, scope)
        case exp.Subquery():
            return _derive_scalar(node, scope)
        case exp.Exists():
            return indirectly(CONDITIONAL, scope.derive_query(node.this, scope.inner()).rows)
        case exp.In():
            return _derive_membership(node, scope)
        case exp.ArgMax() | exp.ArgMin():
            ordering = indirectly(SORT, derive(node.expression, scope))
            return through(AGGREGATION, derive(node.this, scope)) | ordering
        case exp.Quantile() | exp.PercentileCont() | exp.PercentileDisc() | exp.Mode() | exp.WithinGroup():
            return through(AGGREGATION, derive_children(node, scope))
        case exp.Order():
            ordering = union(derive(each.this, scope) for each in node.expressions)
            return (derive(node.this, scope) if node.this else NONE) | indirectly(SORT, ordering)
        case exp.Star():
            return NONE
        case exp.Func():
            return _derive_function(node, scope)
        case exp.SetOperation() | exp.Select():
            return _derive_scalar(node, scope)
    return through(TRANSFORMATION, derive_children(node, scope))


def derive_children(node: exp.Expr, scope: Scope) -> Dependencies:
    """Return the dependencies of all operands."""
    return union(derive(child, scope) for child in node.iter_expressions())


def function_name(function: exp.Func) -> str:
    """Return the name of a function in lower case."""
    return (function.name if isinstance(function, exp.Anonymous) else function.sql_name()).lower()


def _derive_conditional(node: exp.Case | exp.If, scope: Scope) -> Dependencies:
    """Return the dependencies of CASE: results flow, conditions and a compared operand decide."""
    branches = node.args["ifs"] if isinstance(node, exp.Case) else [node]
    conditions = [branch.this for branch in branches]
    if isinstance(node, exp.Case) and node.this is not None:
        conditions.append(node.this)
    results = [branch.args["true"] for branch in branches]
    otherwise = node.args.get("default") or node.args.get("false")
    if otherwise is not None:
        results.append(otherwise)
    decided = indirectly(CONDITIONAL, union(derive(each, scope) for each in conditions))
    return through(TRANSFORMATION, union(derive(each, scope) for each in results)) | decided


def _derive_window(window: exp.Window, scope: Scope) -> Dependencies:
    function = window.this
    inner = function.this if isinstance(function, exp.IgnoreNulls | exp.RespectNulls) else function
    values = NONE if isinstance(inner, _RANKINGS) else derive(inner, scope)
    return through(TRANSFORMATION, values) | indirectly(WINDOW, _derive_window_clauses(window, scope))


def _derive_window_clauses(window: exp.Window, scope: Scope) -> Dependencies:
    """Return the dependencies of partitions, order and frame, those of a named window included."""
    clauses = [*(window.args.get("partition_by") or ()), window.args.get("order"), window.args.get("spec")]
    own = union(derive(each, scope) for each in clauses if isinstance(each, exp.Expr))
    name = window.alias
    if not name:
        return own
    if name not in scope.windows:
        raise UnsupportedSqlError(f"window {name} is not known")
    return own | _derive_window_clauses(scope.windows[name], scope)


def _derive_scalar(query: exp.Expr, scope: Scope) -> Dependencies:
    """Return the dependencies of the value of a subquery: that of its first column, decided by its rows."""
    relation = scope.derive_query(query, scope.inner())
    values = union(list(relation.columns.values())[:1])
    return through(TRANSFORMATION, values) | indirectly(CONDITIONAL, relation.rows)


def _derive_membership(node: exp.In, scope: Scope) -> Dependencies:
    query = node.args.get("query")
    listed = union(derive(each, scope) for each in node.expressions)
    found = derive(query, scope) if query is not None else listed
    unnested = derive(node.args["unnest"], scope) if node.args.get("unnest") else NONE
    return through(TRANSFORMATION, derive(node.this, scope) | found | unnested)


def _derive_function(function: exp.Func, scope: Scope) -> Dependencies:
    name = function_name(function)
    lambdas = [each for each in function.iter_expressions() if isinstance(each, exp.Lambda)]
    values = union(
        derive(each, scope) for each in function.iter_expressions() if not isinstance(each, exp.Lambda | exp.DataType)
    )
    for each in lambdas:
        inner = _derive_lambda(each, scope)
        values |= indirectly(CONDITIONAL, inner) if name in _SELECTING_LAMBDAS else inner
    is_aggregate = isinstance(function, exp.AggFunc) and not isinstance(function, _POSITIONS)
    masking = isinstance(function, _HASHES) or name in _HASH_NAMES
    return through(AGGREGATION if is_aggregate else TRANSFORMATION, values, masking)


def _derive_lambda(function: exp.Lambda, scope: Scope) -> Dependencies:
    """Return what a lambda uses besides its parameters, whose values are those of the function's other arguments."""
    parameters = {each.name: NONE for each in function.expressions}
    return derive(function.this, replace(scope, values={**scope.values, **parameters}))
