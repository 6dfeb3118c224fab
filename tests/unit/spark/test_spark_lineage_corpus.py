# SPDX-License-Identifier: Apache-2.0
"""Random programs: every observed effect of an input column has an edge.

`LINEAGE_CORPUS_PROGRAMS`, `LINEAGE_CORPUS_FUNCTIONS` and `LINEAGE_CORPUS_STREAMS` select more programs of each kind,
`LINEAGE_CORPUS_SEED` others: each seed is one program. With `-s`, edges without an observed effect are listed too: some
are right (a condition that no row meets), so they do not fail the test.
"""

import os
from collections.abc import Callable, Iterator
from functools import partial
from random import Random

import pytest
from pyspark.sql import SparkSession

from tests.unit.spark import lineage_dsl
from tests.unit.spark.lineage_effects import Comparison, Outcome, compare, compared, effects
from tests.unit.spark.lineage_functions import steps_with_function
from tests.unit.spark.lineage_programs import Tables, program, random_tables
from tests.unit.spark.lineage_streams import stream_program

FIRST_SEED = int(os.environ.get("LINEAGE_CORPUS_SEED", "1"))

CODE_GENERATION = "spark.sql.codegen.factoryMode"

pytestmark = pytest.mark.slow


@pytest.fixture
def interpreted(spark: SparkSession) -> Iterator[SparkSession]:
    """Return a session without code generation: compiling takes longer than running a few rows."""
    spark.conf.set(CODE_GENERATION, "NO_CODEGEN")
    yield spark
    spark.conf.unset(CODE_GENERATION)


def test_edges_of_random_programs(interpreted: SparkSession) -> None:
    check_edges("PROGRAMS", 12, lambda seed: compare(lambda tables: program(interpreted, tables, seed), seed))


def test_edges_of_random_programs_with_functions(interpreted: SparkSession) -> None:
    made = partial(program, interpreted, choose=steps_with_function)
    check_edges("FUNCTIONS", 6, lambda seed: compare(lambda tables: made(tables, seed), seed))


def test_edges_of_random_streams(interpreted: SparkSession) -> None:
    check_edges("STREAMS", 3, lambda seed: compare_stream(interpreted, seed))


def check_edges(kind: str, number: int, comparison: Callable[[int], Comparison]) -> None:
    """Assert that the programs of `number` seeds have no effect without an edge; the environment may say how many."""
    number = int(os.environ.get(f"LINEAGE_CORPUS_{kind}", str(number)))
    results = {seed: comparison(seed) for seed in range(FIRST_SEED, FIRST_SEED + number)}

    print(summary(results))
    assert {seed: result.missing for seed, result in results.items() if result.missing} == {}
    assert {seed: result.not_direct for seed, result in results.items() if result.not_direct} == {}


def compare_stream(spark: SparkSession, seed: int) -> Comparison:
    """Compare the lineage of a streaming program with its effects."""
    random = Random(seed)
    tables = random_tables(random)
    with stream_program(spark, tables, seed) as made:
        lineage = lineage_dsl.of_stream(made.stream, made.of_batch)

    def outcome(given: Tables) -> Outcome:
        with stream_program(spark, given, seed) as made:
            return made.outcome()

    return compared(lineage, *effects(outcome, tables, random))


def summary(results: dict[int, Comparison]) -> str:
    """Return what was compared, what is unknown, and the edges without an observed effect."""
    columns = sum(result.columns for result in results.values())
    unknown = {seed: result.unknown for seed, result in results.items() if result.unknown}
    unconfirmed = {seed: sorted(result.unconfirmed) for seed, result in results.items() if result.unconfirmed}
    count = sum(map(len, unknown.values()))
    return f"{len(results)} programs, {columns} columns, {count} unknown: {unknown}; without effect: {unconfirmed}"
