# SPDX-License-Identifier: Apache-2.0
"""How old an order is when the lake shows it, in a real lab: a record's time in Kafka to the commit of its row.

The commit is the snapshot's `committed_at`: from then on whoever reads the table sees the row. Looked at with other
people's clients, when all is over, so that looking costs the pipeline nothing.
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
FILL_SECONDS = 600


def measure(figures: Figures, folder: Path, rounds: int) -> None:
    """A lab as `lab up` makes it; `rounds` thousand rows that came after that."""
    with LabUnderTest(BENCH).configured() as lab:
        _run(lab, "up")
        ages = _ages(lab, rounds * ROWS)
    name = f"record in Kafka to row in {TABLE_ORDERS}"
    for part, what in ((0.5, "p50"), (0.99, "p99"), (0.0, "least"), (1.0, "most")):
        figures.add(f"{name}: {what}", "s", quantile(ages, part))
    figures.remark(f"{name}: {len(ages):,} rows of a lab with no settings but its ports")


def ages(written: Mapping[str, int], visible: Mapping[str, int], since: int) -> list[float]:
    """Seconds from each order's first record to its row.

    Args:
        written: milliseconds since the epoch by order.
        visible: the same, of those orders that have a row.
        since: leaves out what was written before: it waited for the ETL to start.
    """
    return [(visible[order] - at) / 1000 for order, at in written.items() if at >= since and order in visible]


def first_records(bootstrap: str) -> dict[str, int]:
    """When each order of the topic was first written, in milliseconds since the epoch.

    Raises:
        KafkaException: the broker does not answer.
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
                raise KafkaException(KafkaError(KafkaError._TIMED_OUT, f"{TOPIC_ORDERS}: nothing came for 20 s"))
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
    """When each order's row was committed, in milliseconds since the epoch; rows that were rewritten are left out."""
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


def _ages(lab: LabUnderTest, wanted: int) -> list[float]:
    since = time.time_ns() // 1_000_000
    _await_rows(lab, wanted)
    _run(lab, "stop", "shop")
    if wrong := await_etl(lab.stores).differences:
        raise RuntimeError(f"the ETL of stack {BENCH} is not right: {'; '.join(wrong)}")
    found = ages(first_records(lab.environment["LAB_KAFKA"]), first_commits(_orders(lab)), since)
    if len(found) < wanted:
        raise RuntimeError(f"{wanted} rows of {TABLE_ORDERS} were to be looked at, and {len(found)} are there")
    return found


def _await_rows(lab: LabUnderTest, more: int) -> None:
    """Waits until the table has so many more rows, and as many more as may be of records written before now."""
    deadline, waiter = time.monotonic() + FILL_SECONDS, threading.Event()
    written = len(first_records(lab.environment["LAB_KAFKA"]))
    while (found := _rows(lab)) < written + more:
        if time.monotonic() > deadline:
            raise RuntimeError(f"{TABLE_ORDERS} has {found} rows after {FILL_SECONDS} s, and was to have {more} more")
        waiter.wait(1)


def _rows(lab: LabUnderTest) -> int:
    snapshot = _orders(lab).current_snapshot()
    if snapshot is None or snapshot.summary is None:
        return 0
    return int(snapshot.summary["total-records"] or 0)


def _orders(lab: LabUnderTest) -> Table:
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


def _run(lab: LabUnderTest, *words: str) -> None:
    ended = lab.lab(*words)
    if ended.status != 0:
        raise RuntimeError(f"lab {' '.join(words)} --stack {BENCH} failed:\n{ended.text}")
