# SPDX-License-Identifier: Apache-2.0
"""Column lineage of expressions: one rule for each kind of expression that needs one.

An expression without a rule is a function of its arguments: TRANSFORMATION of each of them.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from lineagelab_spark import byte_ranges
from lineagelab_spark.datatypes import Shape, avro_shape, avro_type, spark_shape, spark_type
from lineagelab_spark.model import Column, Edge, Origin, Subtype, union
from lineagelab_spark.plan_json import ExprId, Node

_MASKING = {"Md5", "Sha1", "Sha2", "Crc32", "XxHash64", "Murmur3Hash", "HiveHash", "Mask"}
_PASS_THROUGH = {"Alias", "KnownNotNull", "KnownNullable", "KnownNonNullable", "TempResolvedColumn"}
_ENCODED = {Subtype.IDENTITY, Subtype.TRANSFORMATION}
"""Subtypes by which encoded bytes may derive from their source: a header is cut off, a text is cast."""

SUBQUERIES = frozenset(
    {"ScalarSubquery", "Exists", "ListQuery", "LateralSubquery", "FunctionTableSubqueryArgumentExpression"}
)
"""Expressions that contain a plan."""

_RANKS = {"Rank", "DenseRank", "PercentRank"}
"""Window functions whose arguments repeat the ORDER BY of the window: their value is a position, not a value of it."""


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
    """Decodings found in a plan."""

    decodings: set[Decoding] = field(default_factory=set)


@dataclass(frozen=True)
class Scope:
    """Attributes that an expression can refer to.

    Attributes:
        subqueries: lineage of the value of each subquery, by its id.
        in_time_window: inside `window()`, whose generated CASE only rounds and is not a condition of the user.
    """

    attributes: Mapping[ExprId, Column]
    findings: Findings
    subqueries: Mapping[ExprId, Column] = field(default_factory=dict)
    in_time_window: bool = False

    def column(self, expression: Node) -> Column:
        """Return the lineage of an expression's value."""
        kind = expression.kind
        rule = _RULES.get(kind)
        if rule is not None:
            return rule(self, expression)
        if kind in _PASS_THROUGH:
            return self.column(expression.children[0])
        if kind in SUBQUERIES:
            return self._subquery(expression)
        return self.arguments(expression).transformed(Subtype.TRANSFORMATION, kind in _MASKING)

    def arguments(self, expression: Node) -> Column:
        """Return the merged lineage of an expression's arguments."""
        return replace(union(self.column(child) for child in expression.children), fields=None)

    def with_variables(self, variables: Mapping[ExprId, Column]) -> "Scope":
        """Return this scope with additional attributes or variables of a lambda function."""
        return replace(self, attributes={**self.attributes, **variables})

    def _subquery(self, expression: Node) -> Column:
        found = self.subqueries.get(expression.expr_id)
        return Column().because(expression.kind) if found is None else found


def _attribute(scope: Scope, expression: Node) -> Column:
    column = scope.attributes.get(expression.expr_id)
    return Column().because(f"reference to {expression.name}") if column is None else column


def _outer_attribute(scope: Scope, expression: Node) -> Column:
    """Return a column of the outer query, which a correlated subquery refers to."""
    (attribute,) = expression.expressions("e")
    return scope.column(attribute)


def _lambda_variable(scope: Scope, expression: Node) -> Column:
    """Return the element that a variable is bound to; no edges if it is one of another argument, which has them."""
    return scope.attributes.get(expression.expr_id, Column())


def _of_each(scope: Scope, expression: Node) -> Column:
    """Return an array or a condition computed from each element.

    What does not derive from the elements still depends on their number.
    """
    array, function = expression.children
    elements = scope.column(array)
    body, variable, *_ = function.children
    made = scope.with_variables({variable.expr_id: elements}).column(body)
    return made.transformed_values(Subtype.TRANSFORMATION).with_size_of(elements, Subtype.FILTER)


def _filtered_elements(scope: Scope, expression: Node) -> Column:
    """Return the elements that `filter` selects: what its condition refers to decides, and does not flow."""
    array, function = expression.children
    elements = scope.column(array)
    body, variable, *_ = function.children
    condition = scope.with_variables({variable.expr_id: elements}).column(body)
    return elements.transformed_values(Subtype.TRANSFORMATION).with_indirect(condition.as_indirect(Subtype.FILTER))


