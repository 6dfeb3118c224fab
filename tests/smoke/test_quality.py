# SPDX-License-Identifier: Apache-2.0
"""`lab expect` on a real lab: rules that hold, one that is broken, and what depends on the table."""

import json
import re

import pytest

from infra.namespaces import JOB_NAMESPACE, TABLE_ORDERS, TABLE_SUPPLIER_STATS, WAREHOUSE_NAMESPACE
from tests.page import screenshots
from tests.page.browser import chromium, visiting

pytestmark = [pytest.mark.smoke, pytest.mark.slow]

JOB = f"check.{TABLE_ORDERS}"


def check(lab, folder=None):
    return lab.lab("expect", TABLE_ORDERS, *(("--suites", str(folder)) if folder else ()))


def latest_run(lab):
    return lab.api(f"/api/v1/namespaces/{JOB_NAMESPACE}/jobs/{JOB}")["latestRun"]


def failed_checks(lab):
    (job,) = [row for row in lab.api("/api/v1/summaries")["jobs"] if row["name"] == JOB]
    return {(row["namespace"], row["name"], row["column"]) for row in job["failedChecks"]}


def test_the_rules_of_the_lab_hold_and_their_figures_are_those_of_pyiceberg(lab):
    done = check(lab)
    assert done.status == 0, done.text
    run = latest_run(lab)
    assert f"{TABLE_ORDERS}: 6 of 6 expectations met, run {run['id']}" in done.text
    assert run["state"] == "COMPLETED"
    table = lab.table(TABLE_ORDERS)
    dataset = lab.api(f"/api/v1/namespaces/{WAREHOUSE_NAMESPACE.replace('/', '%2F')}/datasets/sales%2Forders")
    metrics = dataset["facets"]["dataQualityMetrics"]
    assert metrics["rowCount"] == table.num_rows
    assert metrics["columnMetrics"]["supplier"]["nullCount"] == table.column("supplier").null_count
    assert failed_checks(lab) == set()


def test_a_broken_rule_exits_with_1_and_names_run_and_column_until_it_holds(lab, tmp_path):
    rule = {"type": "expect_column_values_to_be_between", "kwargs": {"column": "price", "max_value": -1}}
    (tmp_path / f"{TABLE_ORDERS}.json").write_text(json.dumps({"expectations": [rule]}))
    done = check(lab, tmp_path)
    assert done.status == 1, done.text
    assert re.search(r"error: expect_column_values_to_be_between of price: \d+ of \d+ rows", done.text)
    assert latest_run(lab)["id"] in done.text
    assert latest_run(lab)["state"] == "FAILED"
    assert failed_checks(lab) == {(WAREHOUSE_NAMESPACE, "sales/orders", "price")}
    if screenshots.UPDATE:
        with chromium() as browser, visiting(browser, lab.environment["LAB_LINEAGE"], key=lab.read_key) as visit:
            visit.open(node=f"dataset:{WAREHOUSE_NAMESPACE}:sales/supplier_stats")
            screenshots.take(visit, screenshots.SUSPECT)
    assert check(lab).status == 0
    assert failed_checks(lab) == set()


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"type": "expect_nonsense", "kwargs": {}}, "expect_nonsense not found"),
        ({"type": "expect_column_values_to_be_unique", "kwargs": {"colum": "price"}}, "extra fields not permitted"),
    ],
)
def test_a_rule_that_does_not_exist_is_an_error(lab, tmp_path, rule, words):
    """Great Expectations leaves it out with a line in its log, so that the others would pass."""
    good = {"type": "expect_table_row_count_to_be_between", "kwargs": {"min_value": 0}}
    (tmp_path / f"{TABLE_ORDERS}.json").write_text(json.dumps({"expectations": [good, rule]}))
    done = check(lab, tmp_path)
    assert (done.status, words in done.text) == (2, True), done.text
    assert check(lab).status == 0


def test_a_rule_that_cannot_be_evaluated_is_not_met(lab, tmp_path):
    rule = {"type": "expect_column_values_to_not_be_null", "kwargs": {"column": "no_such_column"}}
    (tmp_path / f"{TABLE_ORDERS}.json").write_text(json.dumps({"expectations": [rule]}))
    done = check(lab, tmp_path)
    assert done.status != 0
    assert "no_such_column" in done.text
    assert latest_run(lab)["state"] == "FAILED"
    assert check(lab).status == 0


def test_a_batch_run_reports_the_nulls_that_it_wrote(lab):
    assert lab.lab("run", "supplier_stats").status == 0
    jobs = lab.api(f"/api/v1/namespaces/{JOB_NAMESPACE}/jobs", limit=1000)["jobs"]
    (run,) = [job["latestRun"]["id"] for job in jobs if job["name"].endswith(".lake_sales_supplier_stats")]
    (end,) = [e for e in lab.api("/api/v1/events/lineage", run=run)["events"] if e["eventType"] == "COMPLETE"]
    (written,) = end["outputs"]
    found = written["outputFacets"]["lineageLab_writtenNulls"]
    table = lab.table(TABLE_SUPPLIER_STATS)
    assert found["columns"] == {name: table.column(name).null_count for name in table.column_names}
    assert found["rowCount"] == written["outputFacets"]["outputStatistics"]["rowCount"]
