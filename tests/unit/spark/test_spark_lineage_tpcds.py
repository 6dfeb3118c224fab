# SPDX-License-Identifier: Apache-2.0
"""Queries of TPC-DS: every observed effect of an input column has an edge.

`LINEAGE_TPCDS_QUERIES=all`, or numbers with commas between them, selects other queries. A query without rows fails:
nothing can be observed in it.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from random import Random

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.unit.spark import lineage_dsl
from tests.unit.spark.lineage_effects import Comparison, compared, differences, mapped_value, outcome
from tests.unit.spark.lineage_programs import table as local_table
from tests.unit.spark.tpcds_queries import QUERIES
from tests.unit.spark.tpcds_tables import TABLES, Rows, random_rows, schema

SELECTED = os.environ.get("LINEAGE_TPCDS_QUERIES", "43")
NUMBERS = list(QUERIES) if SELECTED == "all" else [int(number) for number in SELECTED.split(",")]
SEED = 1

pytestmark = pytest.mark.slow


@pytest.fixture
def interpreted(spark: SparkSession) -> Iterator[SparkSession]:
    """Return a session without code generation, with the tables; they are removed afterwards."""
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    yield spark
    spark.conf.unset("spark.sql.codegen.factoryMode")
    for table in TABLES:
        spark.catalog.dropTempView(table)


@pytest.mark.parametrize("number", NUMBERS)
def test_edges_of_query(interpreted: SparkSession, number: int) -> None:
    result = compare_query(interpreted, number)

    print(f"q{number}: {result.columns} columns, unknown {result.unknown}, no effect {sorted(result.unconfirmed)}")
    assert (result.missing, result.not_direct) == (set(), set())


def compare_query(spark: SparkSession, number: int) -> Comparison:
    """Compare a query's lineage with the effects of each column that its text names; no other one can have any."""
    random = Random(SEED)
    rows = random_rows(random)
    for table in TABLES:
        show(spark, table, rows[table])
    frame = spark.sql(QUERIES[number])
    lineage = lineage_dsl.of(frame)
    before = outcome(frame)
    shown = {value for values in before.values() for value in values}
    assert shown - {"0", "None"}, f"query {number} returns no rows, or counts none: nothing can be observed"
    changed: dict[str, set[str]] = defaultdict(set)
    mapped: dict[str, set[str]] = {}
    for table, place, column in named_columns(QUERIES[number]):
        domain = TABLES[table][1][column]
        values = [row[place] for row in rows[table]]
        other = [random.choice(domain) for _ in values] if domain else random.sample(values, len(values))
        changed[column] = differences(
            before, outcome(after(spark, number, table, with_values(rows, table, place, other)))
        )
        new = [mapped_value(value) for value in values]
        mapped[column] = differences(before, outcome(after(spark, number, table, with_values(rows, table, place, new))))
        changed[column] |= mapped[column]
        show(spark, table, rows[table])
    with_effect = sorted(column for column, outputs in changed.items() if outputs)
    print(
        f"q{number}: {sum(next(iter(before.values())).values())} rows, {len(with_effect)} of {len(changed)} have effect"
    )
    return compared(lineage, changed, mapped)


def named_columns(query: str) -> Iterator[tuple[str, int, str]]:
    """Return (table, position, column) of each column in a query's text."""
    words = set(re.findall(r"\w+", query))
    for table, (_, columns) in TABLES.items():
        yield from ((table, place, column) for place, column in enumerate(columns) if column in words)


def with_values(rows: dict[str, Rows], table: str, place: int, values: list[object]) -> Rows:
    return tuple((*row[:place], value, *row[place + 1 :]) for row, value in zip(rows[table], values, strict=True))


def after(spark: SparkSession, number: int, table: str, rows: Rows) -> DataFrame:
    """Return a query over changed rows of a table."""
    show(spark, table, rows)
    return spark.sql(QUERIES[number])


def show(spark: SparkSession, table: str, rows: Rows) -> None:
    local_table(spark, rows, schema(table)).createOrReplaceTempView(table)
