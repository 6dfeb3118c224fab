# SPDX-License-Identifier: Apache-2.0
"""Freshness of the lake in a real lab: seconds from a record's timestamp in Kafka to the commit of its row.

The commit time is that of the Iceberg snapshot, from which readers see the row. Timestamps are read with independent
clients after the pipeline has processed the records, so that reading does not affect it.
"""

import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pyarrow.parquet
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation

from infra.namespaces import TABLE_ORDERS, TOPIC_ORDERS
from tests.bench.figures import Figures, quantile
from tests.bench.partial_lab import snapshot_rows
from tests.smoke.etl_tables import await_etl
from tests.smoke.lab_under_test import LabUnderTest
from tests.smoke.stores import PipelineStores
from tests.stack_files import BENCH

ROWS = 1_000
FILL_TIMEOUT = 600


def measure(figures: Figures, folder: Path, rounds: int) -> None:
    """Start a lab with `lab up` and measure `rounds` thousand rows of records written after that."""
    with LabUnderTest(BENCH).configured() as lab:
        _run_lab_command(lab, "up")
        ages = _row_ages(lab, rounds * ROWS)
    name = f"record in Kafka to row in {TABLE_ORDERS}"
    for part, what in ((0.5, "p50"), (0.99, "p99"), (0.0, "lowest"), (1.0, "highest")):
        figures.add(f"{name}: {what}", "s", quantile(ages, part))
    figures.remark(f"{name}: {len(ages):,} rows of a lab with default settings except ports")


def row_ages(written: Mapping[str, int], visible: Mapping[str, int], since: int) -> list[float]:
    """Return the seconds from each order's first record to its row.

    Args:
        written: time of the first record by order, in milliseconds since the epoch.
        visible: time of the row's commit by order, of those orders that have a row.
        since: records written before are excluded, because they waited for the start of the ETL.
    """
    return [(visible[order] - at) / 1000 for order, at in written.items() if at >= since and order in visible]


def first_records(stores: PipelineStores) -> dict[str, int]:
    """Return the time of each order's first record in the topic, in milliseconds since the epoch.

    Raises:
        KafkaException: the broker does not respond.
    """
    first: dict[str, int] = {}
    for record in stores.records(TOPIC_ORDERS):
        first[record.key] = min(record.timestamp, first.get(record.key, record.timestamp))
    return first


def first_commits(table: Table) -> dict[str, int]:
    """Return the commit time of each order's row, in milliseconds since the epoch; rewritten rows are excluded."""
    appends = {
        snapshot.snapshot_id: snapshot.timestamp_ms
        for snapshot in table.metadata.snapshots
        if snapshot.summary is not None and snapshot.summary.operation is Operation.APPEND
    }
    visible: dict[str, int] = {}
    for entry in table.inspect.entries().select(["snapshot_id", "data_file"]).to_pylist():
        if entry["snapshot_id"] in appends:
            with table.io.new_input(entry["data_file"]["file_path"]).open() as file:
                orders = pyarrow.parquet.read_table(file, columns=["order_id"])["order_id"].to_pylist()
            visible |= dict.fromkeys(orders, appends[entry["snapshot_id"]])
    return visible


def _row_ages(lab: LabUnderTest, wanted: int) -> list[float]:
    since = time.time_ns() // 1_000_000
    _await_rows(lab, wanted)
    _run_lab_command(lab, "stop", "shop")
    if wrong := await_etl(lab.stores).differences:
        raise RuntimeError(f"the ETL output of stack {BENCH} is wrong: {'; '.join(wrong)}")
    found = row_ages(first_records(lab.stores), first_commits(lab.stores.iceberg_table(TABLE_ORDERS)), since)
    if len(found) < wanted:
        raise RuntimeError(f"{TABLE_ORDERS} has {len(found)} rows to measure instead of {wanted}")
    return found


def _await_rows(lab: LabUnderTest, more: int) -> None:
    """Wait until the table has `more` rows besides those of records written before now."""
    deadline, waiter = time.monotonic() + FILL_TIMEOUT, threading.Event()
    written = len(first_records(lab.stores))
    while (found := snapshot_rows(lab.stores.iceberg_table(TABLE_ORDERS))) < written + more:
        if time.monotonic() > deadline:
            raise RuntimeError(f"{TABLE_ORDERS} has {found} rows after {FILL_TIMEOUT} s, expected {written + more}")
        waiter.wait(1)


def _run_lab_command(lab: LabUnderTest, *words: str) -> None:
    ended = lab.lab(*words)
    if ended.status != 0:
        raise RuntimeError(f"lab {' '.join(words)} --stack {BENCH} failed:\n{ended.text}")
