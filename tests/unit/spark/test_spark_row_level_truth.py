# SPDX-License-Identifier: Apache-2.0
"""Truth of the lineage of MERGE, UPDATE and DELETE: one source column is changed at a time in real Spark.

Each output column that changes must have an edge from that input column, as a value or by way of the rows.
"""

import itertools
import os
import random

import pytest

from lineagelab_spark import frames, write_commands
from lineagelab_spark.description import Sink, Write, describe
from lineagelab_spark.plan import derive

pytestmark = pytest.mark.slow

SOURCE = [(1, "a", 2.0, 10), (2, "b", 3.0, 20), (3, "c", 1.0, 30), (5, "e", 7.0, 40)]
SOURCE_COLUMNS = ("k", "n", "v", "w")
TARGET = [(1, "x", 0.5), (2, "y", 1.5), (9, "z", 4.5)]

CHANGES = {
    "k": lambda row, chance: row[0] + chance.choice([8, 20]),  # never the key of another row
    "n": lambda row, chance: row[1] + chance.choice("qrs"),
    "v": lambda row, chance: row[2] + chance.choice([-3.0, 5.0]),
    "w": lambda row, chance: row[3] + chance.choice([-35, 25]),
}

MATCHED = [
    "WHEN MATCHED THEN UPDATE SET n = s.n",
    "WHEN MATCHED AND s.v > 2 THEN UPDATE SET n = upper(s.n), v = t.v + s.v",
    "WHEN MATCHED AND s.w > 15 THEN DELETE",
    "WHEN MATCHED AND s.w < 15 THEN UPDATE SET * ",
]
NOT_MATCHED = [
    "",
    "WHEN NOT MATCHED THEN INSERT *",
    "WHEN NOT MATCHED AND s.w > 25 THEN INSERT (k, v) VALUES (s.k, s.v)",
]
NOT_MATCHED_BY_SOURCE = [
    "",
    "WHEN NOT MATCHED BY SOURCE THEN DELETE",
    "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = 0",
]

MERGES = [
    " ".join(("MERGE INTO lake.truth.t t USING rows_of_truth s ON t.k = s.k", *clauses))
    for clauses in itertools.product(MATCHED, NOT_MATCHED, NOT_MATCHED_BY_SOURCE)
]
OTHERS = [
    "UPDATE lake.truth.t SET n = (SELECT max(n) FROM rows_of_truth WHERE v > 1)",
    "UPDATE lake.truth.t SET v = v + 1 WHERE k IN (SELECT k FROM rows_of_truth WHERE w > 15)",
    "DELETE FROM lake.truth.t WHERE EXISTS (SELECT 1 FROM rows_of_truth s WHERE s.k = t.k AND s.v > 2)",
]
ALL = os.environ.get("TRUTH_STATEMENTS") == "all"
"""Run every statement with a change of every value; by default, a sample with one change of each column."""

STATEMENTS = MERGES + OTHERS if ALL else random.Random(5).sample(MERGES, 2) + OTHERS


@pytest.fixture(params=["copy-on-write", "merge-on-read"])
def apply(spark, request):
    """Return a function that runs a statement on a new table, with the given source rows, and returns its rows."""
    properties = ", ".join(f"'write.{command}.mode'='{request.param}'" for command in ("merge", "update", "delete"))
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.truth")

    def run(statement, rows):
        spark.sql("DROP TABLE IF EXISTS lake.truth.t PURGE")
        spark.sql(f"CREATE TABLE lake.truth.t (k int, n string, v double) USING iceberg TBLPROPERTIES ({properties})")
        spark.createDataFrame(TARGET, "k int, n string, v double").coalesce(1).writeTo("lake.truth.t").append()
        named = spark.createDataFrame(rows, "k int, n string, v double, w int").selectExpr("k", "n", "v", "w")
        named.createOrReplaceTempView("driver_rows")
        spark.sql("SELECT * FROM driver_rows").write.mode("overwrite").saveAsTable("truth_source")
        spark.table("truth_source").createOrReplaceTempView("rows_of_truth")
        executed = spark.sql(statement)
        return spark.table("lake.truth.t").orderBy("k", "n").collect(), executed

    yield run
    spark.sql("DROP TABLE IF EXISTS lake.truth.t PURGE")
    spark.sql("DROP TABLE IF EXISTS truth_source")


def claimed(spark, executed):
    """Return the input columns of the source by output column, with those that decide about rows in each."""
    command = write_commands.read(executed._jdf.queryExecution().analyzed())
    plan, _ = frames.read_plan(spark, command.query)
    write = Write(derive(plan.text), plan.sources, Sink(command.dataset, command.fields), changes_rows=True)
    assert write.gaps == []
    (output,) = describe([write]).outputs.values()
    rows = {edge.column for edge in output.rows}
    return {name: rows | {edge.column for edge in edges} for name, edges in output.columns.items()}, rows


def changed(before, after):
    """Return the columns whose values differ, and whether the rows differ."""
    if len(before) != len(after):
        return set(), True
    return {name for name in ("k", "n", "v") if [r[name] for r in before] != [r[name] for r in after]}, False


@pytest.mark.parametrize("statement", STATEMENTS)
def test_every_effect_of_a_source_column_has_an_edge(spark, apply, statement):
    chance = random.Random(statement)
    before, executed = apply(statement, SOURCE)
    edges, rows = claimed(spark, executed)
    for place, column in enumerate(SOURCE_COLUMNS):
        for victim in range(len(SOURCE)) if ALL else [chance.randrange(len(SOURCE))]:
            rows_now = [list(row) for row in SOURCE]
            rows_now[victim][place] = CHANGES[column](SOURCE[victim], chance)
            after, _ = apply(statement, [tuple(row) for row in rows_now])
            names, rows_changed = changed(before, after)
            assert not rows_changed or column in rows, f"{column} changes the rows"
            missing = {name for name in names if column not in edges.get(name, set()) | rows}
            assert not missing, f"{column} changes {missing}"
