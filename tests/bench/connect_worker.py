# SPDX-License-Identifier: Apache-2.0
"""Real Connect worker that reads a million Avro records repeatedly through several transforms in parallel."""

import io
import json
import struct
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import fastavro
import httpx
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from infra.catalog import LabSettings
from infra.services import jvm, kafka, schema_registry
from infra.services.connect import worker as connect
from infra.targets.local.site import LocalSite
from infra.toolchain import Artifacts
from tests.bench.connect_threads import cpu_seconds_between, read_threads
from tests.connect.endpoint import listening
from tests.connect.plugins import plugins
from tests.connect.processes import all_running, free_ports, local_site, running
from tests.connect.rest import Rest, until
from tests.connect.worker import lineage_options, worker

TOPIC = "orders"
RECORDS = 1_000_000
DISTINCT_RECORDS = 1024
HEAP_MIB = 768
TIMEOUT_SECONDS = 600

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
"""Headers that Debezium's transform requires on the first record."""

PLUGIN_THREADS = ("connect-lineage", "HttpClient-")
"""Substrings of the names of the plugin's threads. Those of its HTTP client share their names with the converter's."""


@dataclass(frozen=True)
class RecordCost:
    """Cost per record in the task's thread, median over batches."""

    cpu_ns: float
    allocated_bytes: float


@dataclass(frozen=True)
class RoundResult:
    """Results of connectors that ran in parallel.

    Attributes:
        costs: costs by name of the variant.
        seconds: time from the creation of the first connector until the last has read all records.
        plugin_seconds: CPU time of the plugin's own threads in that time.
    """

    costs: Mapping[str, RecordCost]
    seconds: float
    plugin_seconds: float


class BenchWorker:
    """Running worker, and a topic of `RECORDS` records."""

    def __init__(self, rest: Rest, java: Path, process: int, folder: Path) -> None:
        self._rest = rest
        self._java = java
        self._process = process
        self._folder = folder
        self._rounds = 0

    def run_round(self, variants: Mapping[str, str]) -> RoundResult:
        """Pass every record once through each transform, by new connectors created in this order.

        They run in parallel, so that other load on the machine affects all of them alike.

        Args:
            variants: class of the transform by name of the variant.

        Raises:
            RuntimeError: a connector failed.
        """
        self._rounds += 1
        results = {variant: self._folder / f"{self._rounds}-{at}.json" for at, variant in enumerate(variants)}
        before, began = read_threads(self._java, self._process), time.monotonic()
        for variant, result in results.items():
            self._rest.create(result.stem, self._config(variants[variant], result))
        for variant, result in results.items():
            self._await(result, variant)
        seconds, after = time.monotonic() - began, read_threads(self._java, self._process)
        for result in results.values():
            self._rest.delete(result.stem)
        costs = {variant: _read_cost(result) for variant, result in results.items()}
        return RoundResult(costs, seconds, cpu_seconds_between(before, after, PLUGIN_THREADS))

    def _await(self, result: Path, variant: str) -> None:
        until(
            lambda: result.exists() or "FAILED" in self._rest.states(result.stem),
            f"{variant} to finish",
            TIMEOUT_SECONDS,
        )
        if not result.exists():
            raise RuntimeError(f"the connector {result.stem} with {variant} failed, see {self._folder}")

    def _config(self, transform: str, result: Path) -> dict[str, object]:
        return {
            "connector.class": "dev.lineagelab.testing.CountingSinkConnector",
            "tasks.max": 1,
            "topics": TOPIC,
            "expected.records": RECORDS,
            "result.file": result,
            "consumer.override.auto.offset.reset": "earliest",
            "consumer.override.max.poll.records": 2000,
            "transforms": "measured",
            "transforms.measured.type": transform,
        }


@contextmanager
def bench_worker(folder: Path) -> Iterator[BenchWorker]:
    """Run broker, registry and worker with the lab's converter and both JIT compilers, and produce the records."""
    artifacts = Artifacts.open()
    settings = LabSettings()
    site = local_site(folder, free_ports())
    built = plugins()
    others = [artifacts.component(name) for name in ("registry-converter", "rest-guard", "debezium-postgres")]
    services = (kafka.kafka_service(site, settings), schema_registry.schema_registry_service(site, settings))
    with listening() as endpoint, all_running(services, site):
        path = [built.lineage, built.test_connectors, *others]
        options = _lineage_options(endpoint.url) | _converters(site)
        with running(worker(site, path, options, compiler=jvm.DELAYED_C2, heap_mib=HEAP_MIB), site) as started:
            _fill_topic(site)
            rest = Rest(site.address(connect.NAME, connect.REST.name).url)
            yield BenchWorker(rest, artifacts.java(), started.process.pid, folder)


def _lineage_options(url: str) -> dict[str, str | int | bool]:
    """Return the tests' options with the default intervals, as shorter ones cost more."""
    intervals = {"openlineage.interval.ms", "openlineage.poll.interval.ms"}
    return {name: value for name, value in lineage_options(url).items() if name not in intervals}


def _converters(site: LocalSite) -> dict[str, str]:
    texts = "org.apache.kafka.connect.storage.StringConverter"
    return {"key.converter": texts, "header.converter": texts, **schema_registry.avro_converter(site)}


def _read_cost(result: Path) -> RecordCost:
    cost = json.loads(result.read_text())
    return RecordCost(cost["cpu_ns"], cost["bytes"])


def _fill_topic(site: LocalSite) -> None:
    bootstrap = str(site.address(kafka.NAME, kafka.BROKER.name))
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(60)
    registry = site.address(schema_registry.NAME, schema_registry.API.name).url + schema_registry.CONFLUENT_API
    address = f"{registry}/subjects/{TOPIC}-value/versions"
    answer = httpx.post(address, json={"schema": json.dumps(SCHEMA)}, timeout=TIMEOUT_SECONDS, trust_env=False)
    answer.raise_for_status()
    values = [_encode_order(number, answer.json()["id"]) for number in range(DISTINCT_RECORDS)]
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 50, "queue.buffering.max.messages": RECORDS + 1})
    headers = [(name, value.encode()) for name, value in DEBEZIUM_HEADERS.items()]
    producer.produce(TOPIC, values[0], b"key", headers=headers)
    for number in range(1, RECORDS):
        producer.produce(TOPIC, values[number % DISTINCT_RECORDS], b"key")
    if left := producer.flush(TIMEOUT_SECONDS):
        raise RuntimeError(f"{left} of {RECORDS} records were not acknowledged by Kafka at {bootstrap}")


def _encode_order(number: int, schema_id: int) -> bytes:
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
