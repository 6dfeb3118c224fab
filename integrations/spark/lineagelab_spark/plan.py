# SPDX-License-Identifier: Apache-2.0
"""Column lineage of an analysed plan: a pure function of its JSON.

The analysed plan is the right one to read: it has names and identities resolved, it exists for streaming frames
too, and the optimiser has not yet folded, pruned or fused anything of what the user wrote.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from lineagelab_spark import parts
from lineagelab_spark.expressions import Decoding
from lineagelab_spark.model import Edge, simplest
from lineagelab_spark.tree import parse
from lineagelab_spark.walk import walk
from lineagelab_spark.walked import Batch, Leaf, Walked


@dataclass(frozen=True)
class PlanLineage:
    """What the output of a plan is made of.

    Attributes:
        columns: edges of each output column, in output order.
        rows: INDIRECT edges that hold for every output column, since they decide about rows.
        leaves: in the order of `LogicalPlan.collectLeaves()`, which `Origin.leaf` counts; those of a batch's stream
            come first.
        decodings: columns of leaves that the plan decodes to structs.
        unknown: class names without a rule, and what else could not be followed. Where there is any, the edges
            are not complete.
    """

    columns: Mapping[str, frozenset[Edge]]
    rows: frozenset[Edge]
    leaves: tuple[Leaf, ...]
    decodings: frozenset[Decoding]
    unknown: frozenset[str]


def derive(plan_json: str, batch: Batch | None = None) -> PlanLineage:
    """The lineage of `df._jdf.queryExecution().analyzed().toJSON()`.

    Args:
        plan_json: the plan.
        batch: of which stream the plan has rows, where it is one of `foreachBatch`'s.

    Raises:
        ValueError: the text is no plan of Spark's.
    """
    return summary(walk(parse(plan_json), batch))


def opaque(leaves: int, why: str) -> PlanLineage:
    """Of a plan with so many leaves of which no more is known: all of them are read, nobody knows for what."""
    return PlanLineage({}, frozenset(), (Leaf("unknown"),) * leaves, frozenset(), frozenset({why}))


def summary(walked: Walked) -> PlanLineage:
    """The lineage of a plan that was walked."""
    decodings = frozenset(walked.findings.decodings)
    starts = {(d.leaf, d.column): d.start for d in sorted(decodings, key=lambda d: d.start, reverse=True)}
    return PlanLineage(
        columns={a.name: simplest(parts.of_columns(a.column.edges, starts)) for a in walked.output},
        rows=simplest(parts.of_columns(walked.rows, starts)),
        leaves=walked.leaves,
        decodings=decodings,
        unknown=frozenset(walked.findings.unknown),
    )
