# SPDX-License-Identifier: Apache-2.0
"""Flink's jobs in a real lab: cancelled, and with their cluster killed, while the shop goes on writing.

Everything is counted again from the topic, by Kafka's client and PyIceberg. The order of the tests matters.
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
    JOB_SUPPLIER_WINDOWS,
    JOBS,
    TABLE_LIVE_ORDERS,
    TABLE_LIVE_SUPPLIER_STATS,
    TOPIC_ORDERS,
    TOPIC_SUPPLIER_WINDOWS,
)
from infra.services.flink.settings import JOBMANAGER
from infra.services.spark.jobs import LIVE_STATISTICS
from infra.settings import seconds
from tests.smoke.drain import drain
from tests.smoke.live_orders import compare, told_of, topic_of
from tests.smoke.test_first_light import until

pytestmark = [pytest.mark.smoke, pytest.mark.slow]

FLINK_JOBS = (JOB_ICEBERG_INGESTION, JOB_SUPPLIER_WINDOWS)
MORE_ORDERS = 300
ABORTED_SECONDS = 30
"""A few seconds on a quiet machine."""

RECOVERY_SECONDS = 180
TERMINAL = {"COMPLETE", "FAIL", "ABORT"}


@pytest.fixture
def shop(lab):
    """Lets the shop write, and ends that."""
    assert lab.lab("start", "shop").status == 0
    yield lab
    lab.lab("stop", "shop")


def flink(lab, path, method="GET"):
    """An answer of Flink's REST API."""
    answer = httpx.request(method, lab.environment["LAB_FLINK"] + path, timeout=20, trust_env=False)
    return answer.raise_for_status().json()


def running_jobs(lab):
    """The ids of the jobs all of whose tasks run, by name; none while the cluster does not answer."""
    try:
        jobs = flink(lab, "/jobs/overview")["jobs"]
    except httpx.HTTPError:
        return {}
    return {
        job["name"]: job["jid"]
        for job in jobs
        if job["state"] == "RUNNING" and job["tasks"]["running"] == job["tasks"]["total"]
    }


def counted(lab, job_id, metric):
    """A counter, over all operators of a job."""
    total = 0.0
    for vertex in flink(lab, f"/jobs/{job_id}")["vertices"]:
        path = f"/jobs/{job_id}/vertices/{vertex['id']}/subtasks/metrics"
        names = [one["id"] for one in flink(lab, path) if one["id"].endswith(f".{metric}")]
        if names:
            total += sum(one["sum"] for one in flink(lab, f"{path}?get={','.join(names)}&agg=sum"))
    return int(total)


def runs(lab, job):
    """The states of a job's runs, the latest first."""
    found = lab.api(f"/api/v1/namespaces/{JOBS}/jobs/{job}/runs", limit=100)["runs"]
    return [run["state"] for run in sorted(found, key=lambda run: run["startedAt"], reverse=True)]


def lineage_of(lab, jobs=FLINK_JOBS):
    """The edges of jobs, between datasets and between columns."""
    graph = lab.graph()
    return {kind: [edge for edge in graph[kind] if edge["job"]["name"] in jobs] for kind in ("edges", "columns")}


def orders(lab):
    return topic_of(lab.places.records(TOPIC_ORDERS))


def check_lineage(lab):
    ended = lab.lab("verify")
    assert ended.status == 0, ended.text


def check_lake(lab):
    """Each sound order is in the table that Flink writes, once; what comes twice comes with the next checkpoint."""
    wanted = orders(lab).ids
    until(lab, lambda: wanted.keys() <= lab.ids(TABLE_LIVE_ORDERS).keys(), seconds=RECOVERY_SECONDS)
    threading.Event().wait(1.5 * seconds(lab.settings.flink_checkpoint_every))
    assert lab.ids(TABLE_LIVE_ORDERS) == wanted


def check_windows(lab):
    """What was told of each closed window is true but for orders that came late, and Flink has counted those."""
    deadline = time.monotonic() + RECOVERY_SECONDS
    while True:
        compared = compare(orders(lab), told_of(lab.places.records(TOPIC_SUPPLIER_WINDOWS)))
        late = counted(lab, running_jobs(lab)[JOB_SUPPLIER_WINDOWS], "orders_late")
        if (compared.missing == late and not compared.differences) or time.monotonic() > deadline:
            break
        threading.Event().wait(2)
    assert compared.differences == ()
    assert compared.missing == late


