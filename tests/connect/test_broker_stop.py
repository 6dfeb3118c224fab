# SPDX-License-Identifier: Apache-2.0
"""A restart of the broker leaves no transaction open that its coordinator has completed.

Consumers with `read_committed` never get past such a transaction, and Connect's worker, which is one, never starts.
"""

import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from infra.catalog import LabSettings
from infra.services.kafka import BROKER, NAME, kafka_service
from infra.toolchain import Artifacts
from tests.connect import processes

LOAD = Path(__file__).parent / "TransactionLoad.java"

TOPIC, PARTITIONS = "rows", 7
STOPS = 4
"""A stop of Kafka 4.3.1 left an open transaction about every second time (KAFKA-20734)."""

MIN_ROWS = 1000
POLL_SECONDS = 0.2
NO_LEADER = -1
STARTING = {KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.UNKNOWN_LEADER_EPOCH, KafkaError.LEADER_NOT_AVAILABLE}
"""Errors of a broker that is taking over the leadership of its partitions."""
TIMEOUT_SECONDS = 180
"""Time limit for the broker to abort the transactions of killed producers; it looks for them every 10 s."""


def end_offsets(admin, level):
    """Return the end of each partition for readers of an isolation level."""
    partitions = {TopicPartition(TOPIC, number): OffsetSpec.latest() for number in range(PARTITIONS)}
    while True:
        answers = admin.list_offsets(partitions, isolation_level=level)
        try:
            return {partition.partition: answer.result(timeout=30).offset for partition, answer in answers.items()}
        except KafkaException as error:
            if error.args[0].code() not in STARTING:
                raise
            time.sleep(POLL_SECONDS)


def has_leaders(admin):
    """Return whether each partition has a leader: a broker has them shortly after it accepts connections."""
    partitions = admin.list_topics(TOPIC, timeout=30).topics[TOPIC].partitions
    return len(partitions) == PARTITIONS and all(found.leader != NO_LEADER for found in partitions.values())


def rows(admin):
    return sum(end_offsets(admin, IsolationLevel.READ_UNCOMMITTED).values())


def has_open_transaction(admin):
    return end_offsets(admin, IsolationLevel.READ_COMMITTED) != end_offsets(admin, IsolationLevel.READ_UNCOMMITTED)


def until(holds):
    """Wait until a function returns true; return False if it does not in time."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


@contextmanager
def transactions(address, folder):
    """Commit transactions in another process, which is killed at the end."""
    libraries = Path(Artifacts.open().component(NAME)) / "lib" / "*"
    options = ("-Xmx128m", f"-Djava.io.tmpdir={folder}")
    command = ["java", *options, "-cp", str(libraries), str(LOAD), address, TOPIC, str(PARTITIONS)]
    load = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        load.kill()
        load.wait()


@contextmanager
def running(broker, site):
    """Run the broker until all partitions have a leader and beyond; return process and a new client.

    A client that knows the state before a restart rejects the answers after it.
    """
    with processes.running(broker, site) as started:
        admin = AdminClient({"bootstrap.servers": str(site.address(NAME, BROKER.name)), "log_level": 0})
        if TOPIC not in admin.list_topics(timeout=30).topics:
            admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])[TOPIC].result()
        assert until(lambda: has_leaders(admin))
        yield started, admin


def test_a_stopped_broker_leaves_no_open_transaction(tmp_path, ports):
    site = processes.local_site(tmp_path, ports, NAME)
    broker = kafka_service(site, LabSettings(kafka_heap_mib=256))
    for stop in range(STOPS):
        with running(broker, site) as (started, admin):
            before = rows(admin)
            with transactions(str(site.address(NAME, BROKER.name)), tmp_path):
                assert until(lambda admin=admin, before=before: rows(admin) > before + MIN_ROWS), "the producers write"
                started.stop()
        with running(broker, site) as (_, admin):
            closed = until(lambda admin=admin: not has_open_transaction(admin))
        assert closed, f"a transaction that its coordinator has completed is still open after stop {stop + 1}"
