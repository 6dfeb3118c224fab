# SPDX-License-Identifier: Apache-2.0
"""What the value of an expression is made of: one rule for each kind of expression that needs one.

An expression without a rule is a function of its arguments: TRANSFORMATION of each of them.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from lineagelab_spark import parts
from lineagelab_spark.datatypes import Shape, avro_shape, avro_type, spark_shape, spark_type
from lineagelab_spark.model import Column, Origin, Subtype, union
from lineagelab_spark.tree import ExprId, Node

_MASKING = {"Md5", "Sha1", "Sha2", "Crc32", "XxHash64", "Murmur3Hash", "HiveHash", "Mask"}
_PASS_THROUGH = {"Alias", "KnownNotNull", "KnownNullable", "KnownNonNullable", "TempResolvedColumn"}
_ENCODED = {Subtype.IDENTITY, Subtype.TRANSFORMATION}
"""How bytes that are decoded may come from their source: a frame's header is cut off, a text is cast."""

_SUBQUERIES = {"ScalarSubquery", "Exists", "ListQuery", "InSubquery", "LateralSubquery", "FunctionTableSubquery"}


@dataclass(frozen=True)
class Decoding:
    """A source's column that was decoded to a struct.

    Attributes:
        fields: the (name, type) pairs of its top level.
        start: the first byte of it that was decoded, counted from 1. What is before it is a header.
    """

    leaf: int
    column: str
    fields: tuple[tuple[str, str], ...]
    start: int = 1


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
        return self.arguments(expression).through(Subtype.TRANSFORMATION, kind in _MASKING)

    def arguments(self, expression: Node) -> Column:
        """What the arguments of an expression are made of, all together."""
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
    """`.*` leaves the name out: then the type of the attribute that it is taken of has it."""
    (struct,) = expression.children
    name = expression.fields.get("name")
    if name is None:
        shape = spark_shape(struct.fields.get("dataType")) or ()
        name = dict(enumerate(field for field, _ in shape)).get(expression.fields["ordinal"])
    return _field(scope, expression, name)


def _field_of_each(scope: Scope, expression: Node) -> Column:
    """One field of every struct of an array."""
    return _field(scope, expression, expression.fields["field"]["name"])


def _field(scope: Scope, expression: Node, name: str | None) -> Column:
    """Unknown where the fields are not told apart: the edges of the whole are not those of one field."""
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
    return whole.through(Subtype.TRANSFORMATION)


def _has_lambda_variable(expression: Node) -> bool:
    return expression.kind == "NamedLambdaVariable" or any(map(_has_lambda_variable, expression.children))


def _named_struct(scope: Scope, expression: Node) -> Column:
    names, values = expression.children[::2], expression.children[1::2]
    return Column.struct(
        (str(n.fields.get("value", n.kind)), scope.column(v)) for n, v in zip(names, values, strict=True)
    )


def _updated_struct(scope: Scope, expression: Node) -> Column:
    """`withField` and `dropFields`. Whether names meet in another case is a setting: then it is unknown."""
    struct, *changes = expression.children
    fields = scope.column(struct).fields
    if fields is None:
        return union(scope.column(child) for child in expression.children).through(Subtype.TRANSFORMATION)
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
    """One of the arguments, or an array of them: a field of the result is that field of one of them."""
    return union(scope.column(child) for child in expression.children).each(Subtype.TRANSFORMATION)


def _coalesce(scope: Scope, expression: Node) -> Column:
    """The same column whichever is taken is that column: so are the ways in which one value may be decoded."""
    columns = {scope.column(child) for child in expression.children}
    return columns.pop() if len(columns) == 1 else _choice(scope, expression)


def _presence(scope: Scope, expression: Node) -> Column:
    """`IS NULL` looks at no byte of a value."""
    column = scope.column(expression.children[0])
    return (parts.part_of(column, 1, 1) or column).through(Subtype.TRANSFORMATION)


def _substring(scope: Scope, expression: Node) -> Column:
    """Fixed bytes of a source's column are a part of it; those before the part that is decoded are a header."""
    text, *bounds = expression.children
    column = scope.column(text)
    start, length = (_whole_number(bound) for bound in bounds)
    part = parts.part_of(column, start, start + length) if start > 0 and length > 0 else None
    return (part or scope.arguments(expression)).through(Subtype.TRANSFORMATION)


def _whole_number(literal: Node) -> int:
    """0 for what is no literal of a whole number."""
    value = str(literal.fields.get("value", "")) if literal.kind == "Literal" else ""
    return int(value) if value.lstrip("-").isdigit() else 0


def _conditional(scope: Scope, conditions: list[Node], values: list[Node]) -> Column:
    result = union(scope.column(value) for value in values).each(Subtype.TRANSFORMATION)
    decisive = union(scope.column(condition) for condition in conditions)
    if scope.in_time_window:
        return union([result, decisive.through(Subtype.TRANSFORMATION)])
    return result.decided_by(decisive.deciding(Subtype.CONDITIONAL))


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
    value = scope.column(function).each(Subtype.AGGREGATION, masking=function.kind == "Count")
    decisive = union(scope.column(condition) for condition in filters)
    return value.decided_by(decisive.deciding(Subtype.FILTER))


def _window(scope: Scope, expression: Node) -> Column:
    """The keys of a window decide about this one column: the rows stay what they are."""
    function, specification = expression.children
    value = scope.column(function).each(Subtype.TRANSFORMATION)
    return value.decided_by(scope.column(specification).deciding(Subtype.WINDOW))


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
    if not isinstance(schema, dict) or schema.get("type") != "record":
        return scope.column(expression.children[0]).through(Subtype.TRANSFORMATION)
    types = tuple((f["name"], avro_type(f["type"])) for f in schema["fields"])
    return _decoded(scope, expression, types, avro_shape(schema))


def _from_text(scope: Scope, expression: Node) -> Column:
    """`from_json` and `from_csv`: the schema is Spark's own JSON of a struct."""
    schema = expression.fields.get("schema")
    if not isinstance(schema, dict) or schema.get("type") != "struct":
        return scope.column(expression.children[0]).through(Subtype.TRANSFORMATION)
    types = tuple((f["name"], spark_type(f["type"])) for f in schema["fields"])
    return _decoded(scope, expression, types, spark_shape(schema))


def _decoded(scope: Scope, expression: Node, types: tuple[tuple[str, str], ...], shape: Shape) -> Column:
    """Decoding changes the form, not the value: a field of the result is a column of the source.

    Where the bytes come from more than one place, or from within a column, each field is a function of all.
    """
    encoded = scope.column(expression.children[0])
    sources = {edge.origin for edge in encoded.edges if edge.subtype in _ENCODED and not edge.masking}
    source = sources.pop() if len(sources) == 1 else None
    if source is None or source.path or not all(parts.is_encoded(edge, source) for edge in encoded.edges):
        return _of_shape(encoded.through(Subtype.TRANSFORMATION), shape)
    scope.findings.decodings.add(Decoding(source.leaf, source.column, types, parts.start_of(source)))
    return Column.struct(
        (name, Column.of(Origin(source.leaf, source.column, (name,), decoded=True), inner))
        for name, inner in shape or ()
    )


def _of_shape(value: Column, shape: Shape) -> Column:
    """A struct of which every field is made of the same."""
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
