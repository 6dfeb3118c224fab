# SPDX-License-Identifier: Apache-2.0
"""Offsets of Kafka topics in Postgres. See `lineage.store.offsets`."""

from lineage.store.offsets import Offsets, Partition
from lineage.store.postgres import sql
from lineage.store.postgres.connections import Connection
from lineage.store.postgres.reading import ReadingConnection


class PostgresOffsets:
    """Table of offsets."""

    def __init__(self, reader: ReadingConnection) -> None:
        self._reader = reader

    def of_topic(self, topic: str) -> Offsets:
        """Return the offsets of all partitions of a topic that were read before."""
        return {Partition(topic, number): following for number, following in self._reader.rows(sql.OFFSETS, (topic,))}


def set_offsets(connection: Connection, offsets: Offsets) -> None:
    """Store offsets within a transaction."""
    if offsets:
        with connection.cursor() as cursor:
            cursor.executemany(sql.SET_OFFSET, [(*one, following) for one, following in offsets.items()])
