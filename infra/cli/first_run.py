# SPDX-License-Identifier: Apache-2.0
"""The first run of a new lab's pipeline: rows in the topic, rows in the lake, statistics, and the right lineage."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx

from infra.cli.console import out
from infra.cli.stack import Stack
from infra.cli.tasks import run_task
from infra.cli.verification import report_on
from infra.errors import LabError, ServiceError
from infra.http_client import client
from infra.namespaces import (
    JOB_ICEBERG_INGESTION,
    JOB_ORDERS_ETL,
    JOB_SUPPLIER_STATS,
    TABLE_LIVE_ORDERS,
    TABLE_ORDERS,
    TABLE_ORDERS_REJECTED,
    TOPIC_ORDERS,
)
from infra.services.definition import FULL
from infra.services.flink.settings import FlinkSettings
from infra.services.overview import features
from infra.services.shop.writer import ShopSettings
from infra.services.spark.jobs import LIVE_STATISTICS
from infra.settings import Settings
from lineage.checks.contract import Report

FIRST_ROWS = 100
FIRST_ROWS_SECONDS = 20
ROWS_SECONDS = 120
COMMIT_SECONDS = 180
LINEAGE_SECONDS = 60
"""How long it may take on a slow machine: rows in the topic, in the lake, lineage at the service."""

POLL_SECONDS = 0.2

_NOT_FOUND = 404

T = TypeVar("T")


def first_run(lab: Stack, endpoints: Mapping[str, str], settings: Settings) -> None:
    """Lets the pipeline run where the lineage it leaves is not there yet, and checks it.

    Raises:
        LabError: rows, commits or lineage did not come in time, or the lineage is another one.
        ServiceError: a job failed.
    """
    if report_on(endpoints["lineage"], features(settings)).ok:
        out.print(f"the lineage matches its contract already; run it again with: lab run {JOB_SUPPLIER_STATS}")
        return
    rows = _await_rows(endpoints["kafka"], enough_rows(settings.section(ShopSettings).shop_rate))
    out.print(f"{rows} rows are in topic {TOPIC_ORDERS}; waiting until they have flowed through the pipeline")
    if settings.profile == FULL:
        _run_branches(lab, endpoints, settings)
    report = _await_lineage(endpoints["lineage"], features(settings))
    out.print(report.render_text(), markup=False)
    if not report.ok:
        raise LabError("the lineage that arrived is not what jobs/lineage_contract.yaml asks for")


@dataclass(frozen=True)
class Branch:
    """A job that runs on, the tables that it fills, and the task that reads them."""

    job: str
    tables: tuple[str, ...]
    task: str


def _run_branches(lab: Stack, endpoints: Mapping[str, str], settings: Settings) -> None:
    """Runs the task of each branch once there is something to read, whichever branch is first."""
    left = [Branch(JOB_ORDERS_ETL, (TABLE_ORDERS, TABLE_ORDERS_REJECTED), JOB_SUPPLIER_STATS)]
    if settings.section(FlinkSettings).flink:
        left.append(Branch(JOB_ICEBERG_INGESTION, (TABLE_LIVE_ORDERS,), LIVE_STATISTICS))
    while left:
        began = time.monotonic()
        branch, committed = _await_commit(lab, endpoints["iceberg_catalog"], left)
        out.print(f"  {branch.job} {time.monotonic() - began:.1f} s, {committed} rows")
        out.print(f"  {branch.task}", end=" ")
        out.print(f"{run_task(lab.runtime, branch.task):.1f} s")
        left.remove(branch)


def enough_rows(rate: float) -> int:
    """How many rows the first run waits for: some seconds' worth, so that a slow shop is waited for too."""
    return max(1, min(FIRST_ROWS, int(rate * FIRST_ROWS_SECONDS)))


def rows_of(table: Mapping[str, Any]) -> int:
    """The rows of a table, from what a REST catalog answers for it; 0 where nothing was committed yet."""
    metadata = table["metadata"]
    current = metadata.get("current-snapshot-id")
    for snapshot in metadata.get("snapshots") or ():
        if snapshot["snapshot-id"] == current:
            return int(snapshot["summary"].get("total-records", 0))
    return 0


def _await_rows(bootstrap: str, enough: int) -> int:
    """Waits until the shop has written its first rows, and returns how many there are."""
    from confluent_kafka import Consumer, KafkaException, TopicPartition  # of no use to a lab that has run already

    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "lab-up"})
    try:
        partitions = consumer.list_topics(TOPIC_ORDERS, timeout=10).topics[TOPIC_ORDERS].partitions
        places = [TopicPartition(TOPIC_ORDERS, number) for number in partitions]

        def rows() -> int:
            ends = [consumer.get_watermark_offsets(place, timeout=10) for place in places]
            return sum(high - low for low, high in ends)

        found = _poll(rows, lambda count: count >= enough, ROWS_SECONDS)
    except KafkaException as error:
        raise LabError(f"counting the rows of topic {TOPIC_ORDERS} at {bootstrap} failed: {error}") from error
    finally:
        consumer.close()
    if found < enough:
        raise LabError(f"the shop wrote fewer than {enough} rows in {ROWS_SECONDS} s; see: lab logs shop")
    return found


def _await_commit(lab: Stack, catalog: str, branches: Sequence[Branch]) -> tuple[Branch, int]:
    """Waits until the catalog has rows of one of the jobs, and returns which that is, and how many."""

    def committed() -> tuple[Branch, int]:
        return max(
            ((branch, sum(_rows(catalog, table) for table in branch.tables)) for branch in branches), key=_has_rows
        )

    try:
        branch, rows = _poll(committed, _has_rows, COMMIT_SECONDS)
    except httpx.HTTPError as error:
        raise LabError(f"asking the catalog at {catalog} for tables failed: {error}") from error
    if not rows:
        log = f"{lab.runtime.log_location(branch.job)}:\n{lab.runtime.log_tail(branch.job)}"
        raise ServiceError(f"{branch.job} committed no rows in {COMMIT_SECONDS} s. The end of its log, {log}")
    return branch, rows


def _has_rows(committed: tuple[Branch, int]) -> bool:
    return committed[1] > 0


def _rows(catalog: str, table: str) -> int:
    namespace, name = table.split(".")
    answer = client().get(f"{catalog}/v1/namespaces/{namespace}/tables/{name}", timeout=10)
    return 0 if answer.status_code == _NOT_FOUND else rows_of(answer.raise_for_status().json())


def _await_lineage(service: str, features: frozenset[str]) -> Report:
    """The report once it is good, else the last one. Jobs send their events beside their work."""
    return _poll(lambda: report_on(service, features), lambda report: report.ok, LINEAGE_SECONDS)


def _poll(ask: Callable[[], T], enough: Callable[[T], bool], seconds: float) -> T:
    """The first answer that is enough, or the last one before time was up."""
    waiter, deadline = threading.Event(), time.monotonic() + seconds
    while True:
        answer = ask()
        if enough(answer) or time.monotonic() > deadline:
            return answer
        waiter.wait(POLL_SECONDS)
