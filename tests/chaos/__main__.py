# SPDX-License-Identifier: Apache-2.0
"""Kills and restarts parts of a real lab while it runs, then counts: `python -m tests.chaos [--seed N] [--kills N]`.

Victims are the worker of Kafka Connect, the broker, the object store, the catalog and the driver of the ETL; what
happens to which, and when, depends on the seed alone. At the end the shop stops, what failed for good is restarted by
`lab up` as a user would, and each row of Postgres must be exactly one record, one row of the raw table, one line of the
archive, and each order exactly one row of exactly one of the ETL's tables.
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

from infra.namespaces import JOB_ORDERS_ETL, TOPICS
from tests.smoke.drain import AWAY, Arrived, drain
from tests.smoke.lab_under_test import LabUnderTest
from tests.smoke.sorted_orders import Sorted, await_sorted
from tests.stack_files import CHAOS

VICTIMS = ("connect", "kafka", "object_store", "iceberg_catalog", JOB_ORDERS_ETL)
WAYS = ("kill", "kill", "restart")
"""Twice as many are killed as are stopped in good order and started again."""

LONGEST_PAUSE_SECONDS = 12.0
BACK_SECONDS = 120
DRAIN_SECONDS = 240
FIRST_ROWS = 100


@dataclass(frozen=True)
class Blow:
    """What happens next.

    Attributes:
        pause: seconds to let the pipeline run before it.
        victim: a service of the lab.
        way: `kill` is SIGKILL; `restart` is a stop in good order and a start.
    """

    pause: float
    victim: str
    way: str


def blows(seed: int, count: int) -> Iterator[Blow]:
    """What happens in a run: a function of the seed. Some come while the last victim is still getting up."""
    dice = random.Random(f"chaos/{seed}")
    for _ in range(count):
        yield Blow(dice.uniform(0, LONGEST_PAUSE_SECONDS), dice.choice(VICTIMS), dice.choice(WAYS))


def deal(lab: LabUnderTest, blow: Blow) -> None:
    """Does it, and waits until there is a process of the victim again, ready or not."""
    _until(lambda: lab.supervisor.state(blow.victim).pid, f"{blow.victim} to be there")
    before = lab.supervisor.state(blow.victim).pid
    if blow.way == "kill":
        with suppress(psutil.NoSuchProcess):  # it was faster: it had not got up yet from the last blow
            psutil.Process(before).kill()
    else:
        lab.supervisor.stop(blow.victim)
        lab.supervisor.run(blow.victim)
    _until(lambda: lab.supervisor.state(blow.victim).pid not in {0, before}, f"{blow.victim} to be back")


def failed_connectors(lab: LabUnderTest) -> dict[str, str]:
    """Connectors that failed, or a task of which did, with the first line of its trace."""
    failed = {}
    for name, about in lab.places.connect("/connectors?expand=status").items():
        for part in [about["status"]["connector"], *about["status"]["tasks"]]:
            if part["state"] == "FAILED":
                failed[name] = part.get("trace", "").partition("\n")[0]
    return failed


def run(lab: LabUnderTest, seed: int, count: int) -> tuple[dict[str, Arrived], Sorted]:
    """Stands the lab up, deals the blows and counts.

    Raises:
        AssertionError: a command of the lab failed, or something did not come back.
    """
    _lab(lab, "up", "--no-pipeline")
    _until(lambda: _rows_in_the_lake(lab) >= FIRST_ROWS, "the first rows in the lake")
    for number, blow in enumerate(blows(seed, count), 1):
        threading.Event().wait(blow.pause)
        print(f"{number:3}  after {blow.pause:4.1f} s: {blow.way} {blow.victim}", flush=True)
        deal(lab, blow)
    _lab(lab, "stop", "shop")
    _until(lambda: _answers(lab), "Kafka Connect to answer")
    for name, why in failed_connectors(lab).items():
        print(f"     {name} failed for good, `lab up` restarts it: {why}")
    _lab(lab, "up", "--no-pipeline")
    _lab(lab, "stop", "shop")
    return drain(lab.places, DRAIN_SECONDS), await_sorted(lab.places, DRAIN_SECONDS)


def report(arrived: dict[str, Arrived], orders: Sorted) -> bool:
    """Prints what is where; says whether each row is everywhere, once."""
    print(f"the ETL: {orders.sound.total()} sound orders, {orders.rejected.total()} rejected ones")
    for difference in orders.differences:
        print(f"  WRONG: {difference}")
    for topic, each in arrived.items():
        print(
            f"{topic}: {len(each.rows)} rows in Postgres, {len(each.records)} records in Kafka, "
            f"{sum(each.lake.values())} rows in the lake, {sum(each.archive.values())} lines in the archive"
        )
        twice = sum(count - 1 for count in each.orders.values())
        for difference in [*each.differences, *([f"{twice} records too many in Kafka"] if twice else [])]:
            print(f"  WRONG: {difference}")
    once = all(not each.differences and len(each.records) == len(each.rows) for each in arrived.values())
    return once and not orders.differences


def main() -> int:
    """0 where every row is everywhere, once."""
    parser = argparse.ArgumentParser(prog="tests.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--stack", default=CHAOS)
    parser.add_argument("--keep", action="store_true", help="leave the lab as it is at the end")
    given = parser.parse_args()
    with LabUnderTest(given.stack).configured(keep=given.keep) as lab:
        whole = report(*run(lab, given.seed, given.kills))
    print(f"seed {given.seed}: each row is everywhere, once" if whole else f"seed {given.seed}: NOT each row once")
    return 0 if whole else 1


def _rows_in_the_lake(lab: LabUnderTest) -> int:
    try:
        return min(sum(lab.places.positions(topic).values()) for topic in TOPICS)
    except (*AWAY, NoSuchTableError):
        return 0


def _answers(lab: LabUnderTest) -> bool:
    try:
        return bool(lab.places.connect("/connectors"))
    except AWAY:
        return False


def _lab(lab: LabUnderTest, *words: str) -> None:
    ended = lab.lab(*words)
    assert ended.status == 0, ended.text


def _until(true: Callable[[], bool], what: str, seconds: float = BACK_SECONDS) -> None:
    deadline, waiter = time.monotonic() + seconds, threading.Event()
    while not true():
        assert time.monotonic() < deadline, f"{what}: not in {seconds} s"
        waiter.wait(0.2)


if __name__ == "__main__":
    sys.exit(main())
