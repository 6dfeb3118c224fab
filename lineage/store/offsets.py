# SPDX-License-Identifier: Apache-2.0
"""Offsets of Kafka topics up to which events are stored: part of the transaction that stores the events."""

import sqlite3
from typing import NamedTuple

from lineage.store.database import Database


class Partition(NamedTuple):
    """Partition of a topic."""

    topic: str
    number: int


Offsets = dict[Partition, int]
"""Offset of the next record to read of each partition."""


class StoredOffsets:
    """Table of offsets in the log's file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_topic(self, topic: str) -> Offsets:
        """Return the offsets of all partitions of a topic that were read before."""
        with self._database.reading() as connection:
            rows = connection.execute("SELECT partition, next FROM offsets WHERE topic = ?", (topic,)).fetchall()
        return {Partition(topic, number): following for number, following in rows}


def insert_offsets(connection: sqlite3.Connection, offsets: Offsets) -> None:
    """Store offsets within a transaction."""
    connection.executemany(
        "INSERT INTO offsets VALUES (?, ?, ?) ON CONFLICT (topic, partition) DO UPDATE SET next = excluded.next",
        [(*partition, following) for partition, following in offsets.items()],
    )
