# SPDX-License-Identifier: Apache-2.0
"""A real lab for the smoke tests, driven by its own command, looked at with other people's clients."""

import io
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import fastavro
import httpx
import pyarrow
from confluent_kafka import Consumer, Message, TopicPartition
from pyiceberg.catalog import load_catalog

from infra import credentials
from infra.project import PROJECT, stack_root
from infra.supervision import Supervisor
from jobs.schemas import schema_text

STACK = "smoke"


@dataclass(frozen=True)
class Ended:
    """How a `lab` command ended, and what it printed."""

    status: int
    text: str


class LabUnderTest:
    """The stack `smoke`."""

    root: Path = stack_root(STACK)

    def lab(self, *words: str, seconds: int = 600) -> Ended:
        """Runs `bin/lab WORDS --stack smoke`."""
        command = [str(PROJECT / "bin" / "lab"), *words, "--stack", STACK]
        environment = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "LINEAGE_LAB_STACK"}}
        done = subprocess.run(
            command,
            cwd=PROJECT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=seconds,
            check=False,
        )
        print(done.stdout, file=sys.stderr)  # shown by pytest where the test fails
        return Ended(done.returncode, done.stdout)

    @cached_property
    def environment(self) -> dict[str, str]:
        """The variables of `lab.env`."""
        return credentials.read(self.root / "lab.env")

    @property
    def supervisor(self) -> Supervisor:
        return Supervisor(self.root)

    def orders(self) -> Iterator[dict]:
        """Every record of topic `orders`, decoded, duplicates included."""
        schema = fastavro.parse_schema(json.loads(schema_text("orders")))
        for message in self.messages("orders"):
            yield fastavro.schemaless_reader(io.BytesIO(message.value()), schema, None)

    def numbers(self, topic: str) -> set[int]:
        """The shop's own numbers of the orders in a topic."""
        return {int(dict(message.headers())["order-number"]) for message in self.messages(topic)}

    def messages(self, topic: str) -> Iterator[Message]:
        """Every message of a topic."""
        consumer = Consumer({"bootstrap.servers": self.environment["LAB_KAFKA"], "group.id": "smoke"})
        try:
            for number in consumer.list_topics(topic, timeout=10).topics[topic].partitions:
                place = TopicPartition(topic, number, 0)
                _, end = consumer.get_watermark_offsets(place, timeout=10)
                consumer.assign([place])
                read = 0
                while read < end:
                    message = consumer.poll(10)
                    assert message is not None, f"partition {number} ended at {read} of {end}"
                    assert message.error() is None
                    read = message.offset() + 1
                    yield message
        finally:
            consumer.close()

    def table(self, name: str) -> pyarrow.Table:
        """All rows of a table, read by PyIceberg through the REST catalog."""
        catalog = load_catalog(
            "lake",
            **{
                "type": "rest",
                "uri": self.environment["LAB_ICEBERG_CATALOG"],
                "s3.endpoint": self.environment["AWS_ENDPOINT_URL_S3"],
                "s3.access-key-id": self.environment["AWS_ACCESS_KEY_ID"],
                "s3.secret-access-key": self.environment["AWS_SECRET_ACCESS_KEY"],
                "s3.region": self.environment["AWS_REGION"],
            },
        )
        return catalog.load_table(name).scan().to_arrow()

    def ids(self, table: str) -> Counter:
        """How often each order is in a table."""
        return Counter(self.table(table).column("order_id").to_pylist())

    def api(self, path: str, **query: object) -> dict:
        """An answer of the lineage service."""
        url = self.environment["LAB_LINEAGE"] + path
        return httpx.get(url, params=query, timeout=20).raise_for_status().json()

    def graph(self) -> dict:
        """The canonical export."""
        return self.api("/api/v1/graph")
