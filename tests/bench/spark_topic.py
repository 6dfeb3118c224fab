# SPDX-License-Identifier: Apache-2.0
"""A broker as the lab has it, and a topic full of orders, written as the shop writes them."""

import io
import json
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict

from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from fastavro import parse_schema, schemaless_writer

from infra.model import Topic
from infra.services import kafka
from infra.targets.local.log_files import log_tail
from jobs.shop.orders import Mix, Order, batch
from tests.bench.service_process import REPOSITORY
from tests.bench.spark_place import Place, inherited
from tests.unit.spark.schemas import FIRST, SCHEMAS

START_SECONDS = 60
AT_ONCE = 10_000


@contextmanager
def running_broker(place: Place) -> Iterator[str]:
    """The lab's broker; yields its `host:port`.

    Raises:
        RuntimeError: it does not answer; the text has the end of its log.
    """
    log = place.folder / "kafka.log"
    script = place.script(place.part(kafka.NAME))
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["sh", str(script)], cwd=REPOSITORY, env=inherited(), stdout=output, stderr=subprocess.STDOUT
        )
    try:
        address = str(place.site.address(kafka.NAME, kafka.BROKER.name))
        try:
            _admin(address).list_topics(timeout=START_SECONDS)
        except KafkaException as error:
            raise RuntimeError(f"no broker answers at {address}: {error}. Its log:\n{log_tail(log)}") from error
        yield address
    finally:
        process.terminate()
        process.wait()


def fill(bootstrap: str, topic: Topic, orders: int) -> int:
    """Makes the topic and writes orders of the shop, some of them broken, late or twice; returns how many records."""
    admin = _admin(bootstrap)
    wanted = NewTopic(topic.name, topic.partitions, config=dict(topic.config))
    admin.create_topics([wanted])[topic.name].result()
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 50, "log_level": 3})
    encode, mix, written = encoder(), Mix(), 0
    for first in range(0, orders, AT_ONCE):
        numbers = range(first, min(first + AT_ONCE, orders))
        made = batch(mix, numbers, now_ms=time.time_ns() // 1_000_000)
        for order in (*made.first, *made.again):
            producer.produce(topic.name, key=order.order_id.encode(), value=encode(order))
        written += len(made.first) + len(made.again)
        if left := producer.flush(START_SECONDS):
            raise RuntimeError(f"{left} records could not be written to {topic.name} at {bootstrap}")
    return written


def encoder() -> Callable[[Order], bytes]:
    """Orders to Avro with Confluent's header, in the schema `FIRST`."""
    schema = parse_schema(json.loads(SCHEMAS[FIRST]))
    header = struct.pack(">bI", 0, FIRST)

    def encode(order: Order) -> bytes:
        buffer = io.BytesIO()
        buffer.write(header)
        schemaless_writer(buffer, schema, asdict(order))
        return buffer.getvalue()

    return encode


def _admin(bootstrap: str) -> AdminClient:
    # librdkafka reports each refused connection of a broker that is still starting.
    return AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
