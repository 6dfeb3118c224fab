# SPDX-License-Identifier: Apache-2.0
"""Whether every order of the topic is in exactly one of the ETL's two tables, once."""

import threading
import time
from collections import Counter
from dataclasses import dataclass

from infra.namespaces import TABLE_ORDERS, TABLE_ORDERS_REJECTED, TOPIC_ORDERS
from tests.smoke.drain import AWAY
from tests.smoke.places import Places

SETTLED_SECONDS = 12.0
"""Two triggers of the ETL and its batch: what it would write twice is there by then."""


@dataclass(frozen=True)
class Sorted:
    """Where the orders are.

    Attributes:
        topic: order ids of the topic.
        sound: how often each order is in the table of sound ones.
        rejected: how often each is in the other.
    """

    topic: frozenset[str]
    sound: Counter[str]
    rejected: Counter[str]

    @property
    def is_complete(self) -> bool:
        """None of the topic's orders is missing."""
        return self.topic <= self.sound.keys() | self.rejected.keys()

    @property
    def differences(self) -> list[str]:
        """What is too much, or too little, in words."""
        tables = (self.sound, self.rejected)
        found = {
            "orders of the topic that are in no table": self.topic - self.sound.keys() - self.rejected.keys(),
            "orders that are in both tables": self.sound.keys() & self.rejected.keys(),
            "orders that are in a table more than once": {
                key for table in tables for key, count in table.items() if count > 1
            },
            "orders of a table that the topic does not have": (self.sound.keys() | self.rejected.keys()) - self.topic,
        }
        return [f"{len(members)} {what}, as {next(iter(members))}" for what, members in found.items() if members]


def look(places: Places) -> Sorted:
    """What is where by now. The topic is read first: what comes after that is not missed in the tables."""
    topic = frozenset(record.key for record in places.records(TOPIC_ORDERS))
    return Sorted(topic, _ids(places, TABLE_ORDERS), _ids(places, TABLE_ORDERS_REJECTED))


def await_sorted(places: Places, seconds: float = 120) -> Sorted:
    """Waits until no order of the topic is missing; nobody may be writing to it.

    What is complete is looked at once more after two triggers: what comes twice comes late.

    Returns:
        What is where: complete, or as it was when time was up. Whoever asks looks at `differences`.
    """
    deadline, waiter = time.monotonic() + seconds, threading.Event()
    settled = False
    while True:
        try:
            found = look(places)
        except AWAY:
            if time.monotonic() > deadline:
                raise
        else:
            if (found.is_complete and settled) or time.monotonic() > deadline:
                return found
            settled = found.is_complete
        waiter.wait(SETTLED_SECONDS if settled else 1)


def _ids(places: Places, table: str) -> Counter[str]:
    if not places.has_table(table):
        return Counter()
    return Counter(places.table(table).column("order_id").to_pylist())
