# SPDX-License-Identifier: Apache-2.0
"""Contents of Postgres, Kafka, lake and archive, read with independent clients."""

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
from pyiceberg.table import Table

from infra.namespaces import ARCHIVE_BUCKET, RAW_TABLES
from infra.services.connect.connectors import RECORD_OFFSET, RECORD_PARTITION
from infra.services.postgres import SHOP

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


class PipelineStores:
    """Clients of the stores and services of one lab. `environment` holds the variables of its `lab.env`."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._schemas: dict[int, Any] = {}

    def query_database(self, statement: str) -> list[dict[str, Any]]:
        """Execute a statement in the shop's database and return its rows."""
        names = {"PGHOST": "host", "PGPORT": "port", "PGUSER": "user", "PGPASSWORD": "password"}
        given = {option: self._environment[name] for name, option in names.items()}
        with psycopg.connect(**given, dbname=SHOP, autocommit=True, row_factory=dict_row) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def rows(self, table: str) -> dict[str, dict[str, Any]]:
        """Return the rows of a shop table by order id; times are UTC."""
        found = self.query_database(f"SELECT * FROM {table}")
        return {row["order_id"]: row | {"bid_time": row["bid_time"].replace(tzinfo=UTC)} for row in found}

    def records(self, topic: str) -> Iterator[Record]:
        """Yield every committed record of a topic.

        Raises:
            KafkaException: the broker did not respond.
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
            for number in consumer.list_topics(topic, timeout=60).topics[topic].partitions:
                consumer.assign([TopicPartition(topic, number, 0)])
                yield from self._read_to_end(consumer, f"{topic}[{number}]")
        finally:
            consumer.close()

    def positions(self, topic: str) -> Counter[Position]:
        """Return the number of lake rows of each record of a topic."""
        table = self.table(RAW_TABLES[topic])
        return Counter(zip(*(table[name].to_pylist() for name in (RECORD_PARTITION, RECORD_OFFSET)), strict=True))

    def table(self, name: str) -> pyarrow.Table:
        """Return all rows of a table, read by PyIceberg through the REST catalog."""
        return self.iceberg_table(name).scan().to_arrow()

    def iceberg_table(self, name: str) -> Table:
        """Return the current state of a table from the REST catalog.

        Raises:
            NoSuchTableError: the table does not exist.
        """
        return self._catalog.load_table(name)

    def tables(self) -> list[str]:
        """Return the names of all tables of the lake."""
        namespaces = self._catalog.list_namespaces()
        return sorted(".".join(name) for namespace in namespaces for name in self._catalog.list_tables(namespace))

    def has_table(self, name: str) -> bool:
        """Return True if the table exists in the lake."""
        try:
            self.iceberg_table(name)
        except NoSuchTableError:
            return False
        return True

    def archived(self, topic: str) -> list[dict[str, Any]]:
        """Return every line of a topic's objects in the archive, without the sink's internal objects (`_` prefix)."""
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
        """Return a boto3 client of the object store."""
        keys = {name.lower(): self._environment[name] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")}
        endpoint, region = self._environment["AWS_ENDPOINT_URL_S3"], self._environment["AWS_REGION"]
        return boto3.client("s3", endpoint_url=endpoint, region_name=region, **keys)

    def registry(self, path: str) -> Any:
        """Return a response of the schema registry's Confluent API."""
        url = self._environment["LAB_SCHEMA_REGISTRY"] + path
        return httpx.get(url, timeout=60, trust_env=False).raise_for_status().json()

    def connect(self, path: str) -> Any:
        """Return a response of the Kafka Connect REST API."""
        url = self._environment["LAB_CONNECT"] + path
        return httpx.get(url, timeout=60, trust_env=False).raise_for_status().json()

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

    def _read_to_end(self, consumer: Consumer, name: str) -> Iterator[Record]:
        while True:
            message = consumer.poll(20)
            if message is None:
                raise KafkaException(KafkaError(KafkaError._TIMED_OUT, f"{name}: no record received for 20 s"))
            if message.error() is None and message.value() is None:
                continue  # tombstone
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
