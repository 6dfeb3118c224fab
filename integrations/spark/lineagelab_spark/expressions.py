# SPDX-License-Identifier: Apache-2.0
"""Column lineage of expressions: one rule for each kind of expression that needs one.

An expression without a rule is a function of its arguments: TRANSFORMATION of each of them.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from lineagelab_spark import byte_ranges
from lineagelab_spark.datatypes import Shape, avro_shape, avro_type, spark_shape, spark_type
from lineagelab_spark.model import Column, Origin, Subtype, union
from lineagelab_spark.plan_json import ExprId, Node

_MASKING = {"Md5", "Sha1", "Sha2", "Crc32", "XxHash64", "Murmur3Hash", "HiveHash", "Mask"}
_PASS_THROUGH = {"Alias", "KnownNotNull", "KnownNullable", "KnownNonNullable", "TempResolvedColumn"}
_ENCODED = {Subtype.IDENTITY, Subtype.TRANSFORMATION}
"""Subtypes by which encoded bytes may derive from their source: a header is cut off, a text is cast."""

_SUBQUERIES = {"ScalarSubquery", "Exists", "ListQuery", "InSubquery", "LateralSubquery", "FunctionTableSubquery"}


@dataclass(frozen=True)
class Decoding:
    """Decoding of a source's column to a struct.

    Attributes:
        fields: (name, type) of the top-level fields.
        start: 1-based position of the first decoded byte; bytes before it are a header.
    """

    leaf: int
    column: str
    fields: tuple[tuple[str, str], ...]
    start: int = 1


@dataclass
class Findings:
    """Decodings found in a plan, and `unknown`: expressions and nodes without a rule."""

    unknown: set[str] = field(default_factory=set)
    decodings: set[Decoding] = field(default_factory=set)


@dataclass(frozen=True)
class Scope:
    """Attributes that an expression can refer to.

    Attributes:
        in_time_window: inside `window()`, whose generated CASE only rounds and is not a condition of the user.
    """

    attributes: Mapping[ExprId, Column]
    findings: Findings
    in_time_window: bool = False

    def column(self, expression: Node) -> Column:
        """Return the lineage of an expression's value."""
        kind = expression.kind
        rule = _RULES.get(kind)
        if rule is not None:
            return rule(self, expression)
        if kind in _PASS_THROUGH:
            return self.column(expression.children[0])
        if kind in _SUBQUERIES:
            self.findings.unknown.add(kind)
            return Column()
        return self.arguments(expression).transformed(Subtype.TRANSFORMATION, kind in _MASKING)

    def arguments(self, expression: Node) -> Column:
        """Return the merged lineage of an expression's arguments."""
        return Column(union(self.column(child) for child in expression.children).edges)


def _attribute(scope: Scope, expression: Node) -> Column:
    column = scope.attributes.get(expression.expr_id)
    if column is None:
        scope.findings.unknown.add(f"reference to {expression.name}")
        return Column()
    return column


def _lambda_variable(_scope: Scope, _expression: Node) -> Column:
    """Return no edges: the variable is an element of another argument of the function, which has them."""
    return Column()


def _struct_field(scope: Scope, expression: Node) -> Column:
    """Return a struct's field; `.*` omits the name, which then comes from the attribute's type."""
    (struct,) = expression.children
    name = expression.fields.get("name")
    if name is None:
        shape = spark_shape(struct.fields.get("dataType")) or ()
        name = dict(enumerate(field for field, _ in shape)).get(expression.fields["ordinal"])
    return _field(scope, expression, name)


def _field_of_each(scope: Scope, expression: Node) -> Column:
    """Return one field of each struct in an array."""
    return _field(scope, expression, expression.fields["field"]["name"])


