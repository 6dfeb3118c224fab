# SPDX-License-Identifier: Apache-2.0
"""The tables that the shop writes, and the schemas that their captured rows have."""

import json
from typing import Any

from pydantic import Field

from infra.model import Column, Part, Site, Subject, Table
from infra.namespaces import TOPIC_BIDS, TOPIC_ORDERS, TOPICS
from infra.services import kafka, postgres, schema_registry
from infra.services.definition import Draft
from infra.settings import SettingsSection

KEY = "order_id"
SCHEMA = "public"

_BID = (
    Column(name="price", type="text"),
    Column(name="supplier", type="text"),
    Column(name="bid_time", type="timestamp(3)"),
)
"""The price is what was typed. `bid_time` is UTC: of a time with a zone, capture would make text."""

_COLUMNS = {
    TOPIC_ORDERS: (Column(name=KEY, type="text", required=True), Column(name="item", type="text"), *_BID),
    TOPIC_BIDS: (Column(name=KEY, type="text", required=True), *_BID),
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
"""Postgres' type -> what Debezium (time.precision.mode=connect) and the Avro converter make of it."""


class TopicSettings(SettingsSection):
    """Settings of the topics that the shop's tables are captured to."""

    topic_partitions: int = Field(3, ge=1, le=64, description="partitions of the topics orders and bids")


def subject_name(table: str) -> str:
    """The registry's name for the values of the topic that a table's rows go to."""
    return f"{table}-value"


def tables(site: Site) -> tuple[Table, ...]:
    """The tables. A schema that the registry refuses stops a change before the table sees it."""
    return tuple(
        postgres.table(site, postgres.SHOP, name, columns, (KEY,), needs=(f"subject/{subject_name(name)}",))
        for name, columns in _COLUMNS.items()
    )


def subjects(site: Site) -> tuple[Subject, ...]:
    """What the registry shall know of the tables before the first row is captured."""
    return tuple(
        schema_registry.subject(site, subject_name(name), captured_schema(name, columns))
        for name, columns in _COLUMNS.items()
    )


def captured_schema(table: str, columns: tuple[Column, ...]) -> str:
    """The Avro schema of a table's captured rows, letter by letter as the converter writes it.

    Raises:
        ValueError: a column has a type of which it is not known what it becomes.
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
            f"column {column.name} of table {table}: {column.type} is not one of {', '.join(_AVRO)}, "
            "of which it is known what capture makes of them"
        )
    avro = _AVRO[column.type]
    if column.required:
        return {"name": column.name, "type": avro}
    return {"name": column.name, "type": ["null", avro], "default": None}


KEEP_EVERYTHING = {"retention.ms": "-1", "retention.bytes": "-1"}
"""Unlimited retention: every table of the lake can be rebuilt from the topics."""


def pipeline(draft: Draft) -> tuple[Part, ...]:
    """Return the shop's tables, the topics that they are captured to and the subjects of those."""
    partitions = draft.settings.section(TopicSettings).topic_partitions
    topics = tuple(kafka.topic(draft.site, name, partitions, KEEP_EVERYTHING) for name in TOPICS)
    return (*topics, *tables(draft.site), *subjects(draft.site))
