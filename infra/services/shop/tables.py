# SPDX-License-Identifier: Apache-2.0
"""The tables that the shop writes, and the schemas that their captured rows have."""

import json
from typing import Any

from infra.model import Column, Subject, Table
from infra.namespaces import TOPIC_BIDS, TOPIC_ORDERS
from infra.services import postgres

KEY = "order_id"
SCHEMA = "public"

_BID = (Column("price", "text"), Column("supplier", "text"), Column("bid_time", "timestamp(3)"))
"""The price is what was typed. `bid_time` is UTC: of a time with a zone, capture would make text."""

_COLUMNS = {
    TOPIC_ORDERS: (Column(KEY, "text", required=True), Column("item", "text"), *_BID),
    TOPIC_BIDS: (Column(KEY, "text", required=True), *_BID),
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


def subject_name(table: str) -> str:
    """The registry's name for the values of the topic that a table's rows go to."""
    return f"{table}-value"


def tables() -> tuple[Table, ...]:
    """The tables. A schema that the registry refuses stops a change before the table sees it."""
    return tuple(
        Table(name, postgres.SHOP, columns, (KEY,), needs=(f"subject/{subject_name(name)}",))
        for name, columns in _COLUMNS.items()
    )


def subjects() -> tuple[Subject, ...]:
    """What the registry shall know of the tables before the first row is captured."""
    return tuple(Subject(subject_name(table.name), captured_schema(table)) for table in tables())


def captured_schema(table: Table) -> str:
    """The Avro schema of a table's captured rows, letter by letter as the converter writes it.

    Raises:
        ValueError: a column has a type of which it is not known what it becomes.
    """
    name = f"{postgres.SHOP}.{SCHEMA}.{table.name}"
    schema = {
        "type": "record",
        "name": "Value",
        "namespace": name,
        "fields": [_field(table, column) for column in table.columns],
        "connect.name": f"{name}.Value",
    }
    return json.dumps(schema, separators=(",", ":"))


def _field(table: Table, column: Column) -> dict[str, Any]:
    if column.type not in _AVRO:
        raise ValueError(
            f"column {column.name} of table {table.name}: {column.type} is not one of {', '.join(_AVRO)}, "
            "of which it is known what capture makes of them"
        )
    avro = _AVRO[column.type]
    if column.required:
        return {"name": column.name, "type": avro}
    return {"name": column.name, "type": ["null", avro], "default": None}