def _field(scope: Scope, expression: Node, name: str | None) -> Column:
    """Return a field of a struct; add it to `unknown` if the struct's fields are not tracked separately."""
    (parent,) = expression.children
    whole = scope.column(parent)
    found = None
    if name is not None and not _has_lambda_variable(parent):
        found = whole.field(expression.fields["ordinal"], name)
    if found is not None:
        return found
    scope.findings.unknown.add(
        f"field {name or expression.fields['ordinal']} of {parent.fields.get('name', parent.kind)}"
    )
    return whole.transformed(Subtype.TRANSFORMATION)


def _has_lambda_variable(expression: Node) -> bool:
    return expression.kind == "NamedLambdaVariable" or any(map(_has_lambda_variable, expression.children))


def _named_struct(scope: Scope, expression: Node) -> Column:
    names, values = expression.children[::2], expression.children[1::2]
    return Column.struct(
        (str(n.fields.get("value", n.kind)), scope.column(v)) for n, v in zip(names, values, strict=True)
    )


def _updated_struct(scope: Scope, expression: Node) -> Column:
    """Apply `withField` and `dropFields`; names that differ in case are unknown, as a Spark setting decides."""
    struct, *changes = expression.children
    fields = scope.column(struct).fields
    if fields is None:
        return union(scope.column(child) for child in expression.children).transformed(Subtype.TRANSFORMATION)
    updated = list(fields)
    for change in changes:
        places = [i for i, (name, _) in enumerate(updated) if name.casefold() == change.name.casefold()]
        if len(places) > 1 or any(updated[place][0] != change.name for place in places):
            scope.findings.unknown.add(f"{change.kind} {change.name}")
        made = [(change.name, scope.column(value)) for value in change.children]
        place = places[0] if places else len(updated)
        updated[place : place + 1] = made
    return Column.struct(updated)


def _choice(scope: Scope, expression: Node) -> Column:
    """Return one of the arguments or an array of them; struct fields are merged by name."""
    return union(scope.column(child) for child in expression.children).transformed_values(Subtype.TRANSFORMATION)


def _coalesce(scope: Scope, expression: Node) -> Column:
    """Return the common column if all arguments are the same, as for alternative decodings of one value."""
    columns = {scope.column(child) for child in expression.children}
    return columns.pop() if len(columns) == 1 else _choice(scope, expression)


def _presence(scope: Scope, expression: Node) -> Column:
    """Return the empty byte range of the argument: `IS NULL` reads no byte of a value."""
    column = scope.column(expression.children[0])
    return (byte_ranges.byte_range(column, 1, 1) or column).transformed(Subtype.TRANSFORMATION)


def _substring(scope: Scope, expression: Node) -> Column:
    """Return a byte range of a source's column for constant bounds; bytes before the decoded range are a header."""
    text, *bounds = expression.children
    column = scope.column(text)
    start, length = (_integer_literal(bound) for bound in bounds)
    part = byte_ranges.byte_range(column, start, start + length) if start > 0 and length > 0 else None
    return (part or scope.arguments(expression)).transformed(Subtype.TRANSFORMATION)


def _integer_literal(literal: Node) -> int:
    """Return the value of an integer literal; 0 for any other expression."""
    value = str(literal.fields.get("value", "")) if literal.kind == "Literal" else ""
    return int(value) if value.lstrip("-").isdigit() else 0


def _conditional(scope: Scope, conditions: list[Node], values: list[Node]) -> Column:
    result = union(scope.column(value) for value in values).transformed_values(Subtype.TRANSFORMATION)
    decisive = union(scope.column(condition) for condition in conditions)
    if scope.in_time_window:
        return union([result, decisive.transformed(Subtype.TRANSFORMATION)])
    return result.with_indirect_edges(decisive.as_indirect_edges(Subtype.CONDITIONAL))


def _if(scope: Scope, expression: Node) -> Column:
    condition, *values = expression.children
    return _conditional(scope, [condition], values)


def _case_when(scope: Scope, expression: Node) -> Column:
    """Return the lineage of CASE; children are condition, value, condition, value, ..., optional ELSE value."""
    children = list(expression.children)
    otherwise = [children.pop()] if len(children) % 2 else []
    return _conditional(scope, children[::2], children[1::2] + otherwise)


