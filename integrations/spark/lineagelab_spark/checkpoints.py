# SPDX-License-Identifier: Apache-2.0
"""Lineage of the rows that `checkpoint` and `localCheckpoint` have stored: Spark continues from the rows alone."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from lineagelab_spark.frames import FramePlan
from lineagelab_spark.java import JavaObject, kind_of
from lineagelab_spark.known_rows import SourcedColumns, known_rows
from lineagelab_spark.operators import derive_columns
from lineagelab_spark.plan_json import parse
from lineagelab_spark.write_commands import output_ids

MAX_CHECKPOINTS = 1000
"""Limit of checkpoints kept: the oldest are dropped."""

ACTIONS = frozenset({"checkpoint", "localCheckpoint"})
"""Names of the actions, as Spark reports them to listeners."""


@dataclass(frozen=True, eq=False)
class _StoredRows:
    """Rows of a checkpoint.

    Attributes:
        next_rdd: an id that no RDD had when the checkpoint was reported; that of the checkpoint is below it.
        output: expression ids of its columns. Other plans can have the same: a filter keeps those of its child.
        made: lineage of its columns, down to sources.
    """

    next_rdd: int
    output: tuple[int, ...]
    made: SourcedColumns


class Checkpoints:
    """Checkpoints of a driver. Not thread-safe."""

    def __init__(self) -> None:
        self._stored: deque[_StoredRows] = deque(maxlen=MAX_CHECKPOINTS)
        self._by_rdd: dict[int, _StoredRows] = {}

    def add(self, analysed: JavaObject, next_rdd: int, plan: FramePlan, leaves: Iterable[JavaObject]) -> None:
        """Keep the lineage of rows that were stored; see `_StoredRows`.

        Raises:
            ValueError: the plan's text is not the JSON of a Spark plan.
        """
        self._stored.append(_StoredRows(next_rdd, output_ids(analysed), self.derive(plan, leaves)))

    def derive(self, plan: FramePlan, leaves: Iterable[JavaObject]) -> SourcedColumns:
        """Derive the columns of a plan down to sources, through the checkpoints that its leaves read.

        Raises:
            ValueError: the plan's text is not the JSON of a Spark plan.
        """
        stored = {ordinal: rows.made for ordinal, leaf in enumerate(leaves) if (rows := self._find(leaf))}
        known, sources = known_rows(stored)
        return SourcedColumns(derive_columns(parse(plan.text), known), sources + plan.sources)

    def _find(self, leaf: JavaObject) -> _StoredRows | None:
        """Return what a leaf reads: the rows of the first checkpoint that was reported after its RDD was made.

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
