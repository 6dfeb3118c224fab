# SPDX-License-Identifier: Apache-2.0
"""The queries of TPC-DS: every observed effect of an input column has an edge.

`tpcds/qNN.sql` have the meaning of the specification's queries: their tables, joins, subqueries, groups and windows,
with shorter lists of columns, and constants that find rows in small tables. `LINEAGE_TPCDS_QUERIES=all`, or numbers
with commas between them, selects others than the default.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.unit.spark import lineage_dsl
from tests.unit.spark.lineage_effects import Comparison, Outcome, compared, differences, mapped_value, outcome
from tests.unit.spark.lineage_programs import table as local_table
from tests.unit.spark.tpcds_tables import TABLES, Rows, random_rows, schema

QUERIES = {int(path.stem[1:]): path.read_text() for path in sorted((Path(__file__).parent / "tpcds").glob("*.sql"))}
SELECTED = os.environ.get("LINEAGE_TPCDS_QUERIES", "43")
NUMBERS = list(QUERIES) if SELECTED == "all" else [int(number) for number in SELECTED.split(",")]
SEEDS = range(1, 30)

COMPUTED_KEYS = {54: {("ss_ext_sales_price", "num_customers")}}
"""(input column, output column) by query, that groups by a value computed of the input column: a monotone map of the
column does not keep which of these values are equal."""

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
    assert (result.missing, result.not_direct) == (set(), COMPUTED_KEYS.get(number, set()))


def compare_query(spark: SparkSession, number: int) -> Comparison:
    """Compare a query's lineage with the effects of each column that its text names; no other one can have any."""
    random = Random(number)
    rows, before = visible_rows(spark, number)
    lineage = lineage_dsl.of(spark.sql(QUERIES[number]))
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


def visible_rows(spark: SparkSession, number: int) -> tuple[dict[str, Rows], Outcome]:
    """Return tables for which a query returns rows, and not only zeros and nulls, and what it returns."""
    for seed in SEEDS:
        rows = random_rows(seed)
        for table in TABLES:
            show(spark, table, rows[table])
        before = outcome(spark.sql(QUERIES[number]))
        if {value for values in before.values() for value in values} - {"0", "None"}:
            return rows, before
    pytest.fail(f"query {number} returns no rows for any seed of {SEEDS}: nothing can be observed")


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
