# SPDX-License-Identifier: Apache-2.0
"""A real Connect worker that reads a million Avro records again and again, each time through another transform."""

import io
import json
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import fastavro
import httpx
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from infra.artifacts import Artifacts
from infra.services import connect, kafka, schema_registry
from infra.settings import Settings
from tests.connect.endpoint import listening
from tests.connect.plugins import plugins
from tests.connect.processes import all_running, free_ports, local_site, running
from tests.connect.rest import Rest, until
from tests.connect.worker import TRANSFORM, lineage_options, worker

NO_OP = "no-op"
LINEAGE = "lineage"
DEBEZIUM = "Debezium's OpenLineage"
TRANSFORMS = {
    NO_OP: "dev.lineagelab.testing.NoOpTransform",
    LINEAGE: TRANSFORM,
    DEBEZIUM: "io.debezium.transforms.openlineage.OpenLineage",
}
TOPIC = "orders"
DISTINCT = 1024
HEAP_MIB = 768
SECONDS = 600

SCHEMA = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "order_id", "type": "string"},
        {"name": "item", "type": "string"},
        {"name": "price", "type": "string"},
        {"name": "supplier", "type": "string"},
        {"name": "bid_time", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
}

DEBEZIUM_HEADERS = {
    "__debezium.context.connectorLogicalName": "bench",
    "__debezium.context.connectorName": "bench",
    "__debezium.context.taskId": "0",
    "__debezium.context.runId": str(uuid4()),
}
"""What Debezium's transform wants to see on the first record; it fails without."""


@dataclass(frozen=True)
class Cost:
    """What a record took of the task's thread, in the batch that was the median of all."""

    cpu_ns: float
    allocated_bytes: float


class BenchWorker:
    """A worker, and a topic of `records` records."""

    def __init__(self, rest: Rest, records: int, folder: Path) -> None:
        self._rest = rest
        self._records = records
        self._folder = folder
        self._runs = 0

    def run(self, variant: str) -> Cost:
        """Every record once through one transform, by a new connector."""
        self._runs += 1
        name = f"run-{self._runs}"
        result = self._folder / f"{name}.json"
        self._rest.create(name, self._config(variant, result))
        until(lambda: result.exists() or "FAILED" in self._rest.states(name), f"{name} ({variant})", SECONDS)
        if not result.exists():
            raise RuntimeError(f"{name} ({variant}) failed, see {self._folder}")
        self._rest.delete(name)
        told = json.loads(result.read_text())
        return Cost(told["cpu_ns"], told["bytes"])

    def _config(self, variant: str, result: Path) -> dict[str, object]:
        return {
            "connector.class": "dev.lineagelab.testing.CountingSinkConnector",
            "tasks.max": 1,
            "topics": TOPIC,
            "expected.records": self._records,
            "result.file": result,
            "consumer.override.auto.offset.reset": "earliest",
            "consumer.override.max.poll.records": 2000,
            "transforms": "measured",
            "transforms.measured.type": TRANSFORMS[variant],
        }


@contextmanager
def bench_worker(folder: Path, records: int) -> Iterator[BenchWorker]:
    """Broker, registry, worker and records, with everything as the lab has it: both compilers, the lab's heap."""
    artifacts = Artifacts.open()
    settings = Settings()
    site = local_site(folder, free_ports())
    built = plugins()
    others = [artifacts.component(name) for name in ("registry-converter", "debezium-postgres")]
    beside = (kafka.kafka(site, settings), schema_registry.schema_registry(site, settings))
    with listening() as endpoint, all_running(beside, site):
        options = lineage_options(endpoint.url, interval__ms=1000) | {
            "key.converter": "org.apache.kafka.connect.storage.StringConverter",
            "header.converter": "org.apache.kafka.connect.storage.StringConverter",
            **schema_registry.avro_converter(site),
        }
        path = [built.lineage, built.test_connectors, *others]
        with running(worker(site, path, options, compiler=(), heap_mib=HEAP_MIB), site):
            _fill(site, records)
            yield BenchWorker(Rest(site.address(connect.NAME, connect.REST.name).url), records, folder)


def _fill(site, records: int) -> None:
    bootstrap = str(site.address(kafka.NAME, kafka.BROKER.name))
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(60)
    registry = site.address(schema_registry.NAME, schema_registry.API.name).url + schema_registry.CONFLUENT_API
    answer = httpx.post(
        f"{registry}/subjects/{TOPIC}-value/versions", json={"schema": json.dumps(SCHEMA)}, trust_env=False
    )
    answer.raise_for_status()
    values = [_value(number, answer.json()["id"]) for number in range(DISTINCT)]
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 50, "queue.buffering.max.messages": records + 1})
    headers = [(name, value.encode()) for name, value in DEBEZIUM_HEADERS.items()]
    producer.produce(TOPIC, values[0], b"key", headers=headers)
    for number in range(1, records):
        producer.produce(TOPIC, values[number % DISTINCT], b"key")
    if left := producer.flush(SECONDS):
        raise RuntimeError(f"{left} of {records} records were not taken by {bootstrap}")


def _value(number: int, schema_id: int) -> bytes:
    order = {
        "order_id": f"order {number}",
        "item": "chair",
        "price": f"{number / 100:.2f}",
        "supplier": f"supplier {number % 8}",
        "bid_time": 1_700_000_000_000 + number,
    }
    body = io.BytesIO()
    fastavro.schemaless_writer(body, fastavro.parse_schema(SCHEMA), order)
    return struct.pack(">bI", 0, schema_id) + body.getvalue()
