# SPDX-License-Identifier: Apache-2.0
"""Column lineage of an analysed plan: a pure function of its JSON.

The analysed plan has names and expression ids resolved, exists for streaming frames too, and still contains everything
that the optimiser would fold, prune or merge.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from lineagelab_spark import byte_ranges
from lineagelab_spark.expressions import Decoding
from lineagelab_spark.model import Edge, merge_edges
from lineagelab_spark.operators import derive_columns
from lineagelab_spark.plan_columns import Batch, Leaf, PlanColumns
from lineagelab_spark.plan_json import parse


@dataclass(frozen=True)
class PlanLineage:
    """Column lineage of a plan's output.

    Attributes:
        columns: edges by output column, in output order.
        rows: INDIRECT edges that affect rows and so hold for every output column.
        leaves: in the order of `LogicalPlan.collectLeaves()`, as indexed by `Origin.leaf`; for a micro-batch, the
            leaves of its stream come first.
        decodings: columns of leaves that the plan decodes to structs.
        unknown: class names without a rule, and other gaps; the edges are incomplete unless it is empty.
    """

    columns: Mapping[str, frozenset[Edge]]
    rows: frozenset[Edge]
    leaves: tuple[Leaf, ...]
    decodings: frozenset[Decoding]
    unknown: frozenset[str]


def derive(plan_json: str, batch: Batch | None = None) -> PlanLineage:
    """Derive column lineage from the JSON of an analysed plan.

    Args:
        plan_json: result of `df._jdf.queryExecution().analyzed().toJSON()`.
        batch: stream and leaves of the micro-batch, for a frame created in `foreachBatch`.

    Raises:
        ValueError: the text is not the JSON of a Spark plan.
    """
    return summary(derive_columns(parse(plan_json), batch))


def opaque(leaves: int, why: str) -> PlanLineage:
    """Return the lineage of a plan that cannot be analysed: all leaves are read, columns are unknown."""
    return PlanLineage({}, frozenset(), (Leaf("unknown"),) * leaves, frozenset(), frozenset({why}))


def summary(columns: PlanColumns) -> PlanLineage:
    """Return the lineage of a plan from the columns of its root."""
    decodings = frozenset(columns.findings.decodings)
    starts = {(d.leaf, d.column): d.start for d in sorted(decodings, key=lambda d: d.start, reverse=True)}
    return PlanLineage(
        columns={a.name: merge_edges(byte_ranges.widen_to_columns(a.column.edges, starts)) for a in columns.output},
        rows=merge_edges(byte_ranges.widen_to_columns(columns.rows, starts)),
        leaves=columns.leaves,
        decodings=decodings,
        unknown=frozenset(columns.findings.unknown),
    )
