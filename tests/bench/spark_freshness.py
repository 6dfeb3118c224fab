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
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from pyiceberg.catalog import load_catalog
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation

from infra.namespaces import TABLE_ORDERS, TOPIC_ORDERS
from tests.bench.figures import Figures, quantile
from tests.smoke.etl_tables import await_etl
from tests.smoke.lab_under_test import LabUnderTest
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


def first_records(bootstrap: str) -> dict[str, int]:
    """Return the time of each order's first record in the topic, in milliseconds since the epoch.

    Raises:
        KafkaException: the broker does not respond.
    """
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "bench",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
        }
    )
    first: dict[str, int] = {}
    try:
        partitions = consumer.list_topics(TOPIC_ORDERS, timeout=10).topics[TOPIC_ORDERS].partitions
        consumer.assign([TopicPartition(TOPIC_ORDERS, number, 0) for number in partitions])
        open_partitions = len(partitions)
        while open_partitions:
            message = consumer.poll(20)
            if message is None:
                raise KafkaException(
                    KafkaError(KafkaError._TIMED_OUT, f"no record of {TOPIC_ORDERS} received for 20 s")
                )
            if message.error() is None:
                order, at = message.key().decode(), message.timestamp()[1]
                first[order] = min(at, first.get(order, at))
            elif message.error().code() == KafkaError._PARTITION_EOF:
                open_partitions -= 1
            else:
                raise KafkaException(message.error())
    finally:
        consumer.close()
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
    found = row_ages(first_records(lab.environment["LAB_KAFKA"]), first_commits(_orders_table(lab)), since)
    if len(found) < wanted:
        raise RuntimeError(f"{TABLE_ORDERS} has {len(found)} rows to measure instead of {wanted}")
    return found


def _await_rows(lab: LabUnderTest, more: int) -> None:
    """Wait until the table has `more` rows besides those of records written before now."""
    deadline, waiter = time.monotonic() + FILL_TIMEOUT, threading.Event()
    written = len(first_records(lab.environment["LAB_KAFKA"]))
    while (found := _count_rows(lab)) < written + more:
        if time.monotonic() > deadline:
            raise RuntimeError(f"{TABLE_ORDERS} has {found} rows after {FILL_TIMEOUT} s, expected {written + more}")
        waiter.wait(1)


def _count_rows(lab: LabUnderTest) -> int:
    snapshot = _orders_table(lab).current_snapshot()
    if snapshot is None or snapshot.summary is None:
        return 0
    return int(snapshot.summary["total-records"] or 0)


def _orders_table(lab: LabUnderTest) -> Table:
    environment = lab.environment
    catalog = load_catalog(
        "lake",
        **{
            "type": "rest",
            "uri": environment["LAB_ICEBERG_CATALOG"],
            "s3.endpoint": environment["AWS_ENDPOINT_URL_S3"],
            "s3.access-key-id": environment["AWS_ACCESS_KEY_ID"],
            "s3.secret-access-key": environment["AWS_SECRET_ACCESS_KEY"],
            "s3.region": environment["AWS_REGION"],
        },
    )
    return catalog.load_table(TABLE_ORDERS)


def _run_lab_command(lab: LabUnderTest, *words: str) -> None:
    ended = lab.lab(*words)
    if ended.status != 0:
        raise RuntimeError(f"lab {' '.join(words)} --stack {BENCH} failed:\n{ended.text}")
