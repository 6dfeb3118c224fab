# SPDX-License-Identifier: Apache-2.0
"""Job `supplier_windows` on a real cluster, broker and registry: results, exactly-once output, column lineage."""

import io
import json
import random
import time
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import fastavro
import httpx
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from infra.catalog import LabSettings
from infra.namespaces import KAFKA_NAMESPACE
from infra.services import schema_registry
from infra.services.flink.jobs import DATASET_NAMESPACES, WINDOWS_COLUMNS, WINDOWS_COMPONENT
from infra.toolchain import Artifacts
from jobs.shop.orders import Mix, order
from lineagelab_flink.declared_columns import declaration
from lineagelab_flink.rest import FlinkClient
from tests.connect.processes import local_site, running
from tests.flink.flink_cluster import TASKMANAGER
from tests.flink.launched import ReportedLineage, until

KAFKA_SECONDS = 60
WINDOW_MS = 5000
TIME = {"type": "long", "logicalType": "timestamp-millis"}
ORDER = {
    "type": "record",
    "name": "Value",
    "namespace": "shop.public.orders",
    "fields": [
        {"name": "order_id", "type": "string"},
        *({"name": name, "type": ["null", "string"]} for name in ("item", "price", "supplier")),
        {"name": "bid_time", "type": ["null", TIME]},
    ],
}


@dataclass(frozen=True)
class Registry:
    """Client of a schema registry. `url` is the base URL of its API."""

    url: str

    def register(self, topic):
        """Register the schema of orders for a topic and return its id."""
        body = {"schema": json.dumps(ORDER)}
        answer = httpx.post(f"{self.url}/subjects/{topic}-value/versions", json=body, timeout=60, trust_env=False)
        return answer.raise_for_status().json()["id"]

    def schema(self, schema_id):
        answer = httpx.get(f"{self.url}/schemas/ids/{schema_id}", timeout=60, trust_env=False)
        return fastavro.parse_schema(json.loads(answer.raise_for_status().json()["schema"]))


