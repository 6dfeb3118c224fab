# SPDX-License-Identifier: Apache-2.0
"""Column lineage of an analysed plan: a pure function of its JSON.

The analysed plan is the right one to read: it has names and identities resolved, it exists for streaming frames
too, and the optimiser has not yet folded, pruned or fused anything of what the user wrote.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from jobs.spark.lineage import parts
from jobs.spark.lineage.datatypes import spark_shape, spark_type
from jobs.spark.lineage.expressions import Decoding, Findings, Scope
from jobs.spark.lineage.model import Column, Edge, Origin, Subtype, simplest, union
from jobs.spark.lineage.tree import ExprId, Node, parse


@dataclass(frozen=True)
class Leaf:
    """A source of the plan, or whatever else has no child.

    Attributes:
        fields: the (name, type) pairs it gives.
        is_read: whether the result needs it: the sources of an unused common table expression are not read.
    """

    kind: str
    fields: tuple[tuple[str, str], ...] = ()
    is_read: bool = True


@dataclass(frozen=True)
class PlanLineage:
    """What the output of a plan is made of.

    Attributes:
        columns: edges of each output column, in output order.
        rows: INDIRECT edges that hold for every output column, since they decide about rows.
        leaves: in the order of `LogicalPlan.collectLeaves()`, which `Origin.leaf` counts.
        decodings: columns of leaves that the plan decodes to structs.
        unknown: class names without a rule, and what else could not be followed. Where there is any, the edges
            are not complete.
    """

    columns: Mapping[str, frozenset[Edge]]
    rows: frozenset[Edge]
    leaves: tuple[Leaf, ...]
    decodings: frozenset[Decoding]
    unknown: frozenset[str]


@dataclass(frozen=True)
class _Attribute:
    expr_id: ExprId
    name: str
    column: Column


_Output = tuple[_Attribute, ...]


def derive(plan_json: str) -> PlanLineage:
    """The lineage of `df._jdf.queryExecution().analyzed().toJSON()`.

    Raises:
        ValueError: the text is no plan of Spark's.
    """
    walk = _Walk()
    output = walk.visit(parse(plan_json))
    decodings = frozenset(walk.findings.decodings)
    starts = {(d.leaf, d.column): d.start for d in sorted(decodings, key=lambda d: d.start, reverse=True)}
    return PlanLineage(
        columns={a.name: simplest(parts.of_columns(a.column.edges, starts)) for a in output},
        rows=simplest(parts.of_columns(walk.rows, starts)),
        leaves=tuple(walk.leaves),
        decodings=decodings,
        unknown=frozenset(walk.findings.unknown),
    )


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

    def __init__(self) -> None:
        self.rows: set[Edge] = set()
        self.leaves: list[Leaf] = []
        self.findings = Findings()
        self._common: dict[int, _Output] = {}
        self._rules: dict[str, Callable[[Node, _Output], _Output]] = {
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

    def visit(self, node: Node) -> _Output:
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

    def _leaf(self, node: Node) -> _Output:
        ordinal = len(self.leaves)
        attributes = node.expressions("output")
        self.leaves.append(Leaf(node.kind, tuple((a.name, spark_type(a.fields.get("dataType"))) for a in attributes)))
        if node.kind == "CTERelationRef":
            return self._common_reference(node, attributes)
        if node.kind not in _SOURCES:
            return self._unknown(node)
        return tuple(
            _Attribute(a.expr_id, a.name, Column.of(Origin(ordinal, a.name), spark_shape(a.fields.get("dataType"))))
            for a in attributes
        )

    def _unknown(self, node: Node) -> _Output:
        self.findings.unknown.add(node.kind)
        return tuple(_Attribute(a.expr_id, a.name, Column()) for a in node.expressions("output"))

    def _scope(self, *outputs: _Output) -> Scope:
        known = {attribute.expr_id: attribute.column for output in outputs for attribute in output}
        return Scope(known, self.findings)

    def _named(self, scope: Scope, expressions: Iterable[Node]) -> _Output:
        return tuple(_Attribute(e.expr_id, e.name, scope.column(e)) for e in expressions)

    def _decide(self, scope: Scope, expressions: Iterable[Node], subtype: Subtype) -> None:
        for expression in expressions:
            self.rows |= scope.column(expression).deciding(subtype)

    def _project(self, node: Node, child: _Output) -> _Output:
        return self._named(self._scope(child), node.expressions("projectList"))

    def _aggregate(self, node: Node, child: _Output) -> _Output:
        scope = self._scope(child)
        self._decide(scope, node.expressions("groupingExpressions"), Subtype.GROUP_BY)
        return self._named(scope, node.expressions("aggregateExpressions"))

    def _window(self, node: Node, child: _Output) -> _Output:
        return child + self._named(self._scope(child), node.expressions("windowExpressions"))

    def _generate(self, node: Node, child: _Output) -> _Output:
        (generator,) = node.expressions("generator")
        attributes = node.expressions("generatorOutput")
        made = self._generated(self._scope(child), generator, len(attributes))
        return child + tuple(_Attribute(a.expr_id, a.name, c) for a, c in zip(attributes, made, strict=True))

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

    def _expand(self, node: Node, child: _Output) -> _Output:
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
            _Attribute(a.expr_id, a.name, union(scope.column(e) for e in projections[place::width]))
            for place, a in enumerate(output)
        )

    def _filter(self, node: Node, child: _Output) -> _Output:
        self._decide(self._scope(child), node.expressions("condition"), Subtype.FILTER)
        return child

    def _sort(self, node: Node, child: _Output) -> _Output:
        self._decide(self._scope(child), node.expressions("order"), Subtype.SORT)
        return child

    def _distinct(self, _node: Node, child: _Output) -> _Output:
        for attribute in child:
            self.rows |= attribute.column.deciding(Subtype.GROUP_BY)
        return child

    def _deduplicate(self, node: Node, child: _Output) -> _Output:
        """OpenLineage has no subtype for it; one row for each key is what GROUP BY gives."""
        self._decide(self._scope(child), node.expressions("keys"), Subtype.GROUP_BY)
        return child

    def _join(self, node: Node, left: _Output, right: _Output) -> _Output:
        self._decide(self._scope(left, right), node.expressions("condition"), Subtype.JOIN)
        kind = str(node.fields.get("joinType"))
        return left if "LeftSemi" in kind or "LeftAnti" in kind else left + right

    def _union(self, outputs: list[_Output]) -> _Output:
        """Columns meet by position; the attributes are the first child's."""
        return tuple(
            _Attribute(same[0].expr_id, same[0].name, union(a.column for a in same))
            for same in zip(*outputs, strict=True)
        )

    def _with_common(self, node: Node) -> _Output:
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

    def _common_definition(self, node: Node, child: _Output) -> _Output:
        self._common[int(node.fields["id"])] = child
        return child

    def _common_reference(self, node: Node, attributes: Iterable[Node]) -> _Output:
        """Every reference to a common table expression has attributes of its own, by position."""
        definition = self._common.get(int(node.fields["cteId"]))
        if definition is None:
            return self._unknown(node)
        return tuple(_Attribute(a.expr_id, a.name, d.column) for a, d in zip(attributes, definition, strict=True))


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
