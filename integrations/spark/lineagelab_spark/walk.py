# SPDX-License-Identifier: Apache-2.0
"""Walks a plan from its sources up and says what the columns of each node are made of."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from lineagelab_spark.datatypes import spark_shape, spark_type
from lineagelab_spark.expressions import Findings, Scope
from lineagelab_spark.model import Column, Edge, Origin, Subtype, union
from lineagelab_spark.tree import Node
from lineagelab_spark.walked import Attribute, Batch, Leaf, Output, Walked


def walk(plan: Node, batch: Batch | None = None) -> Walked:
    """Walks a plan. With a batch, the leaves of its stream come first, and are read where the batch is."""
    walker = _Walk(batch)
    output = walker.visit(plan)
    return Walked(output, frozenset(walker.rows), tuple(walker.leaves), walker.findings)


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
"""Nodes whose output is that of their child."""

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


class _Walk:
    """Visits children before parents; each visit gives the output attributes of a node."""

    def __init__(self, batch: Batch | None) -> None:
        self.rows: set[Edge] = set()
        self.findings = Findings()
        self.leaves = [replace(leaf, is_read=False) for leaf in batch.stream.leaves] if batch else []
        self._own = len(self.leaves)
        self._batch = batch
        self._common: dict[int, Output] = {}
        self._rules: dict[str, Callable[[Node, Output], Output]] = {
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
            "CTERelationDef": self._common_definition,
        }

    def visit(self, node: Node) -> Output:
        """The output of a node, in order."""
        if node.kind == "WithCTE":
            return self._with_common(node)
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

    def _leaf(self, node: Node) -> Output:
        ordinal = len(self.leaves)
        attributes = node.expressions("output")
        self.leaves.append(Leaf(node.kind, tuple((a.name, spark_type(a.fields.get("dataType"))) for a in attributes)))
        if node.kind == "CTERelationRef":
            return self._common_reference(node, attributes)
        if self._batch is not None and ordinal - self._own in self._batch.leaves:
            return self._of_batch(node, attributes, self._batch.stream)
        if node.kind not in _SOURCES:
            return self._unknown(node)
        return tuple(
            Attribute(a.expr_id, a.name, Column.of(Origin(ordinal, a.name), spark_shape(a.fields.get("dataType"))))
            for a in attributes
        )

    def _of_batch(self, node: Node, attributes: tuple[Node, ...], stream: Walked) -> Output:
        """Columns meet by position: wherever a batch is joined with itself, its attributes are others."""
        if len(attributes) != len(stream.output):
            return self._unknown(node)
        self.leaves[-1] = replace(self.leaves[-1], is_read=False)
        self.leaves[: self._own] = stream.leaves
        self.rows |= stream.rows
        self.findings.unknown |= stream.findings.unknown
        self.findings.decodings |= stream.findings.decodings
        return tuple(Attribute(a.expr_id, a.name, s.column) for a, s in zip(attributes, stream.output, strict=True))

    def _unknown(self, node: Node) -> Output:
        self.findings.unknown.add(node.kind)
        return tuple(Attribute(a.expr_id, a.name, Column()) for a in node.expressions("output"))

    def _scope(self, *outputs: Output) -> Scope:
        known = {attribute.expr_id: attribute.column for output in outputs for attribute in output}
        return Scope(known, self.findings)

    def _named(self, scope: Scope, expressions: Iterable[Node]) -> Output:
        return tuple(Attribute(e.expr_id, e.name, scope.column(e)) for e in expressions)

    def _decide(self, scope: Scope, expressions: Iterable[Node], subtype: Subtype) -> None:
        for expression in expressions:
            self.rows |= scope.column(expression).deciding(subtype)

    def _project(self, node: Node, child: Output) -> Output:
        return self._named(self._scope(child), node.expressions("projectList"))

    def _aggregate(self, node: Node, child: Output) -> Output:
        scope = self._scope(child)
        self._decide(scope, node.expressions("groupingExpressions"), Subtype.GROUP_BY)
        return self._named(scope, node.expressions("aggregateExpressions"))

    def _window(self, node: Node, child: Output) -> Output:
        return child + self._named(self._scope(child), node.expressions("windowExpressions"))

    def _generate(self, node: Node, child: Output) -> Output:
        (generator,) = node.expressions("generator")
        attributes = node.expressions("generatorOutput")
        made = self._generated(self._scope(child), generator, len(attributes))
        return child + tuple(Attribute(a.expr_id, a.name, c) for a, c in zip(attributes, made, strict=True))

    def _generated(self, scope: Scope, generator: Node, width: int) -> list[Column]:
        """What the output columns of a generator are made of.

        Several columns come from different arguments, or different parts of one: which is known for structs whose
        fields are told apart, and for an array or a map that is a source's own column.
        """
        source = union(scope.column(argument) for argument in generator.children).each(Subtype.TRANSFORMATION)
        if generator.kind == "Inline" and source.fields is not None and len(source.fields) == width:
            return [column for _, column in source.fields]
        if generator.kind == "Explode" and width == 1:
            return [source]
        plain = source.through(Subtype.TRANSFORMATION)
        whole = generator.kind in {"Explode", "PosExplode"} and scope.column(generator.children[0]).is_source
        if generator.kind == "Inline" or not (width == 1 or whole):
            self.findings.unknown.add(generator.kind)
        return [plain] * width

    def _expand(self, node: Node, child: Output) -> Output:
        """Each row becomes one row per projection: an output column is any of the expressions at its place.

        Of some, as of `unpivot`'s, Spark writes no projections.
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

    def _filter(self, node: Node, child: Output) -> Output:
        self._decide(self._scope(child), node.expressions("condition"), Subtype.FILTER)
        return child

    def _sort(self, node: Node, child: Output) -> Output:
        self._decide(self._scope(child), node.expressions("order"), Subtype.SORT)
        return child

    def _distinct(self, _node: Node, child: Output) -> Output:
        for attribute in child:
            self.rows |= attribute.column.deciding(Subtype.GROUP_BY)
        return child

    def _deduplicate(self, node: Node, child: Output) -> Output:
        """OpenLineage has no subtype for it; one row for each key is what GROUP BY gives."""
        self._decide(self._scope(child), node.expressions("keys"), Subtype.GROUP_BY)
        return child

    def _join(self, node: Node, left: Output, right: Output) -> Output:
        self._decide(self._scope(left, right), node.expressions("condition"), Subtype.JOIN)
        kind = str(node.fields.get("joinType"))
        return left if "LeftSemi" in kind or "LeftAnti" in kind else left + right

    def _union(self, outputs: list[Output]) -> Output:
        """Columns meet by position; the attributes are the first child's."""
        return tuple(
            Attribute(same[0].expr_id, same[0].name, union(a.column for a in same))
            for same in zip(*outputs, strict=True)
        )

    def _with_common(self, node: Node) -> Output:
        """Definitions come before the plan. Those that it does not reach decide about nothing, and are not read."""
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

    def _common_definition(self, node: Node, child: Output) -> Output:
        self._common[int(node.fields["id"])] = child
        return child

    def _common_reference(self, node: Node, attributes: Iterable[Node]) -> Output:
        """Every reference to a common table expression has attributes of its own, by position."""
        definition = self._common.get(int(node.fields["cteId"]))
        if definition is None:
            return self._unknown(node)
        return tuple(Attribute(a.expr_id, a.name, d.column) for a, d in zip(attributes, definition, strict=True))


def _references(node: Node) -> set[int]:
    """The common table expressions that a plan refers to, from within subqueries too."""
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
