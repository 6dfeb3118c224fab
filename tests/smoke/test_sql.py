# SPDX-License-Identifier: Apache-2.0
"""`lab sql` on the tables of a real lab, compared with PyIceberg and with the lineage service."""

import json
from collections import Counter

import pytest

from infra.cli.query import UNSENT_EVENTS
from infra.namespaces import CATALOG_NAME, JOB_NAMESPACE, POSTGRES_NAMESPACE, TABLE_SUPPLIER_STATS, WAREHOUSE_NAMESPACE

pytestmark = [pytest.mark.smoke, pytest.mark.slow]

MART = "marts.dear_suppliers"
JOB = "dear_suppliers"
CREATE = f"""
CREATE SCHEMA IF NOT EXISTS {CATALOG_NAME}.marts;
CREATE TABLE {MART} AS SELECT supplier, total_price AS revenue FROM {TABLE_SUPPLIER_STATS} WHERE total_price > 0;
"""


@pytest.fixture(scope="module")
def mart(lab):
    """Table made by `lab sql`, with the rows that PyIceberg reads from it."""
    assert lab.lab("run", "supplier_stats").status == 0
    done = lab.lab("sql", "--write", "--name", JOB, CREATE)
    assert done.status == 0, done.text
    assert not (lab.user.folder / "data").exists()
    return lab.table(MART)


def test_a_query_returns_what_pyiceberg_reads(lab):
    assert lab.lab("run", "supplier_stats").status == 0
    done = lab.lab("sql", "--format", "json", f"SELECT supplier, total_price FROM {TABLE_SUPPLIER_STATS}")
    assert done.status == 0, done.text
    rows = json.loads(done.text[done.text.index("[") :])  # the first use installs the environment, and says so before
    expected = lab.table(TABLE_SUPPLIER_STATS).select(["supplier", "total_price"]).to_pylist()
    assert Counter((row["supplier"], float(row["total_price"])) for row in rows) == Counter(
        (row["supplier"], float(row["total_price"])) for row in expected
    )


def test_a_written_table_is_read_by_pyiceberg(lab, mart):
    stats = lab.table(TABLE_SUPPLIER_STATS)
    assert sorted(mart.column("supplier").to_pylist()) == sorted(stats.column("supplier").to_pylist())


def test_the_table_depends_on_the_columns_of_postgres(lab, mart):
    node = f"datasetField:{WAREHOUSE_NAMESPACE}:{MART.replace('.', '/')}:revenue"
    found = lab.api("/api/v1/origin", nodeId=node, depth=20)
    columns = {(each["namespace"], each["name"], each["field"]) for each in found["columns"]}
    assert (POSTGRES_NAMESPACE, "shop.public.orders", "price") in columns


def test_the_run_is_complete_and_names_the_statement(lab, mart):
    job = lab.api(f"/api/v1/namespaces/{JOB_NAMESPACE}/jobs/{JOB}")
    assert job["latestRun"]["state"] == "COMPLETED"
    assert job["facets"]["sql"]["query"].startswith("CREATE TABLE")


def test_a_session_only_reads_unless_it_is_told_otherwise(lab, mart):
    done = lab.lab("sql", f"DROP TABLE {MART}")
    assert done.status == 1
    assert "to write: --write" in done.text
    assert lab.table(MART).num_rows == mart.num_rows


def test_events_of_an_unreachable_lineage_service_are_sent_by_the_next_session(lab, mart):
    assert lab.lab("stop", "lineage").status == 0
    try:
        assert lab.lab("sql", "--name", "kept_query", f"SELECT count(*) FROM {MART}").status == 0
        assert (lab.root / UNSENT_EVENTS).exists()
    finally:
        assert lab.lab("start", "lineage").status == 0
    assert lab.lab("sql", "SELECT 1").status == 0
    job = lab.api(f"/api/v1/namespaces/{JOB_NAMESPACE}/jobs/kept_query")
    assert job["latestRun"]["state"] == "COMPLETED"


def test_a_planted_hot_key_is_found_in_the_lineage(lab):
    value = "CASE WHEN i % 3 = 0 THEN 'acme' ELSE 's' || i END"
    hot = f"CREATE TABLE marts.hot AS SELECT {value} AS supplier FROM range(300) t(i)"
    done = lab.lab("sql", "--write", f"CREATE SCHEMA IF NOT EXISTS {CATALOG_NAME}.marts; {hot}")
    assert done.status == 0, done.text
    profiled = lab.lab("profile", "marts.hot")
    assert profiled.status == 0, profiled.text
    assert lab.table("marts.hot").num_rows == 300
    report = lab.user.folder / "skew.json"
    done = lab.lab("lineage", "skew", "--json", str(report))
    assert done.status == 0, done.text
    (found,) = [each for each in json.loads(report.read_text())["skew"] if each["dataset"].endswith("/marts/hot")]
    assert (found["column"], found["value"], found["rows"]) == ("supplier", "acme", 100)
    missing = lab.lab("profile", "marts.nothing")
    assert (missing.status, "does not exist" in missing.text) == (1, True)
    assert not [each for each in lab.api("/api/v1/graph")["datasets"] if each["name"] == "marts/nothing"]
