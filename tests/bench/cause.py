# SPDX-License-Identifier: Apache-2.0
"""Benchmark of the cause of a wrong number: how soon a real lab's lineage shows it, beside a search without lineage.

Run by `make bench`; alone by `bin/lab bench --only cause`. Columns are added to a table of a running shop: time from
the commit in Postgres until the lineage has the version of the topic, and until it names the column as the cause. Then
the drift of `lab replay drift`, once all rows are in the lake: time of the answer, and of a script that bisects all
stores (`tests/bench/drift_bisection.py`).
"""

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg

from infra import credentials
from infra.cli.drift_variant import Drift
from infra.cli.drifting_shop import drift_for, shop_database
from infra.cli.lineage_cause import Period, cause_of
from infra.cli.lineage_client import dataset_path, get_json
from infra.cli.replay import METRIC, explain
from infra.cli.stack import Stack
from infra.namespaces import KAFKA_NAMESPACE, TOPIC_ORDERS
from infra.project import ENVIRONMENT_FILE
from infra.services.shop.tables import SCHEMA
from infra.toolchain import Artifacts
from tests.bench.drift_bisection import Bisection, Suspect
from tests.bench.figures import Figures, Goal, format_number, percentile_95, print_figures
from tests.bench.lifecycle import lab_command, measure_command, reset_stack, user_environment
from tests.smoke.stores import PipelineStores
from tests.stack_files import BENCH, stack_file

COLUMNS = 20
ORDERS = 600
BASELINE_SECONDS = 3600
POLL_SECONDS = 0.02
LIMIT_SECONDS = 120
VISIBLE = "commit in Postgres to version of the topic in the lineage"
NAMED = "commit in Postgres to cause named"
VISIBLE_GOAL = Goal(5)


def measure_added_column(figures: Figures, database: "psycopg.Connection", service: str, number: int) -> None:
    """Add a column to the shop's table of orders and wait until the lineage shows it, and names it as the cause."""
    column, since = f"measured_{number}", time.time_ns()
    database.execute(f"ALTER TABLE {SCHEMA}.{TOPIC_ORDERS} ADD COLUMN {column} text")
    committed = time.monotonic()
    figures.add(VISIBLE, "s", _seconds_until(lambda: column in fields_of_topic(service), committed))
    figures.add(NAMED, "s", _seconds_until(lambda: column in likely_columns(service, since), committed))


def fields_of_topic(service: str) -> set[str]:
    """Return the columns of the topic of orders in the lineage."""
    return {field["name"] for field in get_json(service, dataset_path(KAFKA_NAMESPACE, TOPIC_ORDERS))["fields"]}


def cause_since(service: str, since: int) -> dict[str, Any]:
    """Return what changed upstream of the metric from a time, ns since 1970, until now."""
    return cause_of(service, METRIC, Period(since - BASELINE_SECONDS * 10**9, since, time.time_ns()))


def likely_columns(service: str, since: int) -> set[str]:
    """Return the columns of the most likely cause of a change of the metric."""
    found = cause_since(service, since)
    return set(found["causes"][0]["columns"]) if found["likely"] else set()


def measure_drift(figures: Figures, lab: Stack, database: "psycopg.Connection") -> None:
    """Replay the drift, then search its cause with the lineage, and without it."""
    service, since = lab.endpoints()["lineage"], time.time_ns()
    drift_for(database, Drift.NEW_COLUMN, ORDERS)
    explain(lab, since)
    began = time.monotonic()
    found = cause_since(service, since)
    figures.add("cause by the lineage", "s", time.monotonic() - began)
    top = found["causes"][0]
    assert (top["kind"], top["node"]["name"]) == ("schema", TOPIC_ORDERS), top
    environment = credentials.read(lab.root / ENVIRONMENT_FILE)
    search = Bisection(PipelineStores(environment), environment["LAB_KAFKA"], lab.root / "services", since // 10**6)
    began = time.monotonic()
    suspects = search.suspects()
    figures.add("cause by bisection of all stores (machine time)", "s", time.monotonic() - began)
    figures.add("suspects of the bisection", "", len(suspects))
    figures.add("rank of the topic's schema among them", "", _rank(suspects))
    figures.remark(f"The bisection read {search.reads}.")


def _rank(suspects: list[Suspect]) -> int:
    """Return at which place the schema of the topic of orders is; behind the last one if it is not found."""
    places = (number for number, each in enumerate(suspects, 1) if each.place == TOPIC_ORDERS and "schema" in each.what)
    return next(places, len(suspects) + 1)


def _seconds_until(holds: Callable[[], bool], since: float) -> float:
    """Return the seconds from a time until a condition holds.

    Raises:
        SystemExit: it does not hold in time.
    """
    while not holds():
        if time.monotonic() - since > LIMIT_SECONDS:
            raise SystemExit(f"the lineage does not show the new column {LIMIT_SECONDS} s after its commit")
        time.sleep(POLL_SECONDS)
    return time.monotonic() - since


def measure(figures: Figures, lab: Stack, rounds: int) -> None:
    """Measure a running lab: the columns, then `rounds` drifts."""
    service = lab.endpoints()["lineage"]
    with shop_database(credentials.read(lab.root / ENVIRONMENT_FILE)) as database:
        for number in range(COLUMNS):
            measure_added_column(figures, database, service, number)
        for name, goal in ((VISIBLE, VISIBLE_GOAL), (NAMED, None)):
            figures.add(f"{name}: p95", "s", percentile_95(figures.by_name[name].values), goal)
        for _ in range(rounds):
            measure_drift(figures, lab, database)


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="replays of the drift")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every value to this file too")
    given = parser.parse_args()
    figures = Figures()
    with stack_file(BENCH):
        try:
            reset_stack(BENCH)
            measure_command(figures, "up to verified graph, warm", lab_command(BENCH, "up"), user_environment())
            measure(figures, Stack(BENCH, Artifacts.open()), given.rounds)
        finally:
            reset_stack(BENCH)
    print_figures(figures, given.json, f"{os.cpu_count()} CPUs, load {format_number(os.getloadavg()[0])} at the end")


if __name__ == "__main__":
    main()
