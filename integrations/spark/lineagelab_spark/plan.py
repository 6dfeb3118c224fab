# SPDX-License-Identifier: Apache-2.0
"""Column lineage of an analysed plan: a pure function of its JSON.

The analysed plan has names and expression ids resolved, exists for streaming frames too, and still contains everything
that the optimiser would fold, prune or merge.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from lineagelab_spark import byte_ranges
from lineagelab_spark.expressions import Decoding
from lineagelab_spark.model import Edge, merge_edges
from lineagelab_spark.operators import CHECKPOINTED, derive_columns, leaf_kinds, subqueries
from lineagelab_spark.plan_columns import Batch, Leaf, PlanColumns
from lineagelab_spark.plan_json import Node, parse


@dataclass(frozen=True)
class PlanLineage:
    """Column lineage of a plan's output.

    Attributes:
        columns: edges by output column, in output order.
        rows: INDIRECT edges that affect rows and so hold for every output column.
        leaves: as indexed by `Origin.leaf`, see `PlanColumns`; for a micro-batch, the leaves of its stream come first.
        decodings: columns of leaves that the plan decodes to structs.
        unknown_columns: reasons why the edges of a column are incomplete, for columns with any.
        unknown_rows: reasons why `rows` is incomplete.
        positions: name of each output column, in order; a name can occur twice.
    """

    columns: Mapping[str, frozenset[Edge]]
    rows: frozenset[Edge]
    leaves: tuple[Leaf, ...]
    decodings: frozenset[Decoding]
    unknown_columns: Mapping[str, frozenset[str]]
    unknown_rows: frozenset[str]
    positions: tuple[str, ...] = ()

    @property
    def unknown(self) -> frozenset[str]:
        """All reasons; the edges are complete if it is empty."""
        return self.unknown_rows.union(*self.unknown_columns.values())


def derive(plan_json: str, batch: Batch | None = None) -> PlanLineage:
    """Derive column lineage from the JSON of an analysed plan.

    Args:
        plan_json: result of `frames.json_of`.
        batch: stream and leaves of the micro-batch, for a frame created in `foreachBatch`.

    Raises:
        ValueError: the text is not the JSON of a Spark plan.
    """
    return derive_tree(parse(plan_json), batch)


def derive_tree(plan: Node, batch: Batch | None = None) -> PlanLineage:
    """Derive column lineage from a parsed plan; see `derive`."""
    return summary(derive_columns(plan, batch))


def expanded(plan: Node, stored: Mapping[int, Node]) -> tuple[Node, frozenset[int]]:
    """Return a plan in which leaves are replaced by the plans of the rows that checkpoints have stored for them.

    Args:
        plan: plan to expand.
        stored: plans by the leaf's ordinal in `PlanColumns.leaves`. Leaves of subqueries stay as they are.

    Returns:
        The plan, and the ordinals of the leaves that were replaced.
    """
    expansion = _Expansion(stored)
    return expansion.visit(plan), frozenset(expansion.replaced)


class _Expansion:
    """Depth-first traversal that counts leaves in the order of `PlanColumns.leaves`."""

    def __init__(self, stored: Mapping[int, Node]) -> None:
        self._stored = stored
        self._ordinal = 0
        self.replaced: set[int] = set()

    def visit(self, node: Node) -> Node:
        made = replace(node, children=tuple(map(self.visit, node.children))) if node.children else self._leaf(node)
        plans = (plan for each in subqueries(node) for plan in each.expressions("plan"))
        self._ordinal += sum(len(leaf_kinds(plan)) for plan in plans)
        return made

    def _leaf(self, node: Node) -> Node:
        rows = self._stored.get(self._ordinal)
        if rows is not None:
            self.replaced.add(self._ordinal)
        self._ordinal += 1
        return node if rows is None else Node(CHECKPOINTED, node.fields, (rows,))


def opaque(leaves: int, why: str) -> PlanLineage:
    """Return the lineage of a plan that cannot be analysed: all leaves are read, columns are unknown."""
    return PlanLineage({}, frozenset(), (Leaf("unknown"),) * leaves, frozenset(), {}, frozenset({why}))


def summary(columns: PlanColumns) -> PlanLineage:
    """Return the lineage of a plan from the columns of its root."""
    decodings = frozenset(columns.findings.decodings)
    starts = {(d.leaf, d.column): d.start for d in sorted(decodings, key=lambda d: d.start, reverse=True)}
    return PlanLineage(
        columns={a.name: merge_edges(byte_ranges.widen_to_columns(a.column.edges, starts)) for a in columns.output},
        rows=merge_edges(byte_ranges.widen_to_columns(columns.rows.edges, starts)),
        leaves=columns.leaves,
        decodings=decodings,
        unknown_columns={a.name: a.column.unknown for a in columns.output if a.column.unknown},
        unknown_rows=columns.rows.unknown,
        positions=tuple(a.name for a in columns.output),
    )
