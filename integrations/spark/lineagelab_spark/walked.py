# SPDX-License-Identifier: Apache-2.0
"""What is found out by walking a plan."""

from collections.abc import Collection
from dataclasses import dataclass

from lineagelab_spark.expressions import Findings
from lineagelab_spark.model import Column, Edge
from lineagelab_spark.tree import ExprId


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
class Attribute:
    """An output column of a node, and what it is made of."""

    expr_id: ExprId
    name: str
    column: Column


Output = tuple[Attribute, ...]


@dataclass(frozen=True)
class Walked:
    """A whole plan.

    Attributes:
        rows: INDIRECT edges that decide about rows.
        leaves: in the order of `LogicalPlan.collectLeaves()`, which `Origin.leaf` counts.
    """

    output: Output
    rows: frozenset[Edge]
    leaves: tuple[Leaf, ...]
    findings: Findings


@dataclass(frozen=True)
class Batch:
    """Where a plan goes on from another one: in `foreachBatch`, Spark hands out rows without their history.

    Attributes:
        stream: the plan that the rows are of.
        leaves: the ordinals of the leaves, in the plan that goes on, that are these rows.
    """

    stream: Walked
    leaves: Collection[int]