@dataclass(frozen=True)
class Windows:
    """Job with its own input and output topics."""

    name: str
    broker: object
    registry: Registry
    rest: FlinkClient
    jar: Path

    @property
    def written(self):
        return f"{self.name}_out"

    def make_topics(self, partitions=1):
        self.broker.topic(self.name, partitions=partitions)
        self.broker.topic(self.written)

    def start(self, *options, parallelism=1):
        """Submit the job and return its id."""
        given = {
            "--name": self.name,
            "--bootstrap": self.broker.bootstrap,
            "--registry": self.registry.url,
            "--orders": self.name,
            "--windows": self.written,
        }
        arguments = [*(word for pair in given.items() for word in pair), *options]
        uploaded = self.rest.uploaded(self.jar.name) or self.rest.upload(self.jar, self.jar.name)
        self.rest.run(uploaded, {"programArgsList": arguments, "parallelism": parallelism})
        return next(job.job_id for name, job in self.rest.jobs() if name == self.name)

    def produce(self, orders, partitions=1):
        """Produce orders in the format of the shop's connector, round-robin over the partitions."""
        header = b"\0" + self.registry.register(self.name).to_bytes(4, "big")
        producer = Producer({"bootstrap.servers": self.broker.bootstrap, "linger.ms": 0})
        for number, sold in enumerate(orders):
            datum = io.BytesIO()
            fastavro.schemaless_writer(datum, ORDER, vars(sold))
            producer.produce(self.name, header + datum.getvalue(), partition=number % partitions)
        assert producer.flush(KAFKA_SECONDS) == 0

    def records(self):
        """Return key and value of every committed record."""
        settings = {
            "bootstrap.servers": self.broker.bootstrap,
            "group.id": "reader",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
        consumer = Consumer(settings)
        try:
            consumer.assign([TopicPartition(self.written, 0, 0)])
            found = []
            while (record := consumer.poll(KAFKA_SECONDS)) is not None and not record.error():
                found.append((record.key().decode(), self._decoded(record.value())))
            assert record is not None, f"topic {self.written} does not end"
            return found
        finally:
            consumer.close()

    def _decoded(self, value):
        assert value[0] == 0
        return fastavro.schemaless_reader(
            io.BytesIO(value[5:]), self.registry.schema(int.from_bytes(value[1:5], "big"))
        )


@pytest.fixture(scope="module")
def registry(tmp_path_factory, ports):
    site = local_site(tmp_path_factory.mktemp("registry"), ports, schema_registry.NAME)
    with running(schema_registry.schema_registry_service(site, LabSettings()), site):
        address = site.address(schema_registry.NAME, schema_registry.API.name)
        yield Registry(address.url + schema_registry.CONFLUENT_API)


@pytest.fixture(scope="module")
def jar():
    (built,) = (Artifacts.open().component(WINDOWS_COMPONENT) / "lib").glob("*.jar")
    return built


@pytest.fixture
def windows(broker, registry, rest, jar):
    """Factory of jobs; running ones are cancelled after the test."""
    made = []

    def make(name):
        made.append(Windows(name, broker, registry, rest, jar))
        return made[-1]

    yield make
    names = {one.name for one in made}
    for name, job in rest.jobs():
        if name in names and job.ended is None:
            rest.cancel(job.job_id)


def test_each_window_is_emitted_once_across_a_taskmanager_failure(flink, windows, name):
    start = (int(time.time()) - 600) * 1000 // WINDOW_MS * WINDOW_MS
    first, second = sold(start, range(300)), sold(start, range(300, 600))
    job = windows(name)
    job.make_topics(partitions=2)

    job.produce(first, partitions=2)
    job.broker.produce(job.name, [b"no Avro", b"\0\0\0\0\1", None])
    job_id = job.start(parallelism=2)
    until(job.records, "the first windows")
    flink.restart(TASKMANAGER)
    job.produce(second, partitions=2)
    job.produce([replace(first[0], bid_time=start + 120_000)] * 2, partitions=2)

    expected = recomputed([*first, *second])
    until(lambda: len(job.records()) >= len(expected), "all windows")
    records = job.records()
    assert dict(records) == expected
    assert len(records) == len(expected)
    bad = sum(price(one) is None for one in (*first, *second))
    # The cluster collects metrics periodically.
    until(lambda: counted(job.rest, job_id, "orders_bad_price") == bad, f"{bad} bad prices to be counted")
    assert counted(job.rest, job_id, "orders_late") == 0


def test_declared_columns_match_the_effect_of_each_field(windows, name):
    start = (int(time.time()) - 600) * 1000 // WINDOW_MS * WINDOW_MS
    orders = [one for one in sold(start, range(40)) if price(one) is not None]
    changes = {
        "order_id": lambda one: replace(one, order_id=one.order_id[::-1]),
        "item": lambda one: replace(one, item=one.item + "s"),
        "price": lambda one: replace(one, price="1" + one.price),
        "supplier": lambda one: replace(one, supplier=one.supplier + "s"),
        "bid_time": lambda one: replace(one, bid_time=one.bid_time + WINDOW_MS),
    }
    assert set(changes) == {field["name"] for field in ORDER["fields"]}

    before = rows(windows(f"{name}_unchanged"), orders)
    for field, change in changes.items():
        after = rows(windows(f"{name}_{field}"), [change(one) for one in orders])
        assert len(after) == len(before)
        pairs = zip(before, after, strict=True)
        changed = {column for was, now in pairs for column in was if was[column] != now[column]}
        assert changed == flows_of(field), field


def test_the_listener_reports_topics_without_schemas(windows, service, name):
    job = windows(name)
    rows(job, sold(int(time.time() * 1000) - 60_000, range(3)))

    reported = ReportedLineage(service.url, name)
    reported.await_states("COMPLETED")
    # Other JVMs send the start and the end.
    (began,) = until(lambda: [event for event in reported.events() if event["eventType"] == "START"], "the start")
    datasets = [*began["inputs"], *began["outputs"]]
    assert [(one["namespace"], one["name"]) for one in datasets] == [
        (KAFKA_NAMESPACE, job.name),
        (KAFKA_NAMESPACE, job.written),
    ]
    assert not [one for one in datasets if "schema" in one.get("facets", {})]


def sold(start, numbers):
    """Return orders of the shop, ten per second: some invalid, out of order within the watermark's bound."""
    mix = Mix(error_rate=0.1, late_rate=0)
    rng = random.Random(7)
    return [order(mix, number, start + number * 100 - rng.randrange(2000)) for number in numbers]


def price(one):
    """Parse the price as DECIMAL(10, 2); return None if it is invalid or out of range."""
    try:
        value = Decimal(one.price)
    except ArithmeticError:
        return None
    return value if value.is_finite() and abs(value) < 10**8 else None


def recomputed(orders):
    """Compute the expected windows of orders, by key."""
    prices = defaultdict(list)
    for one in orders:
        if price(one) is not None:
            prices[one.supplier, one.bid_time // WINDOW_MS * WINDOW_MS].append(price(one))
    records = {}
    for (supplier, start), found in prices.items():
        begin, end = (datetime.fromtimestamp(ms / 1000, UTC) for ms in (start, start + WINDOW_MS))
        records[f"{supplier} {begin:%Y-%m-%dT%H:%M:%SZ}"] = {
            "supplier": supplier,
            "window_start": begin,
            "window_end": end,
            "count": len(found),
            "total_price": sum(found),
        }
    return records


def rows(job, orders):
    """Run the job to the end of its orders and return its records with their keys, in a stable order."""
    job.make_topics()
    job.produce(orders)
    job_id = job.start("--bounded", "true")
    until(lambda: job.rest.job(job_id)["state"] == "FINISHED", f"{job.name} to end")
    records = [{"_key": key, **value} for key, value in job.records()]
    return sorted(records, key=lambda row: (row["supplier"], row["window_start"]))


def flows_of(field):
    """Return the columns with a declared direct dependency on a field."""
    (output,) = declaration(WINDOWS_COLUMNS, DATASET_NAMESPACES).outputs
    columns = output["facets"]["columnLineage"]["fields"].items()
    return {
        name
        for name, made in columns
        for source in made["inputFields"]
        if source["field"] == field and any(kind["type"] == "DIRECT" for kind in source["transformations"])
    }


def counted(rest, job_id, metric):
    """Sum a counter over all operators and subtasks of a job."""
    total = 0
    for vertex in rest.job(job_id)["vertices"]:
        names = [name for name in rest.metric_names(job_id, vertex["id"]) if name.endswith(f".{metric}")]
        total += sum(rest.metrics(job_id, vertex["id"], names, "sum").values())
    return total
