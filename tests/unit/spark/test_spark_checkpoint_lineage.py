# SPDX-License-Identifier: Apache-2.0
"""Random programs that checkpoint the rows of each step: their lineage is that of the same programs without it."""

from dataclasses import replace
from random import Random

import pytest
from pyspark.sql import DataFrame, SparkSession

from lineagelab_spark import frames
from lineagelab_spark.checkpoints import Checkpoints
from lineagelab_spark.model import Edge, merge_edges
from lineagelab_spark.plan import PlanLineage, summary
from tests.unit.spark import lineage_dsl
from tests.unit.spark.lineage_programs import program, random_tables

PROGRAMS = 25

pytestmark = pytest.mark.slow


class CheckpointedProgram:
    """Program whose steps continue from stored rows; Spark's listener is not needed to know them."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._checkpoints = Checkpoints()

    def store(self, frame: DataFrame) -> DataFrame:
        plan = frames.analysed(frame)
        read = frames.read_plan(self._spark, plan)
        stored = frame.localCheckpoint()
        next_rdd = int(self._spark.sparkContext._jsc.sc().newRddId())
        self._checkpoints.add(plan, next_rdd, *read)
        return stored

    def lineage(self, frame: DataFrame) -> PlanLineage:
        derived = self._checkpoints.derive(*frames.read_plan(self._spark, frames.analysed(frame)))
        return summary(derived.columns)


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_lineage_is_that_of_the_program_without_checkpoints(spark: SparkSession, seed: int) -> None:
    tables = random_tables(Random(seed))
    whole = lineage_dsl.of(program(spark, tables, seed))
    stored = CheckpointedProgram(spark)
    found = stored.lineage(program(spark, tables, seed, stored.store))
    assert _texts(found) == _texts(whole)


def _texts(lineage: PlanLineage) -> dict[str, set[str]]:
    """Return the edges regardless of how often a table is read; columns are unique over the tables."""
    every = {"rows": lineage.rows, **lineage.columns}
    reasons = {f"{name} unknown": set(found) for name, found in lineage.unknown_columns.items()}
    return {name: lineage_dsl.texts(merge_edges(map(_of_one_leaf, edges))) for name, edges in every.items()} | reasons


def _of_one_leaf(edge: Edge) -> Edge:
    return replace(edge, origin=replace(edge.origin, leaf=0))
