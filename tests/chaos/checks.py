# SPDX-License-Identifier: Apache-2.0
"""Checks after a chaos run, made with clients of the stores that are not the lab's."""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from infra.namespaces import JOB_NAMESPACE, TABLE_LIVE_ORDERS, TOPIC_ORDERS, TOPIC_SUPPLIER_WINDOWS
from infra.settings import duration_seconds
from tests.smoke.delivery import Delivery, await_delivery
from tests.smoke.etl_tables import await_etl
from tests.smoke.expected_windows import compare_windows, emitted_windows, valid_orders
from tests.smoke.lab_under_test import LabUnderTest
from tests.stack.polling import HANGING_SECONDS

TERMINAL = frozenset({"COMPLETE", "FAIL", "ABORT"})
OPEN_STATES = frozenset({"NEW", "RUNNING"})
EVENTS_PER_PAGE = 1000


@dataclass(frozen=True)
class Check:
    """Result of one check.

    Attributes:
        name: the statement that was checked.
        counts: what was counted.
        differences: deviations, one line of text each; none if the statement is true.
    """

    name: str
    counts: Mapping[str, int] = field(default_factory=dict)
    differences: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.differences


def check_lab(lab: LabUnderTest) -> list[Check]:
    """Check a lab whose shop is stopped and whose services and jobs all run."""
    deliveries = await_delivery(lab.stores)
    checks = [_delivery(topic, each) for topic, each in deliveries.items()]
    return [*checks, _etl(lab), _flink_table(lab), _flink_windows(lab), _runs(lab), _contract(lab), _rebuild(lab)]


def _delivery(topic: str, found: Delivery) -> Check:
    surplus = sum(count - 1 for count in found.orders.values())
    return Check(
        f"each row of {topic} is once in topic, raw table and archive",
        {
            "rows in Postgres": len(found.rows),
            "records in Kafka": len(found.records),
            "rows in the raw table": sum(found.lake.values()),
            "lines in the archive": sum(found.archive.values()),
        },
        (*found.differences, *([f"{surplus} surplus records in Kafka"] if surplus else [])),
    )


def _etl(lab: LabUnderTest) -> Check:
    found = await_etl(lab.stores)
    return Check(
        "each order is in exactly one of the ETL's tables, once",
        {"accepted": found.accepted.total(), "rejected": found.rejected.total()},
        tuple(found.differences),
    )


def _flink_table(lab: LabUnderTest) -> Check:
    expected = valid_orders(lab.stores.records(TOPIC_ORDERS)).ids

    def counts() -> Counter[str]:
        return lab.order_counts(TABLE_LIVE_ORDERS)

    deadline, waiter = time.monotonic() + HANGING_SECONDS, threading.Event()
    while not expected.keys() <= counts().keys() and time.monotonic() < deadline:
        waiter.wait(1)
    waiter.wait(1.5 * duration_seconds(lab.settings.flink_checkpoint_every))  # a duplicate comes with a checkpoint
    found = counts()
    kinds = {
        "valid orders missing in Flink's table": expected.keys() - found.keys(),
        "orders more than once in Flink's table": {key for key, count in found.items() if count > 1},
        "orders of Flink's table that are not valid orders of the topic": found.keys() - expected.keys(),
    }
    differences = tuple(f"{len(keys)} {kind}, as {next(iter(keys))}" for kind, keys in kinds.items() if keys)
    return Check("Flink's table has each valid order once", {"orders": len(expected)}, differences)


def _flink_windows(lab: LabUnderTest) -> Check:
    """Compare windows with a recount. Flink's counter of late orders does not outlive a restart, so the orders missing
    in a window are compared with those that came late."""
    deadline, waiter = time.monotonic() + HANGING_SECONDS, threading.Event()
    while True:
        orders = valid_orders(lab.stores.records(TOPIC_ORDERS))
        comparison = compare_windows(orders, emitted_windows(lab.stores.records(TOPIC_SUPPLIER_WINDOWS)))
        if not comparison.differences or time.monotonic() > deadline:
            break
        waiter.wait(2)
    counts = {"windows": len(orders.windows), "late orders": comparison.missing}
    return Check("every closed Flink window equals a recount from the topic", counts, comparison.differences)


def _runs(lab: LabUnderTest) -> Check:
    found = [
        run
        for job in lab.api(f"/api/v1/namespaces/{JOB_NAMESPACE}/jobs", limit=EVENTS_PER_PAGE)["jobs"]
        for run in _pages(lab, f"/api/v1/namespaces/{JOB_NAMESPACE}/jobs/{job['name']}/runs", "runs")
    ]
    ends = defaultdict(set)
    for event in _pages(lab, "/api/v1/events/lineage", "events"):
        if event.get("eventType") in TERMINAL:
            ends[event["run"]["runId"]].add(event["eventType"])
    return runs_check(found, ends)


def runs_check(runs: Iterable[Mapping[str, Any]], ends: Mapping[str, set[str]]) -> Check:
    """Check that each ended run has one kind of terminal event and that each job has at most one open run.

    Two emitters may end a run, so events of the same type count as one.

    Args:
        runs: runs in Marquez's form, with `id`, `state` and `jobVersion` or `jobName`.
        ends: types of terminal events by run id.
    """
    differences, open_runs, count = [], Counter(), 0
    for run in runs:
        count += 1
        name = run.get("jobName") or run.get("jobVersion", {}).get("name", "")
        if run["state"] in OPEN_STATES:
            open_runs[name] += 1
            if ends.get(run["id"]):
                differences.append(f"run {run['id']} of {name} is open after {', '.join(sorted(ends[run['id']]))}")
        elif len(ends.get(run["id"], ())) != 1:
            types = ", ".join(sorted(ends.get(run["id"], ()))) or "none"
            differences.append(f"run {run['id']} of {name} is {run['state']}; its terminal events: {types}")
    differences += [f"{name} has {number} open runs" for name, number in open_runs.items() if number > 1]
    return Check("each ended run has exactly one kind of terminal event", {"runs": count}, tuple(differences))


def _contract(lab: LabUnderTest) -> Check:
    result = lab.lab("verify")
    lines = tuple(line for line in result.text.splitlines() if line.strip()) if result.status else ()
    return Check("the graph equals the contract", {}, lines)


def _rebuild(lab: LabUnderTest) -> Check:
    before = lab.graph()
    result = lab.lab("lineage", "rebuild")
    after = lab.graph()
    differences = [] if result.status == 0 else [result.text]
    differences += [f"{part} differ after the rebuild" for part in before if before[part] != after.get(part)]
    counts = {part: len(after[part]) for part in ("nodes", "edges", "columns") if part in after}
    return Check("the graph equals a rebuilt one", counts, tuple(differences))


def _pages(lab: LabUnderTest, path: str, key: str) -> Iterator[dict[str, Any]]:
    offset, total = 0, 1
    while offset < total:
        page = lab.api(path, limit=EVENTS_PER_PAGE, offset=offset)
        total = page["totalCount"]
        yield from page[key]
        offset += EVENTS_PER_PAGE
