# SPDX-License-Identifier: Apache-2.0
"""Profiles of tables of a real DuckDB: every figure is that of a recount in Python, and the events are valid."""

import random
from collections import Counter

import duckdb
import pytest

from infra.cli.lineage_skew import SHARES, columns_of
from lineage.checks.events import Specification, check_events, raw_events, render_text
from lineage.rules import Rules
from lineagelab_sql import profile
from lineagelab_sql.profile import profile_table
from lineagelab_sql.profile_run import ProfileRun
from lineagelab_sql.run_events import WRITER
from lineagelab_sql.session import StatementError


@pytest.fixture
def connection():
    with duckdb.connect() as found:
        found.execute("ATTACH ':memory:' AS lake; CREATE SCHEMA lake.sales")
        yield found


def table(connection, rows, kind="VARCHAR"):
    connection.execute(f"CREATE OR REPLACE TABLE lake.sales.t (k {kind})")
    if rows:
        connection.executemany("INSERT INTO lake.sales.t VALUES (?)", [[row] for row in rows])
    return profile_table(connection, "lake.sales.t")


@pytest.mark.parametrize("seed", range(12))
def test_figures_are_those_of_a_recount(connection, seed):
    chance = random.Random(seed)
    hot, spread = chance.uniform(0.1, 0.9), chance.choice((3, 40, 400))
    rows = [None if chance.random() < 0.2 else 7 if chance.random() < hot else chance.randrange(spread)
            for _ in range(2_000)]  # fmt: skip
    found = table(connection, rows, "INTEGER")
    (column,) = found.columns
    counts = Counter(row for row in rows if row is not None)
    assert (found.rows, column.nulls, column.distinct) == (2_000, rows.count(None), len(counts))
    assert (column.top, column.top_rows) == (str(counts.most_common(1)[0][0]), counts.most_common(1)[0][1])
    assert (column.least, column.greatest) == (min(counts), max(counts))


def test_a_planted_hot_key_is_named(connection):
    rows = [f"supplier {n % 50}" for n in range(700)] + ["acme"] * 300
    facets = table(connection, rows).facets(WRITER, with_values=True)
    (found,) = columns_of("s3://warehouse/sales/t", facets, 0.2)
    assert (found.column, found.value, found.rows, found.distinct) == ("k", "acme", 300, 51)
    assert found.share == pytest.approx(0.3)
    assert list(columns_of("t", facets, 0.31)) == []


@pytest.mark.parametrize(
    "rows",
    [[], [None] * 9, ["same"] * 9, ["a", "b"] * 9, [str(n) for n in range(99)]],
    ids=["empty", "no values", "constant", "two values", "unique"],
)
def test_even_columns_are_not_skewed(connection, rows):
    assert list(columns_of("t", table(connection, rows).facets(WRITER, with_values=True), 0.2)) == []


def test_many_nulls_are_a_hot_key(connection):
    facets = table(connection, [None] * 60 + [str(n) for n in range(40)]).facets(WRITER, with_values=True)
    assert [(each.value, each.rows) for each in columns_of("t", facets, 0.5)] == [("null", 60)]


def test_values_can_be_left_out(connection):
    facets = table(connection, ["secret"] * 90 + [str(n) for n in range(10)]).facets(WRITER, with_values=False)
    assert "secret" not in str(facets)
    assert [(each.value, each.rows) for each in columns_of("t", facets, 0.5)] == [(None, 90)]


def test_columns_of_every_type_have_a_profile(connection):
    connection.execute(
        """CREATE TABLE lake.sales.t AS SELECT i, [i] AS l, {'a': i} AS s, map([i], [i]) AS m, i % 2 = 0 AS b,
        TIMESTAMP '2026-01-01' AS at, DATE '2026-01-01' AS day, 'x'::BLOB AS z, uuid() AS u, 'nan'::DOUBLE AS n,
        NULL::INTEGER AS none, i::DECIMAL(10, 2) AS "quo""ted", [1.5] AS numbers FROM range(10) t(i)"""
    )
    found = {column.name: column for column in profile_table(connection, "lake.sales.t").columns}
    assert len(found) == 13
    assert {name for name, column in found.items() if column.top is None} == {"l", "s", "m", "none", "numbers"}
    assert (found["at"].top_rows, found["z"].top_rows, found["u"].top_rows, found["b"].top_rows) == (10, 10, 1, 5)
    assert (found['quo"ted'].least, found['quo"ted'].greatest) == (0.0, 9.0)


def test_many_values_are_not_counted(connection, monkeypatch):
    monkeypatch.setattr(profile, "MAX_DISTINCT", 10)
    found = table(connection, [str(n) for n in range(500)] + ["hot"] * 500)
    assert (found.columns[0].distinct, found.columns[0].top) == (None, "hot")
    facets = found.facets(WRITER, with_values=True)
    assert "distinctCount" not in facets["dataQualityMetrics"]["columnMetrics"]["k"]
    assert [each.value for each in columns_of("t", facets, 0.2)] == ["hot"]


def test_a_missing_table_is_an_error(connection):
    with pytest.raises(StatementError, match=r"cannot profile lake\.sales\.nothing: .*does not exist"):
        profile_table(connection, "lake.sales.nothing")


def test_events_conform_to_the_standard(connection):
    found = table(connection, ["a"] * 5 + [None], "VARCHAR")
    run = ProfileRun("00000000-0000-7000-8000-000000000001", "jobs", "lake.sales.t", None)
    events = [
        run.event("START", "2026-01-01T00:00:00Z"),
        run.event("COMPLETE", "2026-01-01T00:00:01Z", profile=found),
    ]
    findings = check_events(raw_events(events, "event"), Rules(), Specification.open(None))
    assert findings.ok(strict=True), render_text(findings)
    failed = run.event("FAIL", "2026-01-01T00:00:01Z", error="no")
    assert failed["run"]["facets"]["errorMessage"]["message"] == "no"
    (read,) = run.event("COMPLETE", "2026-01-01T00:00:01Z", profile=found)["inputs"]
    assert read["name"] == "lake.sales.t"
    assert read["inputFacets"][SHARES]["columns"]["k"] == {"share": 5 / 6, "rows": 5, "value": "a"}
