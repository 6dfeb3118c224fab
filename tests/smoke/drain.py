# SPDX-License-Identifier: Apache-2.0
"""Whether what the shop wrote has arrived everywhere, each record as often as it should."""

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

from infra.namespaces import RAW_TABLES, TOPICS
from infra.services.connect.connectors import ARCHIVE_MS, COMMIT_MS
from tests.smoke.places import Places, Position

AWAY = (OSError, httpx.HTTPError, psycopg.OperationalError, KafkaException, BotoCoreError, ClientError, RESTError)
"""What asking a place raises while it is away."""


@dataclass(frozen=True)
class Arrived:
    """What of one topic is where.

    Attributes:
        rows: order ids in Postgres.
        records: positions of the topic's records, and how often each order is among them.
        lake: how often each record is in the lake.
        archive: how often each order is in the archive.
    """

    rows: frozenset[str]
    records: frozenset[Position]
    orders: Mapping[str, int]
    lake: Mapping[Position, int]
    archive: Mapping[str, int]

    @property
    def is_complete(self) -> bool:
        """Nothing is missing anywhere."""
        everywhere = self.rows <= self.orders.keys() and self.records <= self.lake.keys()
        return everywhere and self.orders.keys() <= self.archive.keys() and not self.differences

    @property
    def differences(self) -> list[str]:
        """What is too much, or too little, in words."""
        found = {
            "rows of Postgres that are in no record": self.rows - self.orders.keys(),
            "orders of the topic that are no row of Postgres": self.orders.keys() - self.rows,
            "records that are not in the lake": self.records - self.lake.keys(),
            "rows of the lake that are no record": self.lake.keys() - self.records,
            "records that are in the lake more than once": {p for p, count in self.lake.items() if count > 1},
            "orders that the archive has fewer times than the topic": {
                key for key, count in self.orders.items() if self.archive.get(key, 0) < count
            },
            "orders that the archive has more times than the topic": {
                key for key, count in self.archive.items() if self.orders.get(key, 0) < count
            },
        }
        return [f"{len(members)} {what}, as {next(iter(members))}" for what, members in found.items() if members]


SETTLED_SECONDS = 2 * (COMMIT_MS + ARCHIVE_MS) / 1000
"""Every sink has committed twice by then, if it has anything."""


def look(places: Places, topic: str) -> Arrived:
    """Everything that has come of a topic by now."""
    records = list(places.records(topic))
    return Arrived(
        rows=frozenset(places.rows(topic)),
        records=frozenset(record.position for record in records),
        orders=Counter(record.key for record in records),
        lake=places.positions(topic) if places.has_table(RAW_TABLES[topic]) else {},
        archive=Counter(line["order_id"] for line in places.archived(topic)),
    )


def drain(places: Places, seconds: float = 120) -> dict[str, Arrived]:
    """Waits until all that the shop wrote has arrived everywhere; the shop must have stopped.

    What is complete is looked at once more after the sinks had time for another commit: what comes twice comes late.

    Returns:
        What is where by topic: complete, or as it was when time was up. Whoever asks looks at `differences`.
    """
    deadline, waiter = time.monotonic() + seconds, threading.Event()
    settled = False
    while True:
        try:
            arrived = {topic: look(places, topic) for topic in TOPICS}
        except AWAY:
            if time.monotonic() > deadline:
                raise
        else:
            complete = all(each.is_complete for each in arrived.values())
            if (complete and settled) or time.monotonic() > deadline:
                return arrived
            settled = complete
        waiter.wait(SETTLED_SECONDS if settled else 1)
