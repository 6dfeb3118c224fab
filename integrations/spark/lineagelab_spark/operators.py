# SPDX-License-Identifier: Apache-2.0
"""Column lineage of logical plan operators, derived bottom-up from the leaves."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from lineagelab_spark.datatypes import spark_shape, spark_type
from lineagelab_spark.expressions import SUBQUERIES, Findings, Scope, of_shape
from lineagelab_spark.known_rows import NO_KNOWN_ROWS, KnownRows
from lineagelab_spark.model import Column, Edge, Origin, Subtype, union
from lineagelab_spark.plan_columns import Attribute, Attributes, Leaf, PlanColumns
from lineagelab_spark.plan_json import ExprId, Node
from lineagelab_spark.watermarks import Watermarks


def derive_columns(plan: Node, known: KnownRows = NO_KNOWN_ROWS) -> PlanColumns:
    """Derive the columns of a plan. The leaves of known rows precede those of the plan."""
    operators = _Operators(known)
    output = operators.visit(plan)
    rows = union([operators.rows, operators.watermarks.rows])
    return PlanColumns(output, rows, tuple(operators.leaves), operators.findings)


_SAME_OUTPUT = frozenset(
    {
        "SubqueryAlias",
        "View",
        "GlobalLimit",
        "LocalLimit",
        "Offset",
        "Tail",
        "Repartition",
        "RepartitionByExpression",
        "RebalancePartitions",
        "ResolvedHint",
        "EventTimeWatermark",
        "UpdateEventTimeWatermarkColumn",
        "Sample",
        "CollectMetrics",
    }
)
"""Nodes with the same output as their child."""

_SOURCES = frozenset(
    {
        "LogicalRelation",
        "DataSourceV2Relation",
        "DataSourceV2ScanRelation",
        "StreamingRelation",
        "StreamingRelationV2",
        "StreamingExecutionRelation",
        "StreamingDataSourceV2Relation",
        "StreamingDataSourceV2ScanRelation",
        "HiveTableRelation",
        "LocalRelation",
        "LogicalRDD",
        "Range",
        "OneRowRelation",
    }
)


_OUTPUTS = {"HiveTableRelation": ("dataCols", "partitionCols")}
"""Fields with the columns of sources that have no `output`."""

_FUNCTIONS_OF_ROWS = frozenset(
    {
        "MapInPandas",
        "MapInArrow",
        "PythonMapInArrow",
        "FlatMapGroupsInPandas",
        "FlatMapGroupsInArrow",
        "FlatMapCoGroupsInPandas",
        "FlatMapCoGroupsInArrow",
        "FlatMapGroupsInPandasWithState",
        "TransformWithStateInPySpark",
        "TransformWithStateInPandas",
        "ScriptTransformation",
    }
)
"""Nodes that pass rows to code outside Spark: each output column can depend on each column that goes in."""

_WITH_OWN_ORDER = frozenset({"WithCTE", "UnionLoop"})
"""Nodes whose rules visit their children."""

_MAX_STEPS = 20
"""Limit of derivations of one recursive step. Each adds a column of the chain along which values move."""

_EXPLODING = frozenset({"Explode", "PosExplode", "Inline"})
"""Generators with one row for each element of their argument."""

_CONSTANT_SIZE = frozenset({"CreateArray", "CreateMap"})
"""Arguments of these generators with a constant number of elements."""

_TABLE_FUNCTION = "PythonUDTF"

_MERGE_CLAUSES = ("matchedInstructions", "notMatchedInstructions", "notMatchedBySourceInstructions")

_CONSTANT_NUMBER = frozenset({"Stack", "JsonTuple"})
"""Other generators with a constant number of rows."""


class _Operators:
    """Post-order traversal; each visit returns the output attributes of a node."""

    def __init__(self, known: KnownRows) -> None:
        self.rows = Column()
        self.findings = Findings()
        self.watermarks = Watermarks()
        self.leaves = [replace(leaf, is_read=False) for leaf in known.leaves]
        self._own = len(self.leaves)
        self._known = known
        self._ctes: dict[int, Attributes] = {}
        self._loops: dict[int, tuple[Column, ...]] = {}
        self._outer: dict[ExprId, Column] = {}
        self._subqueries: dict[ExprId, Column] = {}
        self._subquery_outputs: dict[ExprId, Attributes] = {}
        self._grouped: dict[int, frozenset[Edge]] = {}
        self._rules: dict[str, Callable[[Node, Attributes], Attributes]] = {
            "Project": self._project,
            "Aggregate": self._aggregate,
            "Window": self._window,
            "Generate": self._generate,
            "Expand": self._expand,
            "Filter": self._filter,
            "Sort": self._sort,
            "Distinct": self._distinct,
            "Deduplicate": self._deduplicate,
            "DeduplicateWithinWatermark": self._deduplicate,
            "CTERelationDef": self._cte_definition,
            "LateralJoin": self._lateral_join,
            "MergeRows": self._merge_rows,
        }

    def visit(self, node: Node) -> Attributes:
        """Return the output attributes of a node, in order. Chains of unary nodes are not a recursion."""
        chain = [node]
        while len(chain[-1].children) == 1 and chain[-1].kind not in _WITH_OWN_ORDER:
            chain.append(chain[-1].children[0])
        last = chain.pop()
        children = () if last.kind in _WITH_OWN_ORDER else last.children
        output = self._visit(last, [self.visit(child) for child in children])
        for parent in reversed(chain):
            output = self._visit(parent, [output])
        return output

    def _visit(self, node: Node, outputs: list[Attributes]) -> Attributes:
        if node.kind == "WithCTE":
            return self._with_cte(node)
        if node.kind == "UnionLoop":
            return self._union_loop(node)
        self._visit_subqueries(node, outputs)
        self.watermarks.visit(node, outputs)
        if not outputs:
            return self._leaf(node)
        if node.kind == "Union":
            return self._union(outputs)
        if node.kind in {"Join", "AsOfJoin"}:
            return self._join(node, *outputs)
        if node.kind in {"Intersect", "Except"}:
            return self._set_operation(*outputs)
        if node.kind in _FUNCTIONS_OF_ROWS:
            return self._function_of_rows(node, outputs)
        if node.kind in _SAME_OUTPUT:
            return outputs[0]
        rule = self._rules.get(node.kind)
        return self._unknown(node) if rule is None else rule(node, outputs[0])

    def _leaf(self, node: Node) -> Attributes:
        ordinal = len(self.leaves)
        attributes = tuple(e for name in _OUTPUTS.get(node.kind, ("output",)) for e in node.expressions(name))
        self.leaves.append(Leaf(node.kind, tuple((a.name, spark_type(a.fields.get("dataType"))) for a in attributes)))
        if node.kind == "CTERelationRef":
            return self._cte_reference(node, attributes)
        if node.kind == "UnionLoopRef":
            known = self._loops[int(node.fields["loopId"])]
            return _at_positions(attributes, known)
        rows = self._known.columns.get(ordinal - self._own)
        if rows is not None:
            return self._of_known_rows(node, attributes, rows)
        if node.kind not in _SOURCES:
            return self._unknown(node)
        return tuple(
            Attribute(a.expr_id, a.name, Column.of(Origin(ordinal, a.name), spark_shape(a.fields.get("dataType"))))
            for a in attributes
        )

    def _of_known_rows(self, node: Node, attributes: tuple[Node, ...], rows: PlanColumns) -> Attributes:
        """Match columns by position: in a self-join of the rows, attributes have other ids."""
        if len(attributes) != len(rows.output):
            return self._unknown(node)
        self.leaves[-1] = replace(self.leaves[-1], is_read=False)
        for place, leaf in enumerate(rows.leaves):
            if leaf.is_read:
                self.leaves[place] = leaf
        self._add_rows(rows.rows)
        self.findings.decodings |= rows.findings.decodings
        return _at_positions(attributes, (made.column for made in rows.output))

    def _visit_subqueries(self, node: Node, outputs: list[Attributes]) -> None:
        """Derive the subqueries in a node's expressions; correlated ones refer to the columns of its children."""
        for expression in subqueries(node):
            (plan,) = expression.expressions("plan")
            rows, outer = self.rows, self._outer
            self.rows = Column()
            self._outer = {**outer, **{a.expr_id: a.column for output in outputs for a in output}}
            made = self.visit(plan)
            own, self.rows, self._outer = self.rows, rows, outer
            self._subquery_outputs[expression.expr_id] = made
            value = Column() if expression.kind == "Exists" else union(a.column for a in made)
            scope = self._scope(*outputs)
            inner = union(scope.column(child) for child in expression.children).as_indirect(Subtype.FILTER)
            if expression.kind == "LateralSubquery":
                self._add_rows(own)
            else:
                own = union([own, inner])
            self._subqueries[expression.expr_id] = value.with_indirect(own)

    def _unknown(self, node: Node) -> Attributes:
        """Return the output of a node without a rule: its own columns and its effect on rows are unknown."""
        self._add_rows(Column().because(node.kind))
        return tuple(Attribute(a.expr_id, a.name, Column().because(node.kind)) for a in node.expressions("output"))

    def _scope(self, *outputs: Attributes) -> Scope:
        known = {attribute.expr_id: attribute.column for output in outputs for attribute in output}
        return Scope({**self._outer, **known} if self._outer else known, self.findings, self._subqueries)

    def _add_rows(self, rows: Column) -> None:
        self.rows = union([self.rows, rows])

    def _aliased(self, scope: Scope, expressions: Iterable[Node]) -> Attributes:
        return tuple(Attribute(e.expr_id, e.name, scope.column(e)) for e in expressions)

    def _add_row_edges(self, scope: Scope, expressions: Iterable[Node], subtype: Subtype) -> None:
        self._add_rows(union(scope.column(expression) for expression in expressions).as_indirect(subtype))

    def _project(self, node: Node, child: Attributes) -> Attributes:
        return self._aliased(self._scope(child), node.expressions("projectList"))

    def _aggregate(self, node: Node, child: Attributes) -> Attributes:
        scope = self._scope(child)
        if _is_pivot(node):
            # The first of the two aggregates of a pivot groups by the pivot column, which does not select rows.
            added = self._grouped.get(id(node.children[0]), frozenset())
            self.rows = replace(self.rows, edges=self.rows.edges - added)
        before = self.rows.edges
        self._add_row_edges(scope, node.expressions("groupingExpressions"), Subtype.GROUP_BY)
        self._grouped[id(node)] = self.rows.edges - before
        return self._aliased(scope, node.expressions("aggregateExpressions"))

    def _window(self, node: Node, child: Attributes) -> Attributes:
        return child + self._aliased(self._scope(child), node.expressions("windowExpressions"))

    def _generate(self, node: Node, child: Attributes) -> Attributes:
        (generator,) = node.expressions("generator")
        attributes = node.expressions("generatorOutput")
        scope = self._scope(child)
        made = self._generated(scope, generator, attributes)
        if _has_variable_size(generator):
            self._add_row_edges(scope, generator.children, Subtype.JOIN)
        return child + _at_positions(attributes, made)

    def _generated(self, scope: Scope, generator: Node, attributes: tuple[Node, ...]) -> list[Column]:
        """Return the output columns of a generator.

        Those of a user's table function depend on everything that goes in.

        Several output columns derive from different arguments or fields. The mapping is known for structs with tracked
        fields, and for an array or map that is an unmodified source column.
        """
        width = len(attributes)
        if generator.kind == "PosExplode" and generator.children[0].kind == "CreateArray" and width == 2:
            return [Column(), scope.column(generator.children[0]).transformed_values(Subtype.TRANSFORMATION)]
        if generator.kind in {"Explode", "PosExplode"} and generator.children[0].kind == "CreateMap":
            return _entries(scope, generator, width)
        source = union(scope.column(argument) for argument in generator.children).transformed_values(
            Subtype.TRANSFORMATION
        )
        if generator.kind == "Inline" and source.fields is not None and len(source.fields) == width:
            return [column for _, column in source.fields]
        if generator.kind == "Explode" and width == 1:
            return [source]
        plain = source.transformed(Subtype.TRANSFORMATION)
        if generator.kind == _TABLE_FUNCTION:
            return [of_shape(plain, spark_shape(each.fields.get("dataType"))) for each in attributes]
        whole = generator.kind in {"Explode", "PosExplode"} and scope.column(generator.children[0]).is_source
        if generator.kind == "PosExplode" and width == 2:
            return [plain if whole else plain.because(generator.kind), source]
        if generator.kind == "Inline" or not (width == 1 or whole):
            plain = plain.because(generator.kind)
        return [plain] * width

    def _expand(self, node: Node, child: Attributes) -> Attributes:
        """Merge the expressions at each position: every row becomes one row per projection.

        For some nodes, such as those of `unpivot`, Spark serialises no projections.
        """
        scope = self._scope(child)
        output = node.expressions("output")
        projections = node.expressions("projections")
        width = len(output)
        if not projections or len(projections) % width:
            kept = {attribute.expr_id: attribute.column for attribute in child}
            return tuple(Attribute(a.expr_id, a.name, kept.get(a.expr_id, Column().because(node.kind))) for a in output)
        return tuple(
            Attribute(a.expr_id, a.name, union(scope.column(e) for e in projections[place::width]))
            for place, a in enumerate(output)
        )

    def _filter(self, node: Node, child: Attributes) -> Attributes:
        self._add_row_edges(self._scope(child), node.expressions("condition"), Subtype.FILTER)
        return child

    def _sort(self, node: Node, child: Attributes) -> Attributes:
        self._add_row_edges(self._scope(child), node.expressions("order"), Subtype.SORT)
        return child

    def _distinct(self, _node: Node, child: Attributes) -> Attributes:
        self._add_rows(union(attribute.column for attribute in child).as_indirect(Subtype.GROUP_BY))
        return child

    def _deduplicate(self, node: Node, child: Attributes) -> Attributes:
        """Report deduplication as GROUP_BY: OpenLineage has no subtype for it, and both yield one row per key."""
        self._add_row_edges(self._scope(child), node.expressions("keys"), Subtype.GROUP_BY)
        return child

    def _join(self, node: Node, left: Attributes, right: Attributes) -> Attributes:
        conditions = [node.expressions(name) for name in ("condition", "asOfCondition", "orderExpression")]
        self._add_row_edges(self._scope(left, right), [e for each in conditions for e in each], Subtype.JOIN)
        kind = str(node.fields.get("joinType"))
        return left if "LeftSemi" in kind or "LeftAnti" in kind else left + right

    def _lateral_join(self, node: Node, left: Attributes) -> Attributes:
        """Join each row with the rows of a subquery, whose rows' edges are added where it is visited."""
        (subquery,) = node.expressions("right")
        right = self._subquery_outputs[subquery.expr_id]
        self._add_row_edges(self._scope(left, right), node.expressions("condition"), Subtype.JOIN)
        return left + right

    def _merge_rows(self, node: Node, child: Attributes) -> Attributes:
        """Merge the values that the clauses of MERGE give each column; their conditions decide about rows."""
        scope = self._scope(child)
        attributes = node.expressions("output")
        values: list[list[Node]] = [[] for _ in attributes]
        for clause in (clause for name in _MERGE_CLAUSES for clause in node.expressions(name)):
            condition = clause.fields.get("condition")
            if not isinstance(condition, int):
                return self._unknown(node)
            self._add_row_edges(scope, [clause.children[condition]], Subtype.FILTER)
            for places in (clause.fields[name] for name in ("output", "otherOutput") if name in clause.fields):
                for column, place in zip(values, places, strict=True):
                    column.append(clause.children[place])
        return _at_positions(attributes, (union(map(scope.column, found)) for found in values))

    def _set_operation(self, left: Attributes, right: Attributes) -> Attributes:
        """Compare whole rows: each column of both sides decides, the values are those of the left one."""
        self._add_rows(union(a.column for a in left + right).as_indirect(Subtype.JOIN))
        return left

    def _function_of_rows(self, node: Node, outputs: list[Attributes]) -> Attributes:
        """Return columns that depend on all columns of the rows that a function gets; it can drop rows too."""
        every = union(a.column for output in outputs for a in output)
        self._add_rows(every.as_indirect(Subtype.FILTER))
        made = every.transformed(Subtype.TRANSFORMATION)
        attributes = next(filter(None, map(node.expressions, ("output", "outputAttrs", "outAttributes"))), ())
        return tuple(Attribute(a.expr_id, a.name, made) for a in attributes)

    def _union(self, outputs: list[Attributes]) -> Attributes:
        """Match columns by position; the attributes are those of the first child."""
        return tuple(
            Attribute(same[0].expr_id, same[0].name, union(a.column for a in same))
            for same in zip(*outputs, strict=True)
        )

    def _with_cte(self, node: Node) -> Attributes:
        """Derive common table expressions before the plan; those that it does not reference are not read."""
        *definitions, plan = node.children
        reached = _references(plan)
        for definition in reversed(definitions):
            if int(definition.fields["id"]) in reached:
                reached |= _references(definition)
        for definition in definitions:
            if int(definition.fields["id"]) in reached:
                self.visit(definition)
            else:
                self.leaves.extend(Leaf(kind, is_read=False) for kind in leaf_kinds(definition))
        return self.visit(plan)

    def _union_loop(self, node: Node) -> Attributes:
        """Derive a recursive common table expression: its rows are those of the anchor, and of the steps that read it.

        The edges of a step grow with those of its own rows, until they no longer change.
        """
        anchor, step = node.children
        start = self.visit(anchor)
        loop, leaves = int(node.fields["id"]), len(self.leaves)
        known = tuple(attribute.column for attribute in start)
        for _ in range(_MAX_STEPS):
            self._loops[loop] = known
            del self.leaves[leaves:]
            made = self.visit(step)
            before, known = known, tuple(union([k, a.column]) for k, a in zip(known, made, strict=True))
            if known == before:
                break
        else:
            known = tuple(column.because(node.kind) for column in known)
        ids = (ExprId(each["jvmId"], each["id"]) for each in node.fields["outputAttrIds"])
        return tuple(Attribute(i, a.name, c) for i, a, c in zip(ids, start, known, strict=True))

    def _cte_definition(self, node: Node, child: Attributes) -> Attributes:
        self._ctes[int(node.fields["id"])] = child
        return child

    def _cte_reference(self, node: Node, attributes: tuple[Node, ...]) -> Attributes:
        """Match columns by position: every reference to a common table expression has new attribute ids."""
        definition = self._ctes.get(int(node.fields["cteId"]))
        if definition is None:
            return self._unknown(node)
        for made, attribute in zip(definition, attributes, strict=True):
            self.watermarks.rename(made.expr_id, attribute.expr_id)
        return _at_positions(attributes, (made.column for made in definition))


