# SPDX-License-Identifier: Apache-2.0
"""Services that the streaming benchmarks read from: broker with topics of orders, schema registry, lineage service."""

import io
import json
import struct
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from fastavro import parse_schema, schemaless_writer

from infra.model import Topic
from infra.namespaces import TOPIC_ORDERS, lineage_service_rules
from infra.services import kafka, lineage, schema_registry
from infra.targets.local.log_files import log_tail
from infra.toolchain import Artifacts
from jobs.shop.orders import Mix, Order, batch
from tests.bench.partial_lab import PartialLab, process_environment
from tests.bench.service_process import REPOSITORY, running_service
from tests.unit.spark.fake_registry import FakeRegistry
from tests.unit.spark.schemas import FIRST, SCHEMAS

BROKER_TIMEOUT = 60
PRODUCER_BATCH = 10_000
NO_CATALOG = "http://127.0.0.1:1"
"""Address without a catalog: the lineage service assumes tables at their default locations."""


@dataclass(frozen=True)
class StreamServices:
    """Running services and their topics.

    Attributes:
        folder: parent folder of the labs that use the services.
        ports: by service and endpoint.
        records: number of records by topic.
        lineage_url: root of the lineage service.
    """

    folder: Path
    ports: Mapping[tuple[str, str], int]
    records: Mapping[str, int]
    lineage_url: str

    @property
    def bootstrap(self) -> str:
        """Return `host:port` of the broker."""
        return f"127.0.0.1:{self.ports[kafka.NAME, kafka.BROKER.name]}"

    def partial_lab(self, name: str) -> PartialLab:
        """Return a lab in its own folder whose parts use these services."""
        return PartialLab(self.folder / name, Artifacts.open(), self.ports)


@contextmanager
def stream_services(folder: Path, orders: Mapping[str, int]) -> Iterator[StreamServices]:
    """Run the services and fill topics; `orders` is the number of the shop's orders by topic.

    The registry only serves stored schemas, to use little of the CPU that is measured.
    """
    rules = folder / "rules.json"
    with FakeRegistry(SCHEMAS) as registry:
        ports = {(schema_registry.NAME, schema_registry.API.name): urlsplit(registry.url).port or 0}
        lab = PartialLab(folder, Artifacts.open(), ports)
        with running_broker(lab) as bootstrap:
            rules.write_text(json.dumps(lineage_service_rules([bootstrap], NO_CATALOG)), encoding="utf-8")
            topic = next(topic for topic in lab.model.resources_of(Topic) if topic.name == TOPIC_ORDERS)
            topics = {name: topic.model_copy(update={"name": name}) for name in orders}
            records = {name: fill_topic(bootstrap, topics[name], number) for name, number in orders.items()}
            with running_service(folder / "lineage", "--rules", rules) as service:
                ports[kafka.NAME, kafka.BROKER.name] = int(bootstrap.rpartition(":")[2])
                ports[lineage.NAME, lineage.API.name] = service.port
                yield StreamServices(folder, ports, records, service.url)


@contextmanager
def running_broker(lab: PartialLab) -> Iterator[str]:
    """Run the lab's broker and yield its `host:port`.

    Raises:
        RuntimeError: the broker did not start; the message has the end of its log.
    """
    log = lab.folder / "kafka.log"
    script = lab.write_script(lab.part(kafka.NAME))
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["sh", str(script)], cwd=REPOSITORY, env=process_environment(), stdout=output, stderr=subprocess.STDOUT
        )
    try:
        address = str(lab.site.address(kafka.NAME, kafka.BROKER.name))
        try:
            _admin_client(address).list_topics(timeout=BROKER_TIMEOUT)
        except KafkaException as error:
            tail = log_tail(log)
            raise RuntimeError(
                f"the Kafka broker at {address} did not start: {error}. End of {log}:\n{tail}"
            ) from error
        yield address
    finally:
        process.terminate()
        process.wait()


def fill_topic(bootstrap: str, topic: Topic, orders: int) -> int:
    """Create a topic and write the shop's orders, some invalid, late or duplicate. Return the number of records.

    Raises:
        RuntimeError: the broker did not acknowledge all records in time.
    """
    admin = _admin_client(bootstrap)
    new_topic = NewTopic(topic.name, topic.partitions, config=dict(topic.config))
    admin.create_topics([new_topic])[topic.name].result()
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 50, "log_level": 3})
    encode, mix, written = order_encoder(), Mix(), 0
    for first in range(0, orders, PRODUCER_BATCH):
        numbers = range(first, min(first + PRODUCER_BATCH, orders))
        made = batch(mix, numbers, now_ms=time.time_ns() // 1_000_000)
        for order in (*made.first, *made.again):
            producer.produce(topic.name, key=order.order_id.encode(), value=encode(order))
        written += len(made.first) + len(made.again)
        if left := producer.flush(BROKER_TIMEOUT):
            raise RuntimeError(f"{left} records of topic {topic.name} were not acknowledged by Kafka at {bootstrap}")
    return written


def order_encoder() -> Callable[[Order], bytes]:
    """Return an encoder of orders: Avro in schema `FIRST` with Confluent's header."""
    schema = parse_schema(json.loads(SCHEMAS[FIRST]))
    header = struct.pack(">bI", 0, FIRST)

    def encode(order: Order) -> bytes:
        buffer = io.BytesIO()
        buffer.write(header)
        schemaless_writer(buffer, schema, asdict(order))
        return buffer.getvalue()

    return encode


def _admin_client(bootstrap: str) -> AdminClient:
    # librdkafka logs each refused connection while the broker starts.
    return AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
