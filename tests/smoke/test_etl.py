# SPDX-License-Identifier: Apache-2.0
"""The streaming ETL of a real lab: killed, stopped and started again while the shop goes on writing."""

import random
import threading
from collections import Counter

import psutil
import pytest

from infra.namespaces import JOB_ORDERS_ETL, JOBS
from infra.project import PROJECT
from infra.services.overview import features
from lineage.checks.contract import compare, load
from tests.smoke.drain import drain
from tests.smoke.sorted_orders import await_sorted
from tests.smoke.test_first_light import owned, until

pytestmark = [pytest.mark.smoke, pytest.mark.slow]

KILLS = 5
LONGEST_PAUSE_SECONDS = 8.0
TERMINAL = {"COMPLETE", "FAIL", "ABORT"}
OPEN = {"NEW", "RUNNING"}


def processes_of_the_etl(lab):
    """Launcher, driver and JVM, in this order, once the JVM is there."""
    launcher = psutil.Process(lab.supervisor.state(JOB_ORDERS_ETL).pid)
    return [launcher, *launcher.children(recursive=True)]


def runs_of_the_etl(lab):
    return lab.api(f"/api/v1/namespaces/{JOBS}/jobs/{JOB_ORDERS_ETL}/runs", limit=100)["runs"]


def test_each_order_is_in_one_table_once_after_five_kills_of_the_driver(lab):
    """Any of its processes may be hit, at any moment: in a batch, between the tables' commits, while it starts."""
    chance = random.Random(5)
    known = {run["id"] for run in runs_of_the_etl(lab)}
    assert lab.lab("start", "shop").status == 0
    written = len(lab.places.rows("orders"))
    for number in range(KILLS):
        threading.Event().wait(chance.uniform(0, LONGEST_PAUSE_SECONDS))
        until(lab, lambda: lab.supervisor.state(JOB_ORDERS_ETL).pid)
        before = lab.supervisor.state(JOB_ORDERS_ETL).pid
        victim = chance.choice(processes_of_the_etl(lab))
        print(f"kill {number}: {victim}")
        victim.kill()
        until(lab, lambda killed=before: lab.supervisor.state(JOB_ORDERS_ETL).pid not in {0, killed})
    until(lab, lambda: {run["id"] for run in runs_of_the_etl(lab)} - known, seconds=300)
    until(lab, lambda: len(lab.places.rows("orders")) > written + 200)
    assert lab.lab("stop", "shop").status == 0
    assert [each.differences for each in drain(lab.places).values()] == [[], []]
    assert await_sorted(lab.places).differences == []


def test_no_process_of_a_killed_driver_is_left(lab):
    own = [p for p in psutil.process_iter(["environ", "cmdline"]) if owned(p, lab)]
    drivers = [
        p
        for p in own
        if "jobs.spark.orders_etl" in p.info["cmdline"] and "lineagelab_spark.launch" not in p.info["cmdline"]
    ]
    assert len(drivers) == 1


def test_every_run_of_a_killed_driver_is_closed_once(lab):
    latest, *earlier = sorted(runs_of_the_etl(lab), key=lambda run: run["startedAt"], reverse=True)
    assert latest["state"] in OPEN
    assert earlier
    assert [run["state"] for run in earlier if run["state"] in OPEN] == []
    ended = Counter(
        event["run"]["runId"]
        for event in lab.api("/api/v1/events/lineage", limit=1000)["events"]
        if event["job"]["name"] == JOB_ORDERS_ETL and event.get("eventType") in TERMINAL
    )
    assert set(ended.values()) <= {1}


def test_the_lineage_is_as_the_contract_says_after_kills(lab):
    contract = load((PROJECT / "jobs" / "lineage_contract.yaml").read_text())
    report = compare(contract, lab.graph(), features(lab.settings))
    assert report.ok, report.render_text()


def test_a_stop_ends_the_run_and_a_start_begins_another(lab):
    before = runs_of_the_etl(lab)
    running = max(before, key=lambda run: run["startedAt"])["id"]
    assert lab.lab("stop", JOB_ORDERS_ETL).status == 0
    state = {run["id"]: run["state"] for run in runs_of_the_etl(lab)}
    assert state[running] == "ABORTED"
    graph = lab.graph()
    assert lab.lab("start", JOB_ORDERS_ETL).status == 0
    assert lab.lab("start", "shop").status == 0
    until(lab, lambda: len(runs_of_the_etl(lab)) > len(before), seconds=300)
    assert lab.lab("stop", "shop").status == 0
    drain(lab.places)
    assert await_sorted(lab.places).differences == []
    edges = ("edges", "columns")
    assert {key: lab.graph()[key] for key in edges} == {key: graph[key] for key in edges}
