# SPDX-License-Identifier: Apache-2.0
"""Column lineage of an analysed plan: a pure function of its JSON.

The analysed plan has names and expression ids resolved, exists for streaming frames too, and still contains everything
that the optimiser would fold, prune or merge.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from lineagelab_spark import byte_ranges
from lineagelab_spark.expressions import Decoding
from lineagelab_spark.known_rows import NO_KNOWN_ROWS, KnownRows
from lineagelab_spark.model import Edge, merge_edges
from lineagelab_spark.operators import derive_columns
from lineagelab_spark.plan_columns import Leaf, PlanColumns
from lineagelab_spark.plan_json import parse


@dataclass(frozen=True)
class PlanLineage:
    """Column lineage of a plan's output.

    Attributes:
        columns: edges by output column, in output order.
        rows: INDIRECT edges that affect rows and so hold for every output column.
        leaves: as indexed by `Origin.leaf`, see `PlanColumns`; those of known rows come first.
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


def derive(plan_json: str, known: KnownRows = NO_KNOWN_ROWS) -> PlanLineage:
    """Derive column lineage from the JSON of an analysed plan.

    Args:
        plan_json: result of `frames.json_of`.
        known: rows of micro-batches and checkpoints that the plan reads.

    Raises:
        ValueError: the text is not the JSON of a Spark plan.
    """
    return summary(derive_columns(parse(plan_json), known))


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