def _sorted_elements(scope: Scope, expression: Node) -> Column:
    """Return the elements in another order, which all their fields and the captures of a comparator decide."""
    elements = scope.column(expression.children[0])
    ordering = scope.arguments(expression).as_indirect(Subtype.SORT)
    made = elements.transformed_values(Subtype.TRANSFORMATION)
    return (
        made if elements.fields is None and len(ordering.edges) == len(elements.edges) else made.with_indirect(ordering)
    )


def _user_function(scope: Scope, expression: Node) -> Column:
    """Return the result of code outside Spark: it depends on all arguments, and so does each of its fields."""
    value = scope.arguments(expression).transformed(Subtype.TRANSFORMATION)
    return of_shape(value, spark_shape(expression.fields.get("dataType")))


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
    if name is not None and not _has_unbound_variable(scope, parent):
        found = whole.field(expression.fields["ordinal"], name)
    if found is not None:
        return found
    reason = f"field {name or expression.fields['ordinal']} of {parent.fields.get('name', parent.kind)}"
    return whole.transformed(Subtype.TRANSFORMATION).because(reason)


def _has_unbound_variable(scope: Scope, expression: Node) -> bool:
    if expression.kind == "NamedLambdaVariable":
        return expression.expr_id not in scope.attributes
    return expression.kind != "LambdaFunction" and any(
        _has_unbound_variable(scope, child) for child in expression.children
    )


def _cast(scope: Scope, expression: Node) -> Column:
    """Return a cast value; the fields of a struct are matched by position and get the names of the target."""
    source = expression.children[0]
    value = scope.column(source)
    if source.kind == "AttributeReference" and source.fields.get("dataType") == expression.fields.get("dataType"):
        return value  # Spark 3.5 and 4.0 cast every column of an INSERT to its own type
    shape = spark_shape(expression.fields.get("dataType"))
    struct = None if shape is None else value.renamed(name for name, _ in shape)
    return (struct or replace(value, fields=None)).transformed_values(Subtype.TRANSFORMATION)


def _element(scope: Scope, expression: Node) -> Column:
    """Return an element of an array at a constant position; it keeps the fields of a struct."""
    array, position = expression.children
    if position.kind == "Literal":
        return scope.column(array).transformed_values(Subtype.TRANSFORMATION)
    return scope.arguments(expression).transformed(Subtype.TRANSFORMATION)


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
    unknown = set()
    for change in changes:
        places = [i for i, (name, _) in enumerate(updated) if name.casefold() == change.name.casefold()]
        if len(places) > 1 or any(updated[place][0] != change.name for place in places):
            unknown.add(f"{change.kind} {change.name}")
        made = [(change.name, scope.column(value)) for value in change.children]
        place = places[0] if places else len(updated)
        updated[place : place + 1] = made
    return Column.struct(updated).with_indirect(Column(unknown=frozenset(unknown)))


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
    return result.with_indirect(decisive.as_indirect(Subtype.CONDITIONAL))


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
    return value.with_indirect(decisive.as_indirect(Subtype.FILTER))


def _value_by_order(scope: Scope, expression: Node) -> Column:
    """Return the value of `max_by` and `min_by`: the ordering selects it."""
    value, ordering = expression.children
    return scope.column(value).with_indirect(scope.column(ordering).as_indirect(Subtype.SORT))


def _ordered_list(scope: Scope, expression: Node) -> Column:
    """Return `listagg`: the expressions of WITHIN GROUP (ORDER BY ...) only decide about the order."""
    ordering = union(scope.column(child) for child in expression.children if child.kind == "SortOrder")
    values = union(scope.column(child) for child in expression.children if child.kind != "SortOrder")
    return values.transformed(Subtype.TRANSFORMATION).with_indirect(
        replace(ordering, edges=frozenset(e for e in ordering.edges if e not in values.edges)).as_indirect(Subtype.SORT)
    )


def _pivoted(scope: Scope, expression: Node) -> Column:
    """Return the values of all pivoted columns: the pivot column selects among them."""
    pivot, value = expression.children
    return scope.column(value).with_indirect(scope.column(pivot).as_indirect(Subtype.CONDITIONAL))


def _window(scope: Scope, expression: Node) -> Column:
    """Return the lineage of a window function: its keys affect this column only, not the rows."""
    function, specification = expression.children
    value = Column() if function.kind in _RANKS else scope.column(function)
    keys = scope.column(specification).as_indirect(Subtype.WINDOW)
    return value.transformed_values(Subtype.TRANSFORMATION).with_indirect(keys)


