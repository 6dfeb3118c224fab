# SPDX-License-Identifier: Apache-2.0
"""Fault injection in a real lab, followed by a count: `python -m tests.chaos [--seed N] [--kills N]`.

Faults hit the Kafka Connect worker, the broker, the object store, the catalog and the driver of the ETL; which one, how
and when depends only on the seed. At the end the shop stops, `lab up` restarts failed connectors, and each row of
Postgres must be exactly one record, one row of the raw table and one line of the archive, and each order exactly one
row of exactly one of the ETL's tables.
"""

import argparse
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

import psutil
from pyiceberg.exceptions import NoSuchTableError

from infra.namespaces import JOB_ORDERS_ETL, SHOP_TOPICS
from tests.smoke.delivery import STORE_ERRORS, Delivery, await_delivery
from tests.smoke.etl_tables import EtlTables, await_etl
from tests.smoke.lab_under_test import LabUnderTest
from tests.stack_files import CHAOS

SERVICES = ("connect", "kafka", "object_store", "iceberg_catalog", JOB_ORDERS_ETL)
KINDS = ("kill", "kill", "restart")
"""Kinds of faults by weight: two kills for each graceful restart."""

MAX_PAUSE_SECONDS = 12.0
RESTART_SECONDS = 120
DELIVERY_SECONDS = 240
FIRST_ROWS = 100


@dataclass(frozen=True)
class Fault:
    """One injected fault.

    Attributes:
        pause: seconds before the fault.
        service: name of the service that is hit.
        kind: `kill` is SIGKILL; `restart` is a graceful stop and a start.
    """

    pause: float
    service: str
    kind: str


def faults(seed: int, count: int) -> Iterator[Fault]:
    """Yield the faults of a run, determined by the seed. Some hit while the previous service is still starting."""
    dice = random.Random(f"chaos/{seed}")
    for _ in range(count):
        yield Fault(dice.uniform(0, MAX_PAUSE_SECONDS), dice.choice(SERVICES), dice.choice(KINDS))


def inject(lab: LabUnderTest, fault: Fault) -> None:
    """Inject a fault and wait until the service has a new process, ready or not."""
    _wait_until(lambda: lab.supervisor.state(fault.service).pid, f"{fault.service} to start")
    before = lab.supervisor.state(fault.service).pid
    if fault.kind == "kill":
        with suppress(psutil.NoSuchProcess):  # exited already, still starting after the previous fault
            psutil.Process(before).kill()
    else:
        lab.supervisor.stop(fault.service)
        lab.supervisor.run(fault.service)
    _wait_until(lambda: lab.supervisor.state(fault.service).pid not in {0, before}, f"{fault.service} to restart")


def failed_connectors(lab: LabUnderTest) -> dict[str, str]:
    """Return failed connectors, or those with a failed task, with the first line of the stack trace."""
    failed = {}
    for name, about in lab.stores.connect("/connectors?expand=status").items():
        for part in [about["status"]["connector"], *about["status"]["tasks"]]:
            if part["state"] == "FAILED":
                failed[name] = part.get("trace", "").partition("\n")[0]
    return failed


def run(lab: LabUnderTest, seed: int, count: int) -> tuple[dict[str, Delivery], EtlTables]:
    """Start the lab, inject the faults and count the results.

    Raises:
        AssertionError: a `lab` command failed, or a service did not recover.
    """
    _run_lab(lab, "up", "--no-pipeline")
    _wait_until(lambda: _lake_rows(lab) >= FIRST_ROWS, "the first rows in the lake")
    for number, fault in enumerate(faults(seed, count), 1):
        threading.Event().wait(fault.pause)
        print(f"{number:3}  after {fault.pause:4.1f} s: {fault.kind} {fault.service}", flush=True)
        inject(lab, fault)
    _run_lab(lab, "stop", "shop")
    _wait_until(lambda: _connect_responds(lab), "Kafka Connect to respond")
    for name, why in failed_connectors(lab).items():
        print(f"     {name} failed, to be restarted by `lab up`: {why}")
    _run_lab(lab, "up", "--no-pipeline")
    _run_lab(lab, "stop", "shop")
    return await_delivery(lab.stores, DELIVERY_SECONDS), await_etl(lab.stores, DELIVERY_SECONDS)


def report(deliveries: dict[str, Delivery], orders: EtlTables) -> bool:
    """Print the counts and return True if each row is in every store exactly once."""
    print(f"ETL: {orders.accepted.total()} accepted orders, {orders.rejected.total()} rejected")
    for difference in orders.differences:
        print(f"  WRONG: {difference}")
    for topic, each in deliveries.items():
        print(
            f"{topic}: {len(each.rows)} rows in Postgres, {len(each.records)} records in Kafka, "
            f"{sum(each.lake.values())} rows in the lake, {sum(each.archive.values())} lines in the archive"
        )
        twice = sum(count - 1 for count in each.orders.values())
        for difference in [*each.differences, *([f"{twice} surplus records in Kafka"] if twice else [])]:
            print(f"  WRONG: {difference}")
    once = all(not each.differences and len(each.records) == len(each.rows) for each in deliveries.values())
    return once and not orders.differences


def main() -> int:
    """Run the test; return 0 if every row is in every store exactly once."""
    parser = argparse.ArgumentParser(prog="tests.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--stack", default=CHAOS)
    parser.add_argument("--keep", action="store_true", help="keep the lab after the run")
    arguments = parser.parse_args()
    with LabUnderTest(arguments.stack).configured(keep=arguments.keep) as lab:
        complete = report(*run(lab, arguments.seed, arguments.kills))
    outcome = "each row is in every store exactly once" if complete else "rows are missing or duplicated"
    print(f"seed {arguments.seed}: {outcome}")
    return 0 if complete else 1


def _lake_rows(lab: LabUnderTest) -> int:
    try:
        return min(sum(lab.stores.positions(topic).values()) for topic in SHOP_TOPICS)
    except (*STORE_ERRORS, NoSuchTableError):
        return 0


def _connect_responds(lab: LabUnderTest) -> bool:
    try:
        return bool(lab.stores.connect("/connectors"))
    except STORE_ERRORS:
        return False


def _run_lab(lab: LabUnderTest, *words: str) -> None:
    result = lab.lab(*words)
    assert result.status == 0, result.text


def _wait_until(condition: Callable[[], bool], what: str, seconds: float = RESTART_SECONDS) -> None:
    deadline, waiter = time.monotonic() + seconds, threading.Event()
    while not condition():
        assert time.monotonic() < deadline, f"{what}: timed out after {seconds} s"
        waiter.wait(0.2)


if __name__ == "__main__":
    sys.exit(main())