def _at_positions(attributes: Iterable[Node], columns: Iterable[Column]) -> Attributes:
    """Return attributes with the columns at their positions."""
    return tuple(Attribute(a.expr_id, a.name, column) for a, column in zip(attributes, columns, strict=True))


def _references(node: Node) -> set[int]:
    """Return the ids of common table expressions that a plan references, also from subqueries."""
    found: set[int] = set()
    nodes = [node]
    while nodes:
        current = nodes.pop()
        found |= _cte_ids(current.fields)
        nodes.extend(current.children)
    return found


def _cte_ids(value: object) -> set[int]:
    if isinstance(value, list):
        return set().union(*map(_cte_ids, value))
    if not isinstance(value, dict):
        return set()
    own = {int(value["cteId"])} if "cteId" in value else set()
    return own.union(*map(_cte_ids, value.values()))


def leaf_kinds(node: Node) -> list[str]:
    """Return the kinds of the leaves of a plan, in the order of `PlanColumns.leaves`."""
    own = [kind for child in node.children for kind in leaf_kinds(child)] if node.children else [node.kind]
    plans = [plan for expression in subqueries(node) for plan in expression.expressions("plan")]
    return own + [kind for plan in plans for kind in leaf_kinds(plan)]


def subqueries(node: Node) -> Iterator[Node]:
    """Return the subquery expressions of a plan node, in pre-order; those inside other subqueries are not included."""
    for name in node.fields:
        for expression in node.expressions(name):
            yield from _subqueries_of(expression)


def _subqueries_of(expression: Node) -> Iterator[Node]:
    if expression.kind in SUBQUERIES:
        yield expression
    for child in expression.children:
        yield from _subqueries_of(child)


def _is_pivot(node: Node) -> bool:
    return any(map(_has_pivot, node.expressions("aggregateExpressions")))


def _has_pivot(expression: Node) -> bool:
    return expression.kind == "PivotFirst" or any(map(_has_pivot, expression.children))


def _has_variable_size(generator: Node) -> bool:
    """Return True if the number of generated rows depends on values."""
    if generator.kind in _EXPLODING:
        return generator.children[0].kind not in _CONSTANT_SIZE
    return generator.kind not in _CONSTANT_NUMBER


def _entries(scope: Scope, generator: Node, width: int) -> list[Column]:
    """Return position, if wanted, key and value of the entries of a `map(...)`."""
    entries = generator.children[0].children
    key, value = (union(scope.column(e) for e in part) for part in (entries[::2], entries[1::2]))
    made = [c.transformed_values(Subtype.TRANSFORMATION) for c in (key, value)]
    return [Column()] * (width - 2) + made
