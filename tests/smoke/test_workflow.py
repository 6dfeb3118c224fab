# SPDX-License-Identifier: Apache-2.0
"""`lab run nightly` on a real lab: maintenance, Spark, dbt and quality in one tree of runs."""

import pytest

from infra.namespaces import JOB_NAMESPACE
from infra.project import PROJECT
from infra.services.overview import enabled_features
from lineage.checks.contract import compare, load

pytestmark = [pytest.mark.smoke, pytest.mark.slow]


@pytest.fixture(scope="module")
def nightly(lab):
    done = lab.lab("run", "nightly")
    assert done.status == 0, done.text
    return done.text


def latest_run(lab, job):
    """Return the latest run of a job of the lab."""
    return lab.api(f"/api/v1/namespaces/{JOB_NAMESPACE}/jobs/{job}/runs", limit=1)["runs"][0]


def test_every_step_has_run_once_and_in_order(lab, nightly):
    took = [line.split()[0] for line in nightly.splitlines() if " took " in line]
    assert took == ["lake_maintenance", "supplier_stats", "dbt_build", "expect"]
    ended = [latest_run(lab, f"nightly.{step}") for step in took]
    assert {run["state"] for run in ended} == {"COMPLETED"}
    assert [run["startedAt"] for run in ended] == sorted(run["startedAt"] for run in ended)


def test_spark_dbt_and_quality_are_below_their_step_and_the_same_root(lab, nightly):
    root = latest_run(lab, "nightly")
    assert (root["state"], "parent" in root["facets"]) == ("COMPLETED", False)
    jobs = {job["name"] for job in lab.api(f"/api/v1/namespaces/{JOB_NAMESPACE}/jobs", limit=500)["jobs"]}
    application = latest_run(lab, "supplier_stats")["id"]
    writes = [name for name in jobs if name.startswith("supplier_stats.")]
    write = next(name for name in writes if latest_run(lab, name)["facets"]["parent"]["run"]["runId"] == application)
    model = next(name for name in jobs if name.endswith("fct_orders"))
    chains = [
        ("nightly.supplier_stats", "supplier_stats", write),
        ("nightly.dbt_build", "dbt_build", model),
        ("nightly.expect", "check.sales.orders"),
    ]
    for chain in chains:
        above = root
        for job in chain:
            run = latest_run(lab, job)
            parent = run["facets"]["parent"]
            assert parent["run"]["runId"] == above["id"], job
            assert parent["root"]["run"]["runId"] == root["id"], job
            assert root["startedAt"] <= run["startedAt"] <= run["endedAt"] <= root["endedAt"], job
            above = run


def test_a_task_that_is_run_alone_has_no_parent(lab, nightly):
    done = lab.lab("run", "supplier_stats")
    assert done.status == 0, done.text
    assert "parent" not in latest_run(lab, "supplier_stats")["facets"]


def test_the_lineage_still_matches_the_contract(lab, nightly):
    # Other tests of this lab have added a column, and run a modified copy of a job: the contract has neither.
    contract = load((PROJECT / "jobs" / "lineage_contract.yaml").read_text())
    findings = compare(contract, lab.graph(), enabled_features(lab.settings)).findings
    assert [f.line() for f in findings if "scratch" not in f.job and "currency" not in f.line()] == []


def test_an_unknown_job_is_named_with_the_existing_ones(lab):
    done = lab.lab("run", "weekly")
    assert done.status == 1
    assert "weekly" in done.text
    assert "supplier_stats" in done.text
