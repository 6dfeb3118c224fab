# SPDX-License-Identifier: Apache-2.0
"""What the value of an expression is made of: one rule for each kind of expression that needs one.

An expression without a rule is a function of its arguments: TRANSFORMATION of each of them.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from jobs.spark.lineage.model import Column, Edge, Origin, Subtype, union
from jobs.spark.lineage.tree import ExprId, Node

_MASKING = {"Md5", "Sha1", "Sha2", "Crc32", "XxHash64", "Murmur3Hash", "HiveHash", "Mask"}
_PASS_THROUGH = {"Alias", "KnownNotNull", "KnownNullable", "KnownNonNullable", "TempResolvedColumn"}
_SUBQUERIES = {"ScalarSubquery", "Exists", "ListQuery", "InSubquery", "LateralSubquery", "FunctionTableSubquery"}


@dataclass(frozen=True)
class Decoding:
    """A source's column that was decoded to a struct: `fields` are the (name, type) pairs of its top level."""

    leaf: int
    column: str
    fields: tuple[tuple[str, str], ...]


@dataclass
class Findings:
    """What a walk notices beside edges. `unknown` holds the class names that it has no rule for."""

    unknown: set[str] = field(default_factory=set)
    decodings: set[Decoding] = field(default_factory=set)


@dataclass(frozen=True)
class Scope:
    """What an expression can refer to.

    Attributes:
        in_time_window: inside `window()`, whose inner CASE only rounds: it is no condition of the user's.
    """

    attributes: Mapping[ExprId, Column]
    findings: Findings
    in_time_window: bool = False

    def column(self, expression: Node) -> Column:
        """What the value of this expression is made of."""
        kind = expression.kind
        rule = _RULES.get(kind)
        if rule is not None:
            return rule(self, expression)
        if kind in _PASS_THROUGH:
            return self.column(expression.children[0])
        if kind in _SUBQUERIES:
            self.findings.unknown.add(kind)
            return Column()
        return self._arguments(expression).through(Subtype.TRANSFORMATION, kind in _MASKING)

    def _arguments(self, expression: Node) -> Column:
        return Column(union(self.column(child) for child in expression.children).edges)


def _attribute(scope: Scope, expression: Node) -> Column:
    column = scope.attributes.get(expression.expr_id)
    if column is None:
        scope.findings.unknown.add(f"reference to {expression.name}")
        return Column()
    return column


def _lambda_variable(_scope: Scope, _expression: Node) -> Column:
    """An element of the collection that is another argument of the same function: counted there."""
    return Column()


def _struct_field(scope: Scope, expression: Node) -> Column:
    return scope.column(expression.children[0]).get(expression.name)


def _named_struct(scope: Scope, expression: Node) -> Column:
    names, values = expression.children[::2], expression.children[1::2]
    return Column.struct(
        {str(n.fields.get("value", n.kind)): scope.column(v) for n, v in zip(names, values, strict=True)}
    )


def _conditional(scope: Scope, conditions: list[Node], values: list[Node]) -> Column:
    result = union(scope.column(value) for value in values).through(Subtype.TRANSFORMATION)
    decisive = union(scope.column(condition) for condition in conditions)
    if scope.in_time_window:
        return union([result, decisive.through(Subtype.TRANSFORMATION)])
    return Column(result.edges | decisive.deciding(Subtype.CONDITIONAL))


def _if(scope: Scope, expression: Node) -> Column:
    condition, *values = expression.children
    return _conditional(scope, [condition], values)


def _case_when(scope: Scope, expression: Node) -> Column:
    """Children are condition, value, condition, value, ... and perhaps the value of ELSE."""
    children = list(expression.children)
    otherwise = [children.pop()] if len(children) % 2 else []
    return _conditional(scope, children[::2], children[1::2] + otherwise)


def _aggregate(scope: Scope, expression: Node) -> Column:
    function, *filters = expression.children
    value = scope.column(function).through(Subtype.AGGREGATION, masking=function.kind == "Count")
    decisive = union(scope.column(condition) for condition in filters)
    return Column(value.edges | decisive.deciding(Subtype.FILTER))


def _window(scope: Scope, expression: Node) -> Column:
    """The keys of a window decide about this one column: the rows stay what they are."""
    function, specification = expression.children
    value = scope.column(function).through(Subtype.TRANSFORMATION)
    return Column(value.edges | scope.column(specification).deciding(Subtype.WINDOW))


def _time_conversion(scope: Scope, expression: Node) -> Column:
    inner = replace(scope, in_time_window=True)
    return inner.column(expression.children[0]).through(Subtype.TRANSFORMATION)


def _from_avro(scope: Scope, expression: Node) -> Column:
    """`FromAvro` has the schema as its second argument, `AvroDataToCatalyst` as a field."""
    text = expression.fields.get("jsonFormatSchema")
    if not isinstance(text, str) and len(expression.children) > 1:
        text = expression.children[1].fields.get("value")
    try:
        schema = json.loads(text) if isinstance(text, str) else {}
    except json.JSONDecodeError:
        schema = {}
    fields = schema.get("fields", []) if isinstance(schema, dict) else []
    return _decoded(scope, expression, tuple((f["name"], avro_type(f["type"])) for f in fields))


def _from_text(scope: Scope, expression: Node) -> Column:
    """`from_json` and `from_csv`: the schema is Spark's own JSON of a struct."""
    schema = expression.fields.get("schema")
    fields = schema.get("fields", []) if isinstance(schema, dict) else []
    return _decoded(scope, expression, tuple((f["name"], spark_type(f["type"])) for f in fields))


def _decoded(scope: Scope, expression: Node, fields: tuple[tuple[str, str], ...]) -> Column:
    """Decoding changes the form, not the value: a field of the result is a column of the source.

    Where the bytes come from more than one place, or the fields are not known, it is a plain function.
    """
    origins = {edge.origin for edge in scope.column(expression.children[0]).edges}
    if len(origins) != 1 or not fields:
        return scope.column(expression.children[0]).through(Subtype.TRANSFORMATION)
    (source,) = origins
    if source.path:
        return scope.column(expression.children[0]).through(Subtype.TRANSFORMATION)
    scope.findings.decodings.add(Decoding(source.leaf, source.column, fields))
    return Column.struct({name: _decoded_field(source, name) for name, _ in fields})


def _decoded_field(source: Origin, name: str) -> Column:
    origin = Origin(source.leaf, source.column, (name,), decoded=True)
    return Column(frozenset({Edge(origin, Subtype.IDENTITY)}))


def avro_type(schema: object) -> str:
    """The type of an Avro field as one word: its logical type, else its type; of a nullable one the other."""
    if isinstance(schema, list):
        return "|".join(avro_type(member) for member in schema if member != "null")
    if isinstance(schema, dict):
        return str(schema.get("logicalType") or avro_type(schema.get("type")))
    return str(schema)


def spark_type(data_type: object) -> str:
    """The type of a Spark field as one word."""
    return str(data_type.get("type")) if isinstance(data_type, dict) else str(data_type)


_RULES: dict[str, Callable[[Scope, Node], Column]] = {
    "AttributeReference": _attribute,
    "NamedLambdaVariable": _lambda_variable,
    "GetStructField": _struct_field,
    "CreateNamedStruct": _named_struct,
    "If": _if,
    "CaseWhen": _case_when,
    "AggregateExpression": _aggregate,
    "WindowExpression": _window,
    "PreciseTimestampConversion": _time_conversion,
    "FromAvro": _from_avro,
    "AvroDataToCatalyst": _from_avro,
    "JsonToStructs": _from_text,
    "CsvToStructs": _from_text,
}
