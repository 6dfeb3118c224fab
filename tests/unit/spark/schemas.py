# SPDX-License-Identifier: Apache-2.0
"""Versions of the schema of topic `orders`, as Debezium and the registry's converter register them."""

import json


def order_schema(*fields: dict[str, object], without: str = "") -> str:
    """Return the first version's schema with additional fields, or without one of its fields."""
    bid_time = {
        "type": "long",
        "connect.version": 1,
        "connect.name": "org.apache.kafka.connect.data.Timestamp",
        "logicalType": "timestamp-millis",
    }
    own = [
        {"name": "order_id", "type": "string"},
        *(optional(name, "string") for name in ("item", "price", "supplier")),
        optional("bid_time", bid_time),
    ]
    record = {
        "type": "record",
        "name": "Value",
        "namespace": "shop.public.orders",
        "fields": [*(field for field in own if field["name"] != without), *fields],
        "connect.name": "shop.public.orders.Value",
    }
    return json.dumps(record)


def optional(name: str, kind: object) -> dict[str, object]:
    """Return a nullable field with default null."""
    return {"name": name, "type": ["null", kind], "default": None}


FIRST, SECOND, LEAN, UNKNOWN = 1, 7, 260, 4242
"""Schema ids. `LEAN` has no item; `UNKNOWN` is not registered."""

SCHEMAS = {
    FIRST: order_schema(),
    SECOND: order_schema(optional("currency", "string")),
    LEAN: order_schema(without="item"),
}
