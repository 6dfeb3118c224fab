# SPDX-License-Identifier: Apache-2.0
"""Tables of the shop, and the Avro schemas of their captured rows."""

import json
from typing import Any

from pydantic import Field

from infra.model import Column, Part, Site, Subject, Table
from infra.namespaces import SHOP_TOPICS, TOPIC_BIDS, TOPIC_ORDERS
from infra.services import kafka, postgres, schema_registry
from infra.services.definition import Draft
from infra.settings import SettingsSection

KEY_COLUMN = "order_id"
SCHEMA = "public"

_BID = (
    Column(name="price", type="text"),
    Column(name="supplier", type="text"),
    Column(name="bid_time", type="timestamp(3)"),
)
"""Columns common to all tables. `price` is text as entered; `bid_time` is UTC without zone, since Debezium converts
timestamps with time zone to text."""

_COLUMNS = {
    TOPIC_ORDERS: (Column(name=KEY_COLUMN, type="text", required=True), Column(name="item", type="text"), *_BID),
    TOPIC_BIDS: (Column(name=KEY_COLUMN, type="text", required=True), *_BID),
}

_AVRO: dict[str, Any] = {
    "text": "string",
    "boolean": "boolean",
    "integer": "int",
    "bigint": "long",
    "double precision": "double",
    "timestamp(3)": {
        "type": "long",
        "connect.version": 1,
        "connect.name": "org.apache.kafka.connect.data.Timestamp",
        "logicalType": "timestamp-millis",
    },
}
"""Postgres type -> Avro type that Debezium (time.precision.mode=connect) and the Avro converter produce."""


class TopicSettings(SettingsSection):
    """Settings of the topics that receive the captured rows."""

    topic_partitions: int = Field(3, ge=1, le=64, description="partitions of the topics orders and bids")


def subject_name(table: str) -> str:
    """Return the subject of the values of a table's topic."""
    return f"{table}-value"


def tables(site: Site) -> tuple[Table, ...]:
    """Return the tables; each needs its subject, so an incompatible schema is rejected before the table changes."""
    return tuple(
        postgres.table(site, postgres.SHOP, name, columns, (KEY_COLUMN,), needs=(f"subject/{subject_name(name)}",))
        for name, columns in _COLUMNS.items()
    )


def subjects(site: Site) -> tuple[Subject, ...]:
    """Return the subjects, which are registered before the first row is captured."""
    return tuple(
        schema_registry.subject(site, subject_name(name), captured_schema(name, columns))
        for name, columns in _COLUMNS.items()
    )


def captured_schema(table: str, columns: tuple[Column, ...]) -> str:
    """Return the Avro schema of a table's captured rows, identical to the text that the converter registers.

    Raises:
        ValueError: the Avro type of a column's type is not known.
    """
    name = f"{postgres.SHOP}.{SCHEMA}.{table}"
    schema = {
        "type": "record",
        "name": "Value",
        "namespace": name,
        "fields": [_field(table, column) for column in columns],
        "connect.name": f"{name}.Value",
    }
    return json.dumps(schema, separators=(",", ":"))


def _field(table: str, column: Column) -> dict[str, Any]:
    if column.type not in _AVRO:
        raise ValueError(
            f"column {column.name} of table {table}: unsupported type {column.type}; supported: {', '.join(_AVRO)}"
        )
    avro = _AVRO[column.type]
    if column.required:
        return {"name": column.name, "type": avro}
    return {"name": column.name, "type": ["null", avro], "default": None}


UNLIMITED_RETENTION = {"retention.ms": "-1", "retention.bytes": "-1"}
"""Topic configuration that keeps every record, so that all tables of the lake can be rebuilt from the topics."""


def pipeline(draft: Draft) -> tuple[Part, ...]:
    """Return the shop's tables, and the topics and subjects of their captured rows."""
    partitions = draft.settings.section(TopicSettings).topic_partitions
    topics = tuple(kafka.topic(draft.site, name, partitions, UNLIMITED_RETENTION) for name in SHOP_TOPICS)
    return (*topics, *tables(draft.site), *subjects(draft.site))
