# SPDX-License-Identifier: Apache-2.0
"""Plans of the rows that `checkpoint` and `localCheckpoint` have stored: Spark continues from the rows alone."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from lineagelab_spark.datasets import Source
from lineagelab_spark.frames import FramePlan
from lineagelab_spark.java import JavaObject, kind_of
from lineagelab_spark.plan import expanded
from lineagelab_spark.plan_json import Node, parse
from lineagelab_spark.write_commands import output_ids

MAX_CHECKPOINTS = 100
"""Limit of plans kept: the oldest are dropped."""

ACTIONS = frozenset({"checkpoint", "localCheckpoint"})
"""Names of the actions, as Spark reports them to listeners."""


class ExpandedPlan(NamedTuple):
    """Plan without leaves that are checkpoints, except in subqueries, and the source of each leaf."""

    node: Node
    sources: tuple[Source, ...]


@dataclass(frozen=True, eq=False)
class _StoredRows:
    """Rows of a checkpoint.

    Attributes:
        next_rdd: an id that no RDD had when the checkpoint was reported; that of the checkpoint is below it.
        output: expression ids of its columns. Other plans can have the same: a filter keeps those of its child.
    """

    next_rdd: int
    output: tuple[int, ...]
    plan: ExpandedPlan


class Checkpoints:
    """Checkpoints of a driver. Not thread-safe."""

    def __init__(self) -> None:
        self._stored: deque[_StoredRows] = deque(maxlen=MAX_CHECKPOINTS)
        self._by_rdd: dict[int, _StoredRows] = {}

    def add(self, analysed: JavaObject, next_rdd: int, plan: ExpandedPlan) -> None:
        """Keep the expanded plan of rows that were stored; see `_StoredRows`."""
        self._stored.append(_StoredRows(next_rdd, output_ids(analysed), plan))

    def expand(self, plan: FramePlan, leaves: Iterable[JavaObject]) -> ExpandedPlan:
        """Replace the leaves of a plan that read stored rows by the plans of these rows.

        Raises:
            ValueError: the plan's text is not the JSON of a Spark plan.
        """
        node, sources = parse(plan.text), plan.sources
        stored = {ordinal: rows.plan for ordinal, leaf in enumerate(leaves) if (rows := self._find(leaf))}
        if not stored:
            return ExpandedPlan(node, sources)
        whole, replaced = expanded(node, {ordinal: rows.node for ordinal, rows in stored.items()})
        by_leaf = (stored[at].sources if at in replaced else (own,) for at, own in enumerate(sources))
        return ExpandedPlan(whole, tuple(chain.from_iterable(by_leaf)))

    def _find(self, leaf: JavaObject) -> _StoredRows | None:
        """Return the plan of a leaf's rows: of the first checkpoint that was reported after its RDD was made.

        In self-joins its attributes have other ids, but its RDD is the same.
        """
        if kind_of(leaf) != "LogicalRDD":
            return None
        rdd, output = int(leaf.rdd().id()), output_ids(leaf)
        if rdd not in self._by_rdd:
            known = self._by_rdd.values()
            later = (each for each in self._stored if each.output == output and each.next_rdd > rdd)
            first = next((each for each in later if each not in known), None)
            if first is not None:
                self._by_rdd[rdd] = first
                while len(self._by_rdd) > MAX_CHECKPOINTS:
                    del self._by_rdd[next(iter(self._by_rdd))]
        return self._by_rdd.get(rdd)