def write_more(lab):
    """Waits until the shop has written more orders, then stops it and lets them come to Kafka."""
    grown = len(lab.places.rows(TOPIC_ORDERS)) + MORE_ORDERS
    until(lab, lambda: len(lab.places.rows(TOPIC_ORDERS)) >= grown)
    assert lab.lab("stop", "shop").status == 0
    assert [each.differences for each in drain(lab.places).values()] == [[], []]


def test_both_jobs_run_and_their_lineage_is_as_the_contract_says(lab):
    assert running_jobs(lab).keys() == set(FLINK_JOBS)
    assert [runs(lab, job)[0] for job in FLINK_JOBS] == ["RUNNING", "RUNNING"]
    check_lineage(lab)


def test_flink_has_each_sound_order_once_and_every_window(lab):
    assert [each.differences for each in drain(lab.places).values()] == [[], []]
    check_lake(lab)
    check_windows(lab)


def test_a_cancelled_job_is_aborted_keeps_its_lineage_and_comes_back_with_the_next_up(shop):
    lab, before, earlier = shop, lineage_of(shop), runs(shop, JOB_ICEBERG_INGESTION)
    job_id = running_jobs(lab)[JOB_ICEBERG_INGESTION]
    flink(lab, f"/jobs/{job_id}?mode=cancel", method="PATCH")
    until(lab, lambda: runs(lab, JOB_ICEBERG_INGESTION)[0] == "ABORTED", seconds=ABORTED_SECONDS)
    until(lab, lambda: not lab.supervisor.state(JOB_ICEBERG_INGESTION).running)
    assert lineage_of(lab) == before
    check_lineage(lab)

    ended = lab.lab("up", "--no-pipeline")
    assert ended.status == 0, ended.text
    assert running_jobs(lab)[JOB_ICEBERG_INGESTION] != job_id
    until(lab, lambda: runs(lab, JOB_ICEBERG_INGESTION) == ["RUNNING", "ABORTED", *earlier[1:]])
    assert lineage_of(lab) == before
    check_lineage(lab)
    write_more(lab)
    check_lake(lab)


def test_a_killed_jobmanager_costs_no_order_and_no_lineage(shop):
    lab, before, old = shop, lineage_of(shop), running_jobs(shop)
    earlier = {job: runs(lab, job)[1:] for job in FLINK_JOBS}
    psutil.Process(lab.supervisor.state(JOBMANAGER).pid).kill()

    def are_back():
        new = running_jobs(lab)
        return new.keys() == old.keys() and not set(new.values()) & set(old.values())

    until(lab, are_back, seconds=RECOVERY_SECONDS)
    for job in FLINK_JOBS:
        wanted = ["RUNNING", "ABORTED", *earlier[job]]
        until(lab, lambda job=job, wanted=wanted: runs(lab, job) == wanted)
    assert lineage_of(lab) == before
    check_lineage(lab)
    write_more(lab)
    check_lake(lab)
    check_windows(lab)


def test_no_run_has_ended_in_two_ways(lab):
    ends = defaultdict(set)
    for event in lab.api("/api/v1/events/lineage", limit=1000)["events"]:
        if event["job"]["name"] in FLINK_JOBS and event.get("eventType") in TERMINAL:
            ends[event["run"]["runId"]].add(event["eventType"])
    assert len(ends) == sum(state == "ABORTED" for job in FLINK_JOBS for state in runs(lab, job))
    assert set(map(frozenset, ends.values())) == {frozenset({"ABORT"})}


def test_spark_makes_the_same_statistics_of_what_flink_wrote(lab):
    ended = lab.lab("run", LIVE_STATISTICS)
    assert ended.status == 0, ended.text
    prices = defaultdict(list)
    for row in lab.table(TABLE_LIVE_ORDERS).to_pylist():
        prices[row["supplier"], row["bid_time"].date(), row["bid_time"].hour].append(row["price"])
    rows = lab.table(TABLE_LIVE_SUPPLIER_STATS).to_pylist()
    assert Counter((row["supplier"], row["bid_date"], row["bid_hour"]) for row in rows) == Counter(prices.keys())
    found = {
        (row["supplier"], row["bid_date"], row["bid_hour"]): (row["total_price"], row["total_count"]) for row in rows
    }
    assert found == {hour: (sum(made, Decimal(0)), len(made)) for hour, made in prices.items()}
    check_lineage(lab)
