# SPDX-License-Identifier: Apache-2.0
"""Flink jobs of a real lab while the shop writes: cancelled, and after a kill of the JobManager.

Expected results are computed from the topic with a Kafka client and PyIceberg. The tests depend on their order.
"""

import threading
import time
from collections import Counter, defaultdict
from decimal import Decimal

import httpx
import psutil
import pytest

from infra.namespaces import (
    JOB_ICEBERG_INGESTION,
    JOB_NAMESPACE,
    JOB_SUPPLIER_WINDOWS,
    TABLE_LIVE_ORDERS,
    TABLE_LIVE_SUPPLIER_STATS,
    TOPIC_ORDERS,
    TOPIC_SUPPLIER_WINDOWS,
)
from infra.services.flink.settings import JOBMANAGER
from infra.services.spark.jobs import LIVE_STATISTICS
from infra.settings import duration_seconds
from tests.smoke.delivery import await_delivery
from tests.smoke.expected_windows import compare_windows, emitted_windows, valid_orders
from tests.smoke.test_lab import until
from tests.stack.polling import HANGING_SECONDS

pytestmark = [pytest.mark.smoke, pytest.mark.slow]

FLINK_JOBS = (JOB_ICEBERG_INGESTION, JOB_SUPPLIER_WINDOWS)
MORE_ORDERS = 300
TERMINAL = {"COMPLETE", "FAIL", "ABORT"}


@pytest.fixture
def shop(lab):
    """Run the shop for one test."""
    with lab.running_shop():
        yield lab


def flink(lab, path, method="GET"):
    """Return a response of Flink's REST API."""
    answer = httpx.request(method, lab.environment["LAB_FLINK"] + path, timeout=60, trust_env=False)
    return answer.raise_for_status().json()


def running_job_ids(lab):
    """Return the ids, by name, of the jobs whose tasks all run; none while the cluster is unavailable."""
    try:
        jobs = flink(lab, "/jobs/overview")["jobs"]
    except httpx.HTTPError:
        return {}
    return {
        job["name"]: job["jid"]
        for job in jobs
        if job["state"] == "RUNNING" and job["tasks"]["running"] == job["tasks"]["total"]
    }


def counter_sum(lab, job_id, metric):
    """Return the sum of a counter over all operators of a job."""
    total = 0.0
    for vertex in flink(lab, f"/jobs/{job_id}")["vertices"]:
        path = f"/jobs/{job_id}/vertices/{vertex['id']}/subtasks/metrics"
        names = [one["id"] for one in flink(lab, path) if one["id"].endswith(f".{metric}")]
        if names:
            total += sum(one["sum"] for one in flink(lab, f"{path}?get={','.join(names)}&agg=sum"))
    return int(total)


def run_states(lab, job):
    """Return the states of a job's runs, latest first."""
    found = lab.api(f"/api/v1/namespaces/{JOB_NAMESPACE}/jobs/{job}/runs", limit=100)["runs"]
    return [run["state"] for run in sorted(found, key=lambda run: run["startedAt"], reverse=True)]


def job_edges(lab, jobs=FLINK_JOBS):
    """Return the dataset and column edges of jobs."""
    graph = lab.graph()
    return {kind: [edge for edge in graph[kind] if edge["job"]["name"] in jobs] for kind in ("edges", "columns")}


def orders(lab):
    return valid_orders(lab.stores.records(TOPIC_ORDERS))


def assert_contract(lab):
    result = lab.lab("verify")
    assert result.status == 0, result.text


def assert_lake(lab):
    """Assert that Flink's table has each valid order once, also after the checkpoint that would add duplicates."""
    expected = orders(lab).ids
    until(lab, lambda: expected.keys() <= lab.order_counts(TABLE_LIVE_ORDERS).keys())
    threading.Event().wait(1.5 * duration_seconds(lab.settings.flink_checkpoint_every))
    assert lab.order_counts(TABLE_LIVE_ORDERS) == expected


def assert_windows(lab):
    """Assert that every closed window is correct except for the late orders that Flink has counted."""
    deadline = time.monotonic() + HANGING_SECONDS
    while True:
        comparison = compare_windows(orders(lab), emitted_windows(lab.stores.records(TOPIC_SUPPLIER_WINDOWS)))
        late = counter_sum(lab, running_job_ids(lab)[JOB_SUPPLIER_WINDOWS], "orders_late")
        if (comparison.missing == late and not comparison.differences) or time.monotonic() > deadline:
            break
        threading.Event().wait(2)
    assert comparison.differences == ()
    assert comparison.missing == late


