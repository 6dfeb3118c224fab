# SPDX-License-Identifier: Apache-2.0
"""Profiles of the tables that a batch driver has written: counted again from the rows, and reported as runs."""

import random
from collections import Counter
from datetime import date, datetime
from decimal import Decimal

import pytest

from lineagelab_spark.batch_lineage import observe
from lineagelab_spark.driver_settings import PROFILE_ROWS
from lineagelab_spark.snapshot_profile import profile_frame
from tests.openlineage_schemas import conformance_errors
from tests.unit.integrations.lineage_endpoint import TAKEN, answering

TABLE = "lake.profiled.t"
SCHEMA = (
    "i int, l bigint, s string, d double, b boolean, m decimal(10, 2), t timestamp, y date, x binary,"
    " r struct<a: int>, a array<int>"
)


def random_rows(dice, number):
    few = {
        "i": [None, 1, 2, 3],
        "l": [2**40, 2**40 + 1],
        "s": [None, "", "x", "X", "x "],
        "d": [None, 0.5, 1e300, float("inf")],
        "b": [True, False, None],
        "m": [Decimal("1.00"), Decimal("1.01"), None],
        "t": [datetime(2026, 1, 1, 0, 0, 0, 1), datetime(2026, 1, 1)],
        "y": [date(2026, 1, 1), None],
        "x": [b"\xff\xfe", b"\xff\xff", b"", None],
        "r": [(1,), None],
        "a": [[1], None],
    }
    return [tuple(dice.choice(values) for values in few.values()) for _ in range(number)]


@pytest.mark.parametrize("seed", range(5))
def test_a_profile_equals_a_recount(spark, seed):
    dice = random.Random(seed)
    rows = random_rows(dice, dice.randrange(200))
    profile = profile_frame(spark.createDataFrame(rows, SCHEMA).repartition(3), "t")
    assert profile.rows == len(rows)
    for place, column in enumerate(profile.columns):
        values = [row[place] for row in rows if row[place] is not None]
        assert column.nulls == len(rows) - len(values), column
        if column.name in "ra":
            assert (column.distinct, column.top) == (None, None)
        else:
            counts = Counter(values)
            assert column.distinct == len(counts), column
            assert column.top_rows == max(counts.values(), default=0), column
            assert (column.top is None) == (not counts)


@pytest.fixture
def table(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.profiled")
    spark.sql(f"CREATE OR REPLACE TABLE {TABLE} (k int, n string) USING iceberg")
    yield TABLE
    spark.sql(f"DROP TABLE IF EXISTS {TABLE} PURGE")


def append(spark, number):
    rows = [(1 if each % 4 else each, None if each % 2 else "n") for each in range(number)]
    spark.createDataFrame(rows, "k int, n string").writeTo(TABLE).append()


def events_of(spark, monkeypatch, limit, write):
    """Return the events of profiles after a driver with the setting has written."""
    monkeypatch.setenv(PROFILE_ROWS, limit)
    with answering(TAKEN) as endpoint:
        lineage = observe(spark, "shop", endpoint.url)
        write()
        lineage.close()
        return [event for event in endpoint.taken if event["job"]["name"].startswith("profile.")]


def test_the_last_snapshot_of_each_written_table_is_profiled(spark, table, monkeypatch):
    def write():
        append(spark, 4)
        append(spark, 8)

    start, end = events_of(spark, monkeypatch, "100", write)
    assert [event["eventType"] for event in (start, end)] == ["START", "COMPLETE"]
    assert end["job"]["name"] == "profile.profiled.t"
    assert conformance_errors(end) == []
    (read,) = end["inputs"]
    assert read["name"].endswith("profiled/t")
    facets = read["inputFacets"]
    assert facets["dataQualityMetrics"]["rowCount"] == 12
    assert facets["dataQualityMetrics"]["columnMetrics"] == {
        "k": {"nullCount": 0, "count": 12, "distinctCount": 3},
        "n": {"nullCount": 6, "count": 6, "distinctCount": 1},
    }
    assert facets["lineageLab_keyShares"]["columns"] == {
        "k": {"share": 0.75, "rows": 9},
        "n": {"share": 0.5, "rows": 6},
    }, "no values: they may be personal data"
    assert end["outputs"] == []


@pytest.mark.parametrize(("limit", "message"), [("7", "has 8 rows, LINEAGE_PROFILE_ROWS is 7"), ("0", ""), ("", "")])
def test_a_larger_table_and_a_driver_without_the_setting_have_no_profile(
    spark, table, monkeypatch, caplog, limit, message
):
    assert events_of(spark, monkeypatch, limit, lambda: append(spark, 8)) == []
    assert message in caplog.text


def test_an_invalid_setting_is_named(spark, table, monkeypatch, caplog):
    assert events_of(spark, monkeypatch, "many", lambda: append(spark, 1)) == []
    assert "LINEAGE_PROFILE_ROWS is ignored: 'many' is not a number of rows" in caplog.text


def test_a_table_that_the_driver_has_dropped_has_no_profile(spark, table, monkeypatch):
    def write():
        append(spark, 2)
        spark.sql(f"DROP TABLE {TABLE} PURGE")

    assert events_of(spark, monkeypatch, "100", write) == []


def test_a_query_that_fails_fails_the_profile_and_nothing_else(spark, table, monkeypatch, caplog):
    def broken(*_):
        raise RuntimeError("no space left")

    monkeypatch.setattr("lineagelab_spark.profile_runs.profile_frame", broken)
    start, end = events_of(spark, monkeypatch, "100", lambda: append(spark, 2))
    assert (start["eventType"], end["eventType"]) == ("START", "FAIL")
    assert end["run"]["facets"]["errorMessage"]["message"] == "no space left"
    assert f"{TABLE} cannot be profiled: no space left" in caplog.text
