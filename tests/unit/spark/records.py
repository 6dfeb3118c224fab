# SPDX-License-Identifier: Apache-2.0
"""Kafka records of orders in the form of Spark's Kafka source: Avro in Confluent's wire format."""

import io
import json
import struct
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from fastavro import parse_schema, schemaless_writer
from pyspark.sql import DataFrame, SparkSession

from infra.namespaces import TOPIC_ORDERS
from jobs.spark.orders_etl import checked_orders
from tests.unit.spark.schemas import FIRST, SCHEMAS

KAFKA_SCHEMA = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, timestampType int"
)

_AVRO = {schema_id: parse_schema(json.loads(text)) for schema_id, text in SCHEMAS.items()}
LATE_AFTER = 3600
NOON = int(datetime(2026, 11, 20, 12, 30, tzinfo=UTC).timestamp() * 1000)


@dataclass(frozen=True)
class Order:
    """Value of a record; `bid_time` in milliseconds since the epoch."""

    order_id: str | None = "o-1"
    item: str | None = "anvil"
    price: str | None = "12.50"
    supplier: str | None = "alder"
    bid_time: int | None = NOON
    currency: str | None = "EUR"

    def encode(self, schema_id: int = FIRST) -> bytes:
        """Encode with the header, leaving out fields that the schema does not have."""
        buffer = io.BytesIO(header(schema_id))
        buffer.seek(0, io.SEEK_END)
        schemaless_writer(buffer, _AVRO[schema_id], asdict(self))
        return buffer.getvalue()


def header(schema_id: int) -> bytes:
    """Return the wire format header: a zero byte and the id in four bytes."""
    return struct.pack(">bI", 0, schema_id)


@dataclass(frozen=True)
class Record:
    """Record of the topic; `value` None encodes `order` with the schema. The key defaults to the order id."""

    order: Order = Order()
    key: bytes | None = b"o-1"
    value: bytes | None = None
    schema_id: int = FIRST
    is_tombstone: bool = False
    partition: int = 0
    offset: int = 0
    timestamp: datetime = datetime(2026, 11, 20, 12, 31, tzinfo=UTC)

    def sql(self) -> str:
        """Return the record as a row of VALUES."""
        encoded = self.value if self.value is not None else self.order.encode(self.schema_id)
        value = _binary(None if self.is_tombstone else encoded)
        time = f"TIMESTAMP '{self.timestamp:%Y-%m-%d %H:%M:%S}'"
        return f"({_binary(self.key)}, {value}, '{TOPIC_ORDERS}', {self.partition}, {self.offset}L, {time}, 0)"


def of(order_id: str, offset: int = 0, schema_id: int = FIRST, **changes: object) -> Record:
    """Return a record of an order with these changes to the default order."""
    order = replace(Order(order_id=order_id), **changes)
    return Record(order, key=order_id.encode(), offset=offset, schema_id=schema_id)


def checked(records: DataFrame) -> DataFrame:
    """Return the records as `orders_etl` checks them, with known schemas."""
    return checked_orders(records, SCHEMAS, LATE_AFTER)


def frame(spark: SparkSession, *records: Record) -> DataFrame:
    """Return the records as a frame. VALUES needs no Python worker, which saves about 0.2 s per query."""
    if not records:
        return spark.createDataFrame([], KAFKA_SCHEMA)
    columns = ", ".join(column.split()[0] for column in KAFKA_SCHEMA.split(", "))
    return spark.sql(f"SELECT * FROM VALUES {', '.join(r.sql() for r in records)} AS records ({columns})")


def _binary(value: bytes | None) -> str:
    return "CAST(NULL AS BINARY)" if value is None else f"X'{value.hex()}'"