def write_more_orders(lab):
    """Wait until the shop has written more orders, then stop it and wait for their delivery."""
    grown = len(lab.stores.rows(TOPIC_ORDERS)) + MORE_ORDERS
    until(lab, lambda: len(lab.stores.rows(TOPIC_ORDERS)) >= grown)
    assert lab.lab("stop", "shop").status == 0
    assert [each.differences for each in await_delivery(lab.stores).values()] == [[], []]


def test_both_jobs_run_and_match_the_contract(lab):
    assert running_job_ids(lab).keys() == set(FLINK_JOBS)
    assert [run_states(lab, job)[0] for job in FLINK_JOBS] == ["RUNNING", "RUNNING"]
    assert_contract(lab)


def test_flink_has_each_valid_order_once_and_every_window(lab):
    assert [each.differences for each in await_delivery(lab.stores).values()] == [[], []]
    assert_lake(lab)
    assert_windows(lab)


def test_cancelled_job_is_aborted_and_restarted_by_up(shop):
    lab, before, earlier = shop, job_edges(shop), run_states(shop, JOB_ICEBERG_INGESTION)
    job_id = running_job_ids(lab)[JOB_ICEBERG_INGESTION]
    flink(lab, f"/jobs/{job_id}?mode=cancel", method="PATCH")
    until(lab, lambda: run_states(lab, JOB_ICEBERG_INGESTION)[0] == "ABORTED")
    until(lab, lambda: not lab.supervisor.state(JOB_ICEBERG_INGESTION).running)
    assert job_edges(lab) == before
    assert_contract(lab)

    result = lab.lab("up", "--no-pipeline")
    assert result.status == 0, result.text
    assert running_job_ids(lab)[JOB_ICEBERG_INGESTION] != job_id
    until(lab, lambda: run_states(lab, JOB_ICEBERG_INGESTION) == ["RUNNING", "ABORTED", *earlier[1:]])
    assert job_edges(lab) == before
    assert_contract(lab)
    write_more_orders(lab)
    assert_lake(lab)


def test_jobmanager_kill_loses_no_order_and_no_lineage(shop):
    lab, before, old = shop, job_edges(shop), running_job_ids(shop)
    earlier = {job: run_states(lab, job)[1:] for job in FLINK_JOBS}
    psutil.Process(lab.supervisor.state(JOBMANAGER).pid).kill()

    def are_back():
        new = running_job_ids(lab)
        return new.keys() == old.keys() and not set(new.values()) & set(old.values())

    until(lab, are_back)
    for job in FLINK_JOBS:
        expected = ["RUNNING", "ABORTED", *earlier[job]]
        until(lab, lambda job=job, expected=expected: run_states(lab, job) == expected)
    assert job_edges(lab) == before
    assert_contract(lab)
    write_more_orders(lab)
    assert_lake(lab)
    assert_windows(lab)


def test_each_ended_run_has_one_kind_of_terminal_event(lab):
    ends = defaultdict(set)
    for event in lab.api("/api/v1/events/lineage", limit=1000)["events"]:
        if event["job"]["name"] in FLINK_JOBS and event.get("eventType") in TERMINAL:
            ends[event["run"]["runId"]].add(event["eventType"])
    assert len(ends) == sum(state == "ABORTED" for job in FLINK_JOBS for state in run_states(lab, job))
    assert set(map(frozenset, ends.values())) == {frozenset({"ABORT"})}


def test_spark_statistics_equal_the_orders_that_flink_wrote(lab):
    result = lab.lab("run", LIVE_STATISTICS)
    assert result.status == 0, result.text
    prices = defaultdict(list)
    for row in lab.table(TABLE_LIVE_ORDERS).to_pylist():
        prices[row["supplier"], row["bid_time"].date(), row["bid_time"].hour].append(row["price"])
    rows = lab.table(TABLE_LIVE_SUPPLIER_STATS).to_pylist()
    assert Counter((row["supplier"], row["bid_date"], row["bid_hour"]) for row in rows) == Counter(prices.keys())
    found = {
        (row["supplier"], row["bid_date"], row["bid_hour"]): (row["total_price"], row["total_count"]) for row in rows
    }
    assert found == {hour: (sum(made, Decimal(0)), len(made)) for hour, made in prices.items()}
    assert_contract(lab)
