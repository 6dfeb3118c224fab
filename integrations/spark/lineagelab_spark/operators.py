# SPDX-License-Identifier: Apache-2.0
"""Column lineage of logical plan operators, derived bottom-up from the leaves."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from lineagelab_spark.datatypes import spark_shape, spark_type
from lineagelab_spark.expressions import Findings, Scope
from lineagelab_spark.model import Column, Edge, Origin, Subtype, union
from lineagelab_spark.plan_columns import Attribute, Attributes, Batch, Leaf, PlanColumns
from lineagelab_spark.plan_json import Node


def derive_columns(plan: Node, batch: Batch | None = None) -> PlanColumns:
    """Derive the columns of a plan. With a batch, the leaves of its stream precede those of the plan."""
    operators = _Operators(batch)
    output = operators.visit(plan)
    return PlanColumns(output, frozenset(operators.rows), tuple(operators.leaves), operators.findings)


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


class _Operators:
    """Post-order traversal; each visit returns the output attributes of a node."""

    def __init__(self, batch: Batch | None) -> None:
        self.rows: set[Edge] = set()
        self.findings = Findings()
        self.leaves = [replace(leaf, is_read=False) for leaf in batch.stream.leaves] if batch else []
        self._own = len(self.leaves)
        self._batch = batch
        self._ctes: dict[int, Attributes] = {}
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
        }

    def visit(self, node: Node) -> Attributes:
        """Return the output attributes of a node, in order."""
        if node.kind == "WithCTE":
            return self._with_cte(node)
        outputs = [self.visit(child) for child in node.children]
        if not outputs:
            return self._leaf(node)
        if node.kind == "Union":
            return self._union(outputs)
        if node.kind == "Join":
            return self._join(node, *outputs)
        if node.kind in _SAME_OUTPUT:
            return outputs[0]
        rule = self._rules.get(node.kind)
        return self._unknown(node) if rule is None else rule(node, outputs[0])

    def _leaf(self, node: Node) -> Attributes:
        ordinal = len(self.leaves)
        attributes = node.expressions("output")
        self.leaves.append(Leaf(node.kind, tuple((a.name, spark_type(a.fields.get("dataType"))) for a in attributes)))
        if node.kind == "CTERelationRef":
            return self._cte_reference(node, attributes)
        if self._batch is not None and ordinal - self._own in self._batch.leaves:
            return self._of_batch(node, attributes, self._batch.stream)
        if node.kind not in _SOURCES:
            return self._unknown(node)
        return tuple(
            Attribute(a.expr_id, a.name, Column.of(Origin(ordinal, a.name), spark_shape(a.fields.get("dataType"))))
            for a in attributes
        )

    def _of_batch(self, node: Node, attributes: tuple[Node, ...], stream: PlanColumns) -> Attributes:
        """Match columns by position: in a self-join of the batch, attributes have other ids."""
        if len(attributes) != len(stream.output):
            return self._unknown(node)
        self.leaves[-1] = replace(self.leaves[-1], is_read=False)
        self.leaves[: self._own] = stream.leaves
        self.rows |= stream.rows
        self.findings.unknown |= stream.findings.unknown
        self.findings.decodings |= stream.findings.decodings
        return tuple(Attribute(a.expr_id, a.name, s.column) for a, s in zip(attributes, stream.output, strict=True))

    def _unknown(self, node: Node) -> Attributes:
        self.findings.unknown.add(node.kind)
        return tuple(Attribute(a.expr_id, a.name, Column()) for a in node.expressions("output"))

    def _scope(self, *outputs: Attributes) -> Scope:
        known = {attribute.expr_id: attribute.column for output in outputs for attribute in output}
        return Scope(known, self.findings)

    def _aliased(self, scope: Scope, expressions: Iterable[Node]) -> Attributes:
        return tuple(Attribute(e.expr_id, e.name, scope.column(e)) for e in expressions)

    def _add_row_edges(self, scope: Scope, expressions: Iterable[Node], subtype: Subtype) -> None:
        for expression in expressions:
            self.rows |= scope.column(expression).as_indirect_edges(subtype)

    def _project(self, node: Node, child: Attributes) -> Attributes:
        return self._aliased(self._scope(child), node.expressions("projectList"))

    def _aggregate(self, node: Node, child: Attributes) -> Attributes:
        scope = self._scope(child)
        self._add_row_edges(scope, node.expressions("groupingExpressions"), Subtype.GROUP_BY)
        return self._aliased(scope, node.expressions("aggregateExpressions"))

    def _window(self, node: Node, child: Attributes) -> Attributes:
        return child + self._aliased(self._scope(child), node.expressions("windowExpressions"))

    def _generate(self, node: Node, child: Attributes) -> Attributes:
        (generator,) = node.expressions("generator")
        attributes = node.expressions("generatorOutput")
        made = self._generated(self._scope(child), generator, len(attributes))
        return child + tuple(Attribute(a.expr_id, a.name, c) for a, c in zip(attributes, made, strict=True))

    def _generated(self, scope: Scope, generator: Node, width: int) -> list[Column]:
        """Return the output columns of a generator.

        Several output columns derive from different arguments or fields. The mapping is known for structs with tracked
        fields, and for an array or map that is an unmodified source column.
        """
        source = union(scope.column(argument) for argument in generator.children).transformed_values(
            Subtype.TRANSFORMATION
        )
        if generator.kind == "Inline" and source.fields is not None and len(source.fields) == width:
            return [column for _, column in source.fields]
        if generator.kind == "Explode" and width == 1:
            return [source]
        plain = source.transformed(Subtype.TRANSFORMATION)
        whole = generator.kind in {"Explode", "PosExplode"} and scope.column(generator.children[0]).is_source
        if generator.kind == "Inline" or not (width == 1 or whole):
            self.findings.unknown.add(generator.kind)
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
            return self._unknown(node)
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
        for attribute in child:
            self.rows |= attribute.column.as_indirect_edges(Subtype.GROUP_BY)
        return child

    def _deduplicate(self, node: Node, child: Attributes) -> Attributes:
        """Report deduplication as GROUP_BY: OpenLineage has no subtype for it, and both yield one row per key."""
        self._add_row_edges(self._scope(child), node.expressions("keys"), Subtype.GROUP_BY)
        return child

    def _join(self, node: Node, left: Attributes, right: Attributes) -> Attributes:
        self._add_row_edges(self._scope(left, right), node.expressions("condition"), Subtype.JOIN)
        kind = str(node.fields.get("joinType"))
        return left if "LeftSemi" in kind or "LeftAnti" in kind else left + right

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
                self.leaves.extend(Leaf(kind, is_read=False) for kind in _leaf_kinds(definition))
        return self.visit(plan)

    def _cte_definition(self, node: Node, child: Attributes) -> Attributes:
        self._ctes[int(node.fields["id"])] = child
        return child

    def _cte_reference(self, node: Node, attributes: Iterable[Node]) -> Attributes:
        """Match columns by position: every reference to a common table expression has new attribute ids."""
        definition = self._ctes.get(int(node.fields["cteId"]))
        if definition is None:
            return self._unknown(node)
        return tuple(Attribute(a.expr_id, a.name, d.column) for a, d in zip(attributes, definition, strict=True))


def _references(node: Node) -> set[int]:
    """Return the ids of common table expressions that a plan references, also from subqueries."""
    return _cte_ids(node.fields).union(*map(_references, node.children))


def _cte_ids(value: object) -> set[int]:
    if isinstance(value, list):
        return set().union(*map(_cte_ids, value))
    if not isinstance(value, dict):
        return set()
    own = {int(value["cteId"])} if "cteId" in value else set()
    return own.union(*map(_cte_ids, value.values()))


def _leaf_kinds(node: Node) -> list[str]:
    if not node.children:
        return [node.kind]
    return [kind for child in node.children for kind in _leaf_kinds(child)]
