# SPDX-License-Identifier: Apache-2.0
"""Columns, leaves and findings of an analysed plan."""

from dataclasses import dataclass

from lineagelab_spark.expressions import Findings
from lineagelab_spark.model import Column
from lineagelab_spark.plan_json import ExprId


@dataclass(frozen=True)
class Leaf:
    """Leaf of a plan: a source or any other node without children.

    Attributes:
        fields: (name, type) of its columns.
        is_read: False if the result does not need it, as for the sources of an unused common table expression.
    """

    kind: str
    fields: tuple[tuple[str, str], ...] = ()
    is_read: bool = True


@dataclass(frozen=True)
class Attribute:
    """Output column of a node, with its lineage."""

    expr_id: ExprId
    name: str
    column: Column


Attributes = tuple[Attribute, ...]


@dataclass(frozen=True)
class PlanColumns:
    """Output columns of a plan, with what was found in deriving them.

    Attributes:
        rows: INDIRECT edges that affect rows, and why some of them may be missing.
        leaves: as indexed by `Origin.leaf`: those of the children of a node, then those of the subqueries in its
            expressions. Without subqueries, this is the order of `LogicalPlan.collectLeaves()`.
    """

    output: Attributes
    rows: Column
    leaves: tuple[Leaf, ...]
    findings: Findings
