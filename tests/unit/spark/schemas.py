# SPDX-License-Identifier: Apache-2.0
"""Schemas of topic `orders` as Debezium and the registry's converter write them, version by version."""

import json


def order_schema(*fields: dict[str, object], without: str = "") -> str:
    """The first version's record, with more fields, or without one of its own."""
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
    """A field that may be null, and is where it is left out."""
    return {"name": name, "type": ["null", kind], "default": None}


FIRST, SECOND, LEAN, UNKNOWN = 1, 7, 260, 4242
"""Ids. `LEAN` has lost its item; the registry does not know `UNKNOWN`."""

SCHEMAS = {
    FIRST: order_schema(),
    SECOND: order_schema(optional("currency", "string")),
    LEAN: order_schema(without="item"),
}