def _time_conversion(scope: Scope, expression: Node) -> Column:
    """Return a conversion of `window()`: to a timestamp, of Spark's rounding; from one, of the user's expression."""
    inner = replace(scope, in_time_window=expression.fields.get("fromType") == "long")
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


_JSON_PATH = re.compile(r"\$((?:\.\w+)+)")
"""JSON path of names only."""


def _json_value(scope: Scope, expression: Node) -> Column:
    """Return the value at a constant path of an encoded column (`get_json_object`): a field of its message."""
    text, path = expression.children
    names = _JSON_PATH.fullmatch(str(path.fields.get("value", "")))
    encoded = scope.column(text)
    source = _encoded_source(encoded)
    if names is None or source is None or source.path or encoded.unknown:
        return scope.arguments(expression).transformed(Subtype.TRANSFORMATION)
    steps = tuple(names[1].split(".")[1:])
    kind = "struct" if len(steps) > 1 else "string"
    scope.findings.decodings.add(
        Decoding(source.leaf, source.column, ((steps[0], kind),), byte_ranges.first_byte(source))
    )
    return Column(frozenset({Edge(Origin(source.leaf, source.column, steps, decoded=True), Subtype.TRANSFORMATION)}))


def _encoded_source(encoded: Column) -> Origin | None:
    """Return the column that holds encoded bytes or text; None if they come from several columns."""
    sources = {edge.origin for edge in encoded.edges if edge.subtype in _ENCODED and not edge.masking}
    source = sources.pop() if len(sources) == 1 else None
    if source is None or not all(byte_ranges.is_encoded(edge, source) for edge in encoded.edges):
        return None
    return source


def _decoded(scope: Scope, expression: Node, types: tuple[tuple[str, str], ...], shape: Shape) -> Column:
    """Return a struct of the source's decoded columns: decoding changes the form, not the value.

    If the bytes come from several columns, or from a field of one, each field is a function of all of them.
    """
    encoded = scope.column(expression.children[0])
    source = _encoded_source(encoded)
    is_json_value = expression.children[0].kind == "GetJsonObject"
    if source is None or encoded.unknown or (source.path and not (is_json_value and source.decoded)):
        return of_shape(encoded.transformed(Subtype.TRANSFORMATION), shape)
    if not source.path:
        scope.findings.decodings.add(Decoding(source.leaf, source.column, types, byte_ranges.first_byte(source)))
    return Column.struct(
        (name, Column.of(Origin(source.leaf, source.column, (*source.path, name), decoded=True), inner))
        for name, inner in shape or ()
    )


def of_shape(value: Column, shape: Shape) -> Column:
    """Return a struct in which every field has the same edges."""
    if shape is None:
        return value
    return replace(value, fields=tuple((name, of_shape(value, inner)) for name, inner in shape))


_RULES: dict[str, Callable[[Scope, Node], Column]] = {
    "AttributeReference": _attribute,
    "OuterReference": _outer_attribute,
    "Cast": _cast,
    "GetArrayItem": _element,
    "ArrayTransform": _of_each,
    "ArrayExists": _of_each,
    "ArrayForAll": _of_each,
    "ArrayFilter": _filtered_elements,
    "SortArray": _sorted_elements,
    "ArraySort": _sorted_elements,
    "MaxBy": _value_by_order,
    "MinBy": _value_by_order,
    "ListAgg": _ordered_list,
    "PivotFirst": _pivoted,
    "NamedLambdaVariable": _lambda_variable,
    "PythonUDF": _user_function,
    "PythonUDAF": _user_function,
    "ScalaUDF": _user_function,
    "GetStructField": _struct_field,
    "GetArrayStructFields": _field_of_each,
    "CreateNamedStruct": _named_struct,
    "UpdateFields": _updated_struct,
    "Coalesce": _coalesce,
    "IsNull": _presence,
    "IsNotNull": _presence,
    "Substring": _substring,
    **dict.fromkeys(("CreateArray", "First", "Last", "Lag", "Lead", "CollectList"), _choice),
    "If": _if,
    "CaseWhen": _case_when,
    "AggregateExpression": _aggregate,
    "WindowExpression": _window,
    "PreciseTimestampConversion": _time_conversion,
    "FromAvro": _from_avro,
    "AvroDataToCatalyst": _from_avro,
    "JsonToStructs": _from_text,
    "GetJsonObject": _json_value,
    "CsvToStructs": _from_text,
}
