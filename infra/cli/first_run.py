# SPDX-License-Identifier: Apache-2.0
"""First run of a new lab's pipeline: waits for rows and commits, runs the statistics, checks the lineage."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import httpx

from infra.cli.console import out
from infra.cli.stack import Stack
from infra.cli.tasks import run_task
from infra.cli.verification import compare_with_contract
from infra.errors import LabError, ServiceError
from infra.http_client import client_for
from infra.namespaces import (
    JOB_DBT_BUILD,
    JOB_ENRICHED_ORDERS,
    JOB_ICEBERG_INGESTION,
    JOB_ORDERS_ETL,
    JOB_PRICE_FORECAST,
    JOB_SUPPLIER_FEATURES,
    JOB_SUPPLIER_STATS,
    TABLE_LIVE_ORDERS,
    TABLE_ORDERS,
    TABLE_ORDERS_REJECTED,
    TOPIC_ORDERS,
)
from infra.services.dbt import settings as dbt
from infra.services.definition import FULL
from infra.services.flink.settings import FlinkSettings
from infra.services.forecast import settings as forecast
from infra.services.overview import enabled_features
from infra.services.shop.writer import ShopSettings
from infra.services.spark import medallion
from infra.services.spark.jobs import LIVE_STATISTICS
from infra.settings import Settings
from lineage.checks.contract import Report

MAX_REQUIRED_ROWS = 100
MAX_WRITE_SECONDS = 20
"""Rows to wait for before the pipeline is checked: at most these, and at most those of this many seconds."""

FORECAST_ORDERS = 400
"""Accepted orders to wait for before the features of the forecast are computed, so that it can be trained."""

ROWS_TIMEOUT = 120
COMMIT_TIMEOUT = 180
LINEAGE_TIMEOUT = 60
"""Seconds on a slow machine until rows are in the topic, a job has committed them, and lineage has arrived."""

POLL_INTERVAL = 0.2
"""Seconds between two reads of a condition."""

_NOT_FOUND = 404

T = TypeVar("T")


def first_run(stack: Stack, endpoints: Mapping[str, str], settings: Settings) -> None:
    """Run the pipeline and check its lineage; does nothing if the lineage already matches the contract.

    Raises:
        LabError: rows, commits or lineage did not arrive in time, or the lineage differs from the contract.
        ServiceError: a job failed.
    """

    def compared() -> Report:
        headers = stack.lineage_authorization()
        return compare_with_contract(endpoints["lineage"], enabled_features(settings), headers=headers)

    if compared().ok:
        out.print(f"the lineage already matches its contract; to run the statistics: bin/lab run {JOB_SUPPLIER_STATS}")
        return
    rows = _await_rows(stack, endpoints["kafka"], required_rows(settings.section(ShopSettings).shop_rate))
    out.print(f"topic {TOPIC_ORDERS} has {rows} rows; waiting for them to pass through the pipeline")
    if settings.profile == FULL:
        _run_statistics(stack, endpoints["iceberg_catalog"], settings)
    report = _await_lineage(compared)
    out.print(report.render_text(), markup=False)
    if not report.ok:
        raise LabError("the lineage differs from jobs/lineage_contract.yaml, see above")


@dataclass(frozen=True)
class PipelineBranch:
    """Streaming job, the tables that it writes, and the task that computes statistics from them."""

    job: str
    tables: tuple[str, ...]
    task: str


def _run_statistics(stack: Stack, catalog: str, settings: Settings) -> None:
    """Run the task of each branch as soon as its job has committed rows, in order of the commits."""
    pending = [PipelineBranch(JOB_ORDERS_ETL, (TABLE_ORDERS, TABLE_ORDERS_REJECTED), JOB_SUPPLIER_STATS)]
    if settings.section(FlinkSettings).flink:
        pending.append(PipelineBranch(JOB_ICEBERG_INGESTION, (TABLE_LIVE_ORDERS,), LIVE_STATISTICS))
    while pending:
        started = time.monotonic()
        branch, rows = _await_commit(stack, catalog, pending)
        out.print(f"  {branch.job} {time.monotonic() - started:.1f} s, {rows} rows")
        _run(stack, branch.task)
        pending.remove(branch)
    if medallion.included(settings):
        _run(stack, JOB_ENRICHED_ORDERS)
    if dbt.included(settings):
        _run(stack, JOB_DBT_BUILD)
    if forecast.included(settings):
        _await_orders(catalog, FORECAST_ORDERS)
        _run(stack, JOB_SUPPLIER_FEATURES)
        _run(stack, JOB_PRICE_FORECAST)


def _run(stack: Stack, task: str) -> None:
    out.print(f"  {task}", end=" ")
    out.print(f"{run_task(stack.runtime, task):.1f} s")


def required_rows(rows_per_second: float) -> int:
    """Return the number of rows to wait for; fewer if the shop writes slowly."""
    return max(1, min(MAX_REQUIRED_ROWS, int(rows_per_second * MAX_WRITE_SECONDS)))


def count_rows(table: Mapping[str, Any]) -> int:
    """Return the row count of a table from its response of an Iceberg REST catalog; 0 without a current snapshot."""
    metadata = table["metadata"]
    current = metadata.get("current-snapshot-id")
    for snapshot in metadata.get("snapshots") or ():
        if snapshot["snapshot-id"] == current:
            return int(snapshot["summary"].get("total-records", 0))
    return 0


def _await_rows(stack: Stack, bootstrap: str, required: int) -> int:
    """Wait until the topic has the required rows; return their number."""
    # Imported here, because only the first run of a lab needs it.
    from confluent_kafka import Consumer, KafkaException, TopicPartition

    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "lab-up", **stack.kafka_login()})
    try:
        numbers = consumer.list_topics(TOPIC_ORDERS, timeout=10).topics[TOPIC_ORDERS].partitions
        partitions = [TopicPartition(TOPIC_ORDERS, number) for number in numbers]

        def count() -> int:
            offsets = [consumer.get_watermark_offsets(partition, timeout=10) for partition in partitions]
            return sum(high - low for low, high in offsets)

        rows = _poll(count, lambda rows: rows >= required, ROWS_TIMEOUT)
    except KafkaException as error:
        raise LabError(f"cannot count the rows of topic {TOPIC_ORDERS} at {bootstrap}: {error}") from error
    finally:
        consumer.close()
    if rows < required:
        raise LabError(f"the shop wrote {rows} of {required} rows within {ROWS_TIMEOUT} s; see: bin/lab logs shop")
    return rows


def _await_commit(stack: Stack, catalog: str, branches: Sequence[PipelineBranch]) -> tuple[PipelineBranch, int]:
    """Wait until one of the branches has rows in its tables; return the branch and the number of rows."""

    def largest() -> tuple[PipelineBranch, int]:
        counts = [(branch, sum(_committed_rows(catalog, table) for table in branch.tables)) for branch in branches]
        return max(counts, key=lambda counted: counted[1])

    try:
        branch, rows = _poll(largest, lambda counted: counted[1] > 0, COMMIT_TIMEOUT)
    except httpx.HTTPError as error:
        raise LabError(f"cannot read tables from the catalog at {catalog}: {error}") from error
    if not rows:
        log = f"{stack.runtime.log_location(branch.job)}:\n{stack.runtime.log_tail(branch.job)}"
        raise ServiceError(f"{branch.job} committed no rows within {COMMIT_TIMEOUT} s. Last lines of its log, {log}")
    return branch, rows


def _await_orders(catalog: str, required: int) -> None:
    """Wait until the table of accepted orders has the rows."""
    rows = _poll(partial(_committed_rows, catalog, TABLE_ORDERS), lambda rows: rows >= required, COMMIT_TIMEOUT)
    if rows < required:
        raise LabError(
            f"table {TABLE_ORDERS} has {rows} rows after {COMMIT_TIMEOUT} s; {JOB_PRICE_FORECAST} needs {required}: "
            "repeat `up` later, or set a higher lineage-lab:shopRate"
        )


def _committed_rows(catalog: str, table: str) -> int:
    namespace, name = table.split(".")
    response = client_for(catalog).get(f"{catalog}/v1/namespaces/{namespace}/tables/{name}", timeout=10)
    return 0 if response.status_code == _NOT_FOUND else count_rows(response.raise_for_status().json())


def _await_lineage(compared: Callable[[], Report]) -> Report:
    """Wait until the lineage matches the contract, because jobs send events asynchronously; return the last report."""
    return _poll(compared, lambda report: report.ok, LINEAGE_TIMEOUT)


def _poll(read: Callable[[], T], is_sufficient: Callable[[T], bool], timeout: float) -> T:
    """Return the first sufficient value, or the last one read before the timeout (seconds)."""
    waiter, deadline = threading.Event(), time.monotonic() + timeout
    while True:
        value = read()
        if is_sufficient(value) or time.monotonic() > deadline:
            return value
        waiter.wait(POLL_INTERVAL)
