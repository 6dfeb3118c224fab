# SPDX-License-Identifier: Apache-2.0
"""Delivery of the shop's rows to Kafka, lake and archive, compared record by record."""

import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import httpx
import psycopg
from botocore.exceptions import BotoCoreError, ClientError
from confluent_kafka import KafkaException
from pyiceberg.exceptions import RESTError

from infra.namespaces import RAW_TABLES, SHOP_TOPICS
from infra.services.connect.connectors import ARCHIVE_MS, COMMIT_MS
from tests.smoke.stores import PipelineStores, Position
from tests.stack.polling import HANGING_SECONDS

STORE_ERRORS = (
    OSError,
    httpx.HTTPError,
    psycopg.OperationalError,
    KafkaException,
    BotoCoreError,
    ClientError,
    RESTError,
)
"""Errors that the clients of the stores raise while a store is unavailable."""


@dataclass(frozen=True)
class Delivery:
    """Contents of every store for one topic.

    Attributes:
        rows: order ids in Postgres.
        records: positions of the topic's records.
        orders: number of records per order id.
        lake: number of lake rows per record.
    """

    rows: frozenset[str]
    records: frozenset[Position]
    orders: Mapping[str, int]
    lake: Mapping[Position, int]
    archive: Mapping[str, int]

    @property
    def is_complete(self) -> bool:
        """True if no row or record is missing in any store, and none is duplicated."""
        everywhere = self.rows <= self.orders.keys() and self.records <= self.lake.keys()
        return everywhere and self.orders.keys() <= self.archive.keys() and not self.differences

    @property
    def differences(self) -> list[str]:
        """Missing and surplus rows and records, one line of text each."""
        found = {
            "rows of Postgres without a record in the topic": self.rows - self.orders.keys(),
            "orders of the topic without a row in Postgres": self.orders.keys() - self.rows,
            "records missing in the lake": self.records - self.lake.keys(),
            "rows of the lake without a record in the topic": self.lake.keys() - self.records,
            "records that are in the lake more than once": {p for p, count in self.lake.items() if count > 1},
            "orders with fewer archive lines than records": {
                key for key, count in self.orders.items() if self.archive.get(key, 0) < count
            },
            "orders with more archive lines than records": {
                key for key, count in self.archive.items() if self.orders.get(key, 0) < count
            },
        }
        return [f"{len(members)} {kind}, as {next(iter(members))}" for kind, members in found.items() if members]


SETTLED_SECONDS = 2 * (COMMIT_MS + ARCHIVE_MS) / 1000
"""Time in which every sink with pending records commits twice."""


def read_delivery(stores: PipelineStores, topic: str) -> Delivery:
    """Return the present contents of all stores for a topic."""
    records = list(stores.records(topic))
    return Delivery(
        rows=frozenset(stores.rows(topic)),
        records=frozenset(record.position for record in records),
        orders=Counter(record.key for record in records),
        lake=stores.positions(topic) if stores.has_table(RAW_TABLES[topic]) else {},
        archive=Counter(line["order_id"] for line in stores.archived(topic)),
    )


def await_delivery(stores: PipelineStores) -> dict[str, Delivery]:
    """Wait until every row of the stopped shop is in every store.

    A complete delivery is read again after `SETTLED_SECONDS`, as duplicates appear with a later commit.

    Returns:
        The delivery by topic, complete or as it was at the timeout; callers check `differences`.
    """
    deadline, waiter = time.monotonic() + HANGING_SECONDS, threading.Event()
    settled = False
    while True:
        try:
            deliveries = {topic: read_delivery(stores, topic) for topic in SHOP_TOPICS}
        except STORE_ERRORS:
            if time.monotonic() > deadline:
                raise
        else:
            complete = all(each.is_complete for each in deliveries.values())
            if (complete and settled) or time.monotonic() > deadline:
                return deliveries
            settled = complete
        waiter.wait(SETTLED_SECONDS if settled else 1)