def _aggregate(scope: Scope, expression: Node) -> Column:
    function, *filters = expression.children
    value = scope.column(function).transformed_values(Subtype.AGGREGATION, masking=function.kind == "Count")
    decisive = union(scope.column(condition) for condition in filters)
    return value.with_indirect_edges(decisive.as_indirect_edges(Subtype.FILTER))


def _window(scope: Scope, expression: Node) -> Column:
    """Return the lineage of a window function: its keys affect this column only, not the rows."""
    function, specification = expression.children
    value = scope.column(function).transformed_values(Subtype.TRANSFORMATION)
    return value.with_indirect_edges(scope.column(specification).as_indirect_edges(Subtype.WINDOW))


def _time_conversion(scope: Scope, expression: Node) -> Column:
    inner = replace(scope, in_time_window=True)
    return inner.column(expression.children[0]).transformed(Subtype.TRANSFORMATION)


def _from_avro(scope: Scope, expression: Node) -> Column:
    """Decode Avro; `FromAvro` has the schema as its second argument, `AvroDataToCatalyst` as a field."""
    text = expression.fields.get("jsonFormatSchema")
    if not isinstance(text, str) and len(expression.children) > 1:
        text = expression.children[1].fields.get("value")
    try:
        schema = json.loads(text) if isinstance(text, str) else {}
    except json.JSONDecodeError:
        schema = {}
    if not isinstance(schema, dict) or schema.get("type") != "record":
        return scope.column(expression.children[0]).transformed(Subtype.TRANSFORMATION)
    types = tuple((f["name"], avro_type(f["type"])) for f in schema["fields"])
    return _decoded(scope, expression, types, avro_shape(schema))


def _from_text(scope: Scope, expression: Node) -> Column:
    """Decode JSON or CSV (`from_json`, `from_csv`); the schema is Spark's JSON form of a struct."""
    schema = expression.fields.get("schema")
    if not isinstance(schema, dict) or schema.get("type") != "struct":
        return scope.column(expression.children[0]).transformed(Subtype.TRANSFORMATION)
    types = tuple((f["name"], spark_type(f["type"])) for f in schema["fields"])
    return _decoded(scope, expression, types, spark_shape(schema))


def _decoded(scope: Scope, expression: Node, types: tuple[tuple[str, str], ...], shape: Shape) -> Column:
    """Return a struct of the source's decoded columns: decoding changes the form, not the value.

    If the bytes come from several columns, or from a field of one, each field is a function of all of them.
    """
    encoded = scope.column(expression.children[0])
    sources = {edge.origin for edge in encoded.edges if edge.subtype in _ENCODED and not edge.masking}
    source = sources.pop() if len(sources) == 1 else None
    if source is None or source.path or not all(byte_ranges.is_encoded(edge, source) for edge in encoded.edges):
        return _of_shape(encoded.transformed(Subtype.TRANSFORMATION), shape)
    scope.findings.decodings.add(Decoding(source.leaf, source.column, types, byte_ranges.first_byte(source)))
    return Column.struct(
        (name, Column.of(Origin(source.leaf, source.column, (name,), decoded=True), inner))
        for name, inner in shape or ()
    )


def _of_shape(value: Column, shape: Shape) -> Column:
    """Return a struct in which every field has the same edges."""
    if shape is None:
        return value
    return Column(value.edges, tuple((name, _of_shape(value, inner)) for name, inner in shape))


_RULES: dict[str, Callable[[Scope, Node], Column]] = {
    "AttributeReference": _attribute,
    "NamedLambdaVariable": _lambda_variable,
    "GetStructField": _struct_field,
    "GetArrayStructFields": _field_of_each,
    "CreateNamedStruct": _named_struct,
    "UpdateFields": _updated_struct,
    "Coalesce": _coalesce,
    "IsNull": _presence,
    "IsNotNull": _presence,
    "Substring": _substring,
    **dict.fromkeys(("CreateArray", "First", "Last", "Lag", "Lead"), _choice),
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
