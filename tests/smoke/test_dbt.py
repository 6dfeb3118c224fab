# SPDX-License-Identifier: Apache-2.0
"""dbt project on the lake of a real lab: what readers see while it is built, killed builds, and its lineage."""

import subprocess
import threading
import time

import psutil
import pytest

from infra.namespaces import (
    JOB_DBT_BUILD,
    JOB_NAMESPACE,
    MARTS_SCHEMA,
    POSTGRES_NAMESPACE,
    TABLE_ORDERS,
    WAREHOUSE_NAMESPACE,
)
from tests.stack.polling import HANGING_SECONDS

pytestmark = [pytest.mark.smoke, pytest.mark.slow]

FACTS = f"{MARTS_SCHEMA}.fct_orders"
REVENUE = f"{MARTS_SCHEMA}.revenue_by_supplier_and_hour"


def order_ids(lab, table):
    return set(lab.table(table).column("order_id").to_pylist())


def dbt_processes(lab):
    return [process for process in lab.processes() if "lineagelab_dbt" in process.info["cmdline"]]


def state_of(lab, job):
    return lab.api(f"/api/v1/namespaces/{JOB_NAMESPACE}/jobs/{job}")["latestRun"]["state"]


def test_marts_have_every_order_once(lab):
    done = lab.lab("run", JOB_DBT_BUILD)
    assert done.status == 0, done.text
    facts = lab.order_counts(FACTS)
    assert set(facts.values()) == {1}
    # orders_etl may have committed a batch since.
    assert set(facts) <= order_ids(lab, TABLE_ORDERS)
    revenue = sum(lab.table(REVENUE).column("revenue").to_pylist())
    assert revenue == sum(lab.table(FACTS).column("price").to_pylist())


def test_readers_see_whole_tables_while_they_are_built(lab):
    expected = len(order_ids(lab, FACTS))
    ended, seen = threading.Event(), []

    def read():
        while not ended.is_set():
            seen.append(lab.table(FACTS).num_rows)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for _ in range(2):
            assert lab.lab("run", JOB_DBT_BUILD).status == 0
    finally:
        ended.set()
        reader.join()
    assert len(seen) > 10
    assert min(seen) >= expected
    assert max(seen) <= len(order_ids(lab, TABLE_ORDERS))


def test_a_killed_build_leaves_whole_tables_and_the_next_one_is_complete(lab):
    before = order_ids(lab, FACTS)
    with subprocess.Popen(**lab.command("run", JOB_DBT_BUILD)) as command:
        deadline = time.monotonic() + HANGING_SECONDS
        # Its first model is running, or has ended.
        while state_of(lab, JOB_DBT_BUILD) != "RUNNING":
            assert command.poll() is None
            assert time.monotonic() < deadline
        (process,) = dbt_processes(lab)
        process.kill()
        assert command.wait(HANGING_SECONDS) != 0
    assert order_ids(lab, FACTS) >= before
    done = lab.lab("run", JOB_DBT_BUILD)
    assert done.status == 0, done.text
    assert set(lab.order_counts(FACTS).values()) == {1}
    assert state_of(lab, JOB_DBT_BUILD) == "COMPLETED"
    assert [
        run["state"] for run in lab.api(f"/api/v1/namespaces/{JOB_NAMESPACE}/jobs/{JOB_DBT_BUILD}/runs")["runs"][:2]
    ] == [
        "COMPLETED",
        "ABORTED",
    ]
    assert not any(psutil.pid_exists(process.pid) for process in dbt_processes(lab))


def test_a_stopped_build_is_aborted(lab):
    with subprocess.Popen(**lab.command("run", JOB_DBT_BUILD)) as command:
        while state_of(lab, JOB_DBT_BUILD) != "RUNNING":
            assert command.poll() is None
        assert lab.lab("stop", JOB_DBT_BUILD).status == 0
        assert command.wait(HANGING_SECONDS) != 0
    assert state_of(lab, JOB_DBT_BUILD) == "ABORTED"
    assert lab.lab("run", JOB_DBT_BUILD).status == 0


def test_revenue_comes_from_the_price_in_postgres(lab):
    node = f"datasetField:{WAREHOUSE_NAMESPACE}:{REVENUE.replace('.', '/')}:revenue"
    found = lab.api("/api/v1/origin", nodeId=node, depth=20)
    columns = {(each["namespace"], each["name"], each["field"]) for each in found["columns"]}
    assert (POSTGRES_NAMESPACE, "shop.public.orders", "price") in columns


def test_the_lineage_matches_the_contract(lab):
    done = lab.lab("verify")
    assert done.status == 0, done.text
    assert f"job     {JOB_DBT_BUILD}." not in done.text  # each job of the project is listed
