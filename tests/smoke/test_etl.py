# SPDX-License-Identifier: Apache-2.0
"""Streaming ETL of a real lab, killed, stopped and restarted while the shop writes."""

import os
import random
import signal
import subprocess
import threading
from collections import Counter

import psutil
import pytest

from infra.namespaces import JOB_NAMESPACE, JOB_ORDERS_ETL
from infra.project import PROJECT
from infra.services.overview import enabled_features
from lineage.checks.contract import compare, load
from lineagelab_spark.driver_settings import OPEN_RUNS
from tests.smoke.delivery import await_delivery
from tests.smoke.etl_tables import await_etl
from tests.smoke.test_lab import until

pytestmark = [pytest.mark.smoke, pytest.mark.slow]

DRIVER_MODULE = "jobs.spark.orders_etl"
KILLS = 5
MAX_PAUSE_SECONDS = 8.0
TERMINAL = {"COMPLETE", "FAIL", "ABORT"}
OPEN = {"NEW", "RUNNING"}


def etl_launcher(lab):
    """Return the launcher of the driver, once the supervisor has started it."""
    until(lab, lambda: lab.supervisor.state(JOB_ORDERS_ETL).pid)
    return psutil.Process(lab.supervisor.state(JOB_ORDERS_ETL).pid)


def kill_one_process(lab, chance):
    """Kill launcher, driver or JVM, as far as they have started; return the process id of the launcher.

    Not the shells and short-lived tools that start the JVM: the driver does not notice the end of one.
    """
    killed = []

    def kill():
        launcher = etl_launcher(lab)
        try:
            victim = chance.choice([launcher, *filter(is_part_of_driver, launcher.children(recursive=True))])
            victim.kill()
        except psutil.NoSuchProcess:  # it ended meanwhile, as after the kill before
            return False
        print(f"killed {victim}")
        killed.append(launcher.pid)
        return True

    until(lab, kill)
    return killed[0]


def is_part_of_driver(process):
    try:
        arguments = process.cmdline()
    except psutil.NoSuchProcess:  # also a zombie: its parent has not waited for it yet
        return False
    return DRIVER_MODULE in arguments or any(name.startswith("org.apache.spark.") for name in arguments)


def etl_runs(lab):
    return lab.api(f"/api/v1/namespaces/{JOB_NAMESPACE}/jobs/{JOB_ORDERS_ETL}/runs", limit=100)["runs"]


def test_each_order_is_in_one_table_once_after_five_driver_kills(lab):
    """Kill a random process of the driver at random times: in a batch, between two table commits, at start."""
    chance = random.Random(5)
    known = {run["id"] for run in etl_runs(lab)}
    written = len(lab.stores.rows("orders"))
    with lab.running_shop():
        for _ in range(KILLS):
            threading.Event().wait(chance.uniform(0, MAX_PAUSE_SECONDS))
            before = kill_one_process(lab, chance)
            until(lab, lambda killed=before: lab.supervisor.state(JOB_ORDERS_ETL).pid not in {0, killed})
        until(lab, lambda: {run["id"] for run in etl_runs(lab)} - known)
        until(lab, lambda: len(lab.stores.rows("orders")) > written + 200)
    assert [each.differences for each in await_delivery(lab.stores).values()] == [[], []]
    assert await_etl(lab.stores).differences == []


def test_killed_drivers_leave_no_process(lab):
    own = lab.processes()
    drivers = [
        p for p in own if DRIVER_MODULE in p.info["cmdline"] and "lineagelab_spark.launch" not in p.info["cmdline"]
    ]
    assert len(drivers) == 1


def test_each_run_of_a_killed_driver_has_one_terminal_event(lab):
    latest, *earlier = sorted(etl_runs(lab), key=lambda run: run["startedAt"], reverse=True)
    assert latest["state"] in OPEN
    assert earlier
    assert [run["state"] for run in earlier if run["state"] in OPEN] == []
    ended = Counter(
        event["run"]["runId"]
        for event in lab.api("/api/v1/events/lineage", limit=1000)["events"]
        if event["job"]["name"] == JOB_ORDERS_ETL and event.get("eventType") in TERMINAL
    )
    assert set(ended.values()) <= {1}


def test_lineage_matches_the_contract_after_driver_kills(lab):
    contract = load((PROJECT / "jobs" / "lineage_contract.yaml").read_text())
    report = compare(contract, lab.graph(), enabled_features(lab.settings))
    assert report.is_complete, report.render_text()


def test_second_driver_and_the_first_never_write_an_order_twice(lab, tmp_path):
    """A second driver takes the tables over; the supervisor restarts the first one, which takes them back."""
    launcher = etl_launcher(lab)
    arguments, folder = launcher.cmdline(), launcher.cwd()
    # With the file of the first one, the second launcher would report the first one's run as that of a dead driver.
    environment = launcher.environ() | {OPEN_RUNS: str(tmp_path / "open-runs.json")}
    with lab.running_shop():
        second = subprocess.Popen(
            arguments, env=environment, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        try:
            output, _ = second.communicate(timeout=300)
        finally:
            if second.poll() is None:
                os.kill(second.pid, signal.SIGTERM)
                second.communicate(timeout=60)
        assert second.returncode == 1, output
        assert "another driver took it over (process " in output
    assert [each.differences for each in await_delivery(lab.stores).values()] == [[], []]
    assert await_etl(lab.stores).differences == []


def test_stop_aborts_the_run_and_start_opens_a_new_one(lab):
    before = etl_runs(lab)
    running = max(before, key=lambda run: run["startedAt"])["id"]
    assert lab.lab("stop", JOB_ORDERS_ETL).status == 0
    state = {run["id"]: run["state"] for run in etl_runs(lab)}
    assert state[running] == "ABORTED"
    graph = lab.graph()
    assert lab.lab("start", JOB_ORDERS_ETL).status == 0
    with lab.running_shop():
        until(lab, lambda: len(etl_runs(lab)) > len(before))
    await_delivery(lab.stores)
    assert await_etl(lab.stores).differences == []
    edges = ("edges", "columns")
    assert {key: lab.graph()[key] for key in edges} == {key: graph[key] for key in edges}
