# SPDX-License-Identifier: Apache-2.0
"""Random programs: every observed effect of an input column has an edge.

`LINEAGE_CORPUS_PROGRAMS` and `LINEAGE_CORPUS_SEED` select more or other programs: each seed is one program. With
`-s`, edges without an observed effect are listed too: some are right (a condition that no row meets), so they do not
fail the test.
"""

import os
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.unit.spark.lineage_effects import Comparison, compare

PROGRAMS = int(os.environ.get("LINEAGE_CORPUS_PROGRAMS", "12"))
FIRST_SEED = int(os.environ.get("LINEAGE_CORPUS_SEED", "1"))

pytestmark = pytest.mark.slow


CODE_GENERATION = "spark.sql.codegen.factoryMode"


@pytest.fixture
def interpreted(spark: SparkSession) -> Iterator[SparkSession]:
    """Return a session without code generation: compiling takes longer than running a few rows."""
    spark.conf.set(CODE_GENERATION, "NO_CODEGEN")
    yield spark
    spark.conf.unset(CODE_GENERATION)


def test_edges_of_random_programs(interpreted: SparkSession) -> None:
    compared = {seed: compare(interpreted, seed) for seed in range(FIRST_SEED, FIRST_SEED + PROGRAMS)}

    print(_summary(compared))
    assert {seed: result.missing for seed, result in compared.items() if result.missing} == {}
    assert {seed: result.not_direct for seed, result in compared.items() if result.not_direct} == {}


def _summary(compared: dict[int, Comparison]) -> str:
    columns = sum(result.columns for result in compared.values())
    unknown = {seed: result.unknown for seed, result in compared.items() if result.unknown}
    unconfirmed = {seed: sorted(result.unconfirmed) for seed, result in compared.items() if result.unconfirmed}
    count = sum(map(len, unknown.values()))
    return f"{len(compared)} programs, {columns} columns, {count} unknown: {unknown}; without effect: {unconfirmed}"
