# SPDX-License-Identifier: Apache-2.0
"""Rows that a plan reads without the plan that made them: those of a micro-batch, and of a checkpoint.

What is known of them is the lineage of their columns. It is as small as the number of columns and sources allows,
however many plans led to the rows: iterative programs join checkpoints of checkpoints, and the whole of their plans
would double with each step.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lineagelab_spark.datasets import Source
from lineagelab_spark.expressions import Findings
from lineagelab_spark.plan_columns import Leaf, PlanColumns


@dataclass(frozen=True)
class KnownRows:
    """Lineage of the rows that leaves of a plan read.

    Attributes:
        leaves: leaves that the lineage of all rows refers to; they precede those of the plan.
        columns: lineage of the rows, by the ordinal of the leaf among those of the plan. Its leaves are `leaves`, with
            those as read that the rows depend on.
    """

    leaves: tuple[Leaf, ...] = ()
    columns: Mapping[int, PlanColumns] = field(default_factory=dict)

    @staticmethod
    def of_stream(stream: PlanColumns, ordinals: Collection[int]) -> "KnownRows":
        """Return what is known of a micro-batch's rows, from the plan of its stream."""
        return KnownRows(stream.leaves, dict.fromkeys(ordinals, stream))


NO_KNOWN_ROWS = KnownRows()
"""For a plan that reads neither a micro-batch nor a checkpoint."""


@dataclass(frozen=True)
class SourcedColumns:
    """Columns of a plan, and the source of each of its leaves."""

    columns: PlanColumns
    sources: tuple[Source, ...]

    def read(self) -> dict[int, tuple[Source, Leaf]]:
        """Return the leaves that are read, and their sources, by ordinal."""
        leaves = enumerate(zip(self.sources, self.columns.leaves, strict=True))
        return {at: (source, leaf) for at, (source, leaf) in leaves if leaf.is_read}


def known_rows(rows: Mapping[int, SourcedColumns]) -> tuple[KnownRows, tuple[Source, ...]]:
    """Return what is known of the rows of leaves, and the sources of its own leaves.

    Leaves with the same columns of the same source are one, and those that are not read are left out.
    """
    # By identity: a self-join reads the same rows twice.
    distinct = list({id(each): each for each in rows.values()}.values())
    every = tuple(dict.fromkeys(leaf for known in distinct for leaf in known.read().values()))
    places = {leaf: place for place, leaf in enumerate(every)}
    leaves = tuple(leaf for _, leaf in every)
    made = {
        id(known): _renumbered(known.columns, {at: places[leaf] for at, leaf in known.read().items()}, leaves)
        for known in distinct
    }
    columns = {ordinal: made[id(known)] for ordinal, known in rows.items()}
    return KnownRows(leaves, columns), tuple(source for source, _ in every)


def _renumbered(columns: PlanColumns, places: Mapping[int, int], leaves: Sequence[Leaf]) -> PlanColumns:
    """Return columns whose edges refer to other leaves."""
    used = set(places.values())
    return PlanColumns(
        tuple(replace(each, column=each.column.with_leaves(places)) for each in columns.output),
        columns.rows.with_leaves(places),
        tuple(replace(leaf, is_read=at in used) for at, leaf in enumerate(leaves)),
        Findings({replace(each, leaf=places[each.leaf]) for each in columns.findings.decodings}),
    )
