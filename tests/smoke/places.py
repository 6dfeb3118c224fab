# SPDX-License-Identifier: Apache-2.0
"""What each place of the pipeline holds, seen with other people's clients: Postgres, Kafka, lake and archive."""

import gzip
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC
from functools import cached_property
from typing import Any

import boto3
import fastavro
import httpx
import psycopg
import pyarrow
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from psycopg.rows import dict_row
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import NoSuchTableError

from infra.namespaces import ARCHIVE_BUCKET, RAW_TABLES
from infra.services.connect.connectors import RECORD_OFFSET, RECORD_PARTITION
from infra.services.postgres import SHOP
from infra.services.schema_registry import CONFLUENT_API

HEADER_BYTES = 5
Position = tuple[int, int]
"""Partition and offset."""


@dataclass(frozen=True)
class Record:
    """A committed record of a topic. `value` is None for a tombstone, `timestamp` in milliseconds since 1970."""

    key: str
    value: dict[str, Any] | None
    position: Position
    schema_id: int
    timestamp: int


class Places:
    """The places of one lab. `environment` holds the variables of its `lab.env`."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._schemas: dict[int, Any] = {}

    def ask(self, statement: str) -> list[dict[str, Any]]:
        """Runs a statement in the shop's database."""
        names = {"PGHOST": "host", "PGPORT": "port", "PGUSER": "user", "PGPASSWORD": "password"}
        given = {option: self._environment[name] for name, option in names.items()}
        with psycopg.connect(**given, dbname=SHOP, autocommit=True, row_factory=dict_row) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def rows(self, table: str) -> dict[str, dict[str, Any]]:
        """The rows of a table of the shop by order id; times are UTC."""
        found = self.ask(f"SELECT * FROM {table}")
        return {row["order_id"]: row | {"bid_time": row["bid_time"].replace(tzinfo=UTC)} for row in found}

    def records(self, topic: str) -> Iterator[Record]:
        """Every committed record of a topic.

        Raises:
            KafkaException: the broker does not answer.
        """
        consumer = Consumer(
            {
                "bootstrap.servers": self._environment["LAB_KAFKA"],
                "group.id": "smoke",
                "isolation.level": "read_committed",
                "enable.partition.eof": True,
                "enable.auto.commit": False,
            }
        )
        try:
            for number in consumer.list_topics(topic, timeout=10).topics[topic].partitions:
                consumer.assign([TopicPartition(topic, number, 0)])
                yield from self._to_the_end(consumer, f"{topic}[{number}]")
        finally:
            consumer.close()

    def positions(self, topic: str) -> Counter[Position]:
        """How often each record of a topic is in its table of the lake."""
        table = self.table(RAW_TABLES[topic])
        return Counter(zip(*(table[name].to_pylist() for name in (RECORD_PARTITION, RECORD_OFFSET)), strict=True))

    def table(self, name: str) -> pyarrow.Table:
        """All rows of a table, read by PyIceberg through the REST catalog."""
        return self._catalog.load_table(name).scan().to_arrow()

    def has_table(self, name: str) -> bool:
        """Whether the lake has it by now."""
        try:
            self._catalog.load_table(name)
        except NoSuchTableError:
            return False
        return True

    def archived(self, topic: str) -> list[dict[str, Any]]:
        """Every line of a topic's objects in the archive. What begins with `_` is the sink's own."""
        store = self.s3()
        pages = store.get_paginator("list_objects_v2").paginate(Bucket=ARCHIVE_BUCKET, Prefix=f"topics/{topic}/")
        names = [item["Key"] for page in pages for item in page.get("Contents", ())]
        lines: list[dict[str, Any]] = []
        for name in (name for name in names if not any(part.startswith("_") for part in name.split("/"))):
            content = store.get_object(Bucket=ARCHIVE_BUCKET, Key=name)["Body"].read()
            text = gzip.decompress(content) if name.endswith(".gz") else content
            lines.extend(json.loads(line) for line in text.splitlines())
        return lines

    def s3(self) -> Any:
        """boto3's client of the object store."""
        keys = {name.lower(): self._environment[name] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")}
        endpoint, region = self._environment["AWS_ENDPOINT_URL_S3"], self._environment["AWS_REGION"]
        return boto3.client("s3", endpoint_url=endpoint, region_name=region, **keys)

    def registry(self, path: str) -> Any:
        """An answer of the schema registry, in Confluent's API."""
        url = self._environment["LAB_SCHEMA_REGISTRY"] + CONFLUENT_API + path
        return httpx.get(url, timeout=20, trust_env=False).raise_for_status().json()

    def connect(self, path: str) -> Any:
        """An answer of Kafka Connect."""
        url = self._environment["LAB_CONNECT"] + path
        return httpx.get(url, timeout=20, trust_env=False).raise_for_status().json()

    @cached_property
    def _catalog(self) -> Catalog:
        environment = self._environment
        return load_catalog(
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

    def _to_the_end(self, consumer: Consumer, name: str) -> Iterator[Record]:
        while True:
            message = consumer.poll(20)
            if message is None:
                raise KafkaException(KafkaError(KafkaError._TIMED_OUT, f"{name}: nothing came for 20 s"))
            if message.error() is None and message.value() is None:
                continue  # a tombstone is no order
            if message.error() is None:
                header, datum = message.value()[:HEADER_BYTES], message.value()[HEADER_BYTES:]
                schema_id = int.from_bytes(header[1:], "big")
                value = fastavro.schemaless_reader(io.BytesIO(datum), self._schema(schema_id), None)
                position = (message.partition(), message.offset())
                yield Record(message.key().decode(), value, position, schema_id, message.timestamp()[1])
            elif message.error().code() == KafkaError._PARTITION_EOF:
                return
            else:
                raise KafkaException(message.error())

    def _schema(self, schema_id: int) -> Any:
        if schema_id not in self._schemas:
            text = self.registry(f"/schemas/ids/{schema_id}")["schema"]
            self._schemas[schema_id] = fastavro.parse_schema(json.loads(text))
        return self._schemas[schema_id]
