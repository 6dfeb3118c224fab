# SPDX-License-Identifier: Apache-2.0
"""Contents of the ETL's two tables, compared with the topic: each order must be in exactly one of them, once."""

import threading
import time
from collections import Counter
from dataclasses import dataclass

from infra.namespaces import TABLE_ORDERS, TABLE_ORDERS_REJECTED, TOPIC_ORDERS
from tests.smoke.delivery import STORE_ERRORS
from tests.smoke.stores import PipelineStores
from tests.stack.polling import HANGING_SECONDS

SETTLED_SECONDS = 12.0
"""Two triggers of the ETL and one batch: the time in which a duplicate would be written."""


@dataclass(frozen=True)
class EtlTables:
    """Order ids in the topic and in the ETL's tables.

    Attributes:
        topic: order ids of the topic.
        accepted: number of rows per order in `sales.orders`.
        rejected: number of rows per order in `sales.orders_rejected`.
    """

    topic: frozenset[str]
    accepted: Counter[str]
    rejected: Counter[str]

    @property
    def is_complete(self) -> bool:
        """True if every order of the topic is in a table."""
        return self.topic <= self.accepted.keys() | self.rejected.keys()

    @property
    def differences(self) -> list[str]:
        """Missing and surplus orders, one line of text each."""
        tables = (self.accepted, self.rejected)
        found = {
            "orders of the topic missing in both tables": self.topic - self.accepted.keys() - self.rejected.keys(),
            "orders that are in both tables": self.accepted.keys() & self.rejected.keys(),
            "orders that are in a table more than once": {
                key for table in tables for key, count in table.items() if count > 1
            },
            "orders of a table without a record in the topic": (self.accepted.keys() | self.rejected.keys())
            - self.topic,
        }
        return [f"{len(members)} {kind}, as {next(iter(members))}" for kind, members in found.items() if members]


def read_etl_tables(stores: PipelineStores) -> EtlTables:
    """Return the present contents. The topic is read first, so that later records do not count as missing."""
    topic = frozenset(record.key for record in stores.records(TOPIC_ORDERS))
    return EtlTables(topic, _ids(stores, TABLE_ORDERS), _ids(stores, TABLE_ORDERS_REJECTED))


def await_etl(stores: PipelineStores) -> EtlTables:
    """Wait until every order of the topic is in a table; no producer may be running.

    A complete result is read again after `SETTLED_SECONDS`, as duplicates appear with a later batch.

    Returns:
        The contents, complete or as they were at the timeout; callers check `differences`.
    """
    deadline, waiter = time.monotonic() + HANGING_SECONDS, threading.Event()
    settled = False
    while True:
        try:
            found = read_etl_tables(stores)
        except STORE_ERRORS:
            if time.monotonic() > deadline:
                raise
        else:
            if (found.is_complete and settled) or time.monotonic() > deadline:
                return found
            settled = found.is_complete
        waiter.wait(SETTLED_SECONDS if settled else 1)


def _ids(stores: PipelineStores, table: str) -> Counter[str]:
    if not stores.has_table(table):
        return Counter()
    return Counter(stores.table(table).column("order_id").to_pylist())
