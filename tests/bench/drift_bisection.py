# SPDX-License-Identifier: Apache-2.0
"""Search for the cause of a wrong number without lineage: a script that bisects every store of a lab.

It knows a time at which the number was right and the addresses of all systems, but not what is derived from what. So it
looks at all tables, topics, subjects and logs: for the first snapshot after which a column has more nulls, the first
record with a new schema, and lines with errors. What changed first comes first.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow
from confluent_kafka import Consumer, TopicPartition
from pyiceberg.table import Table

from tests.smoke.stores import HEADER_BYTES, PipelineStores

NULL_SHARE_CHANGE = 0.1
"""Difference of the share of nulls in a column that counts as a change."""

ERROR_WORDS = ("ERROR", "Traceback")
POLL_SECONDS = 20
NO_SCHEMA = -1


@dataclass(frozen=True, order=True)
class Suspect:
    """Change after the time: when it was first seen (ms since 1970; infinite if unknown), where, and what it is."""

    first_seen: float
    place: str
    what: str


@dataclass
class Reads:
    """Counts of rows, records, responses and lines."""

    table_rows: int = 0
    records: int = 0
    responses: int = 0
    log_lines: int = 0

    def __str__(self) -> str:
        return (
            f"{self.table_rows} rows of tables, {self.records} records, {self.responses} responses of the registry,"
            f" {self.log_lines} lines of logs"
        )


@dataclass
class Bisection:
    """Search over the stores of one lab; `services` is the folder of its services, `since` in ms since 1970."""

    stores: PipelineStores
    bootstrap: str
    services: Path
    since: int
    reads: Reads = field(default_factory=Reads)

    def suspects(self) -> list[Suspect]:
        """Return all changes after the time, first ones first."""
        return sorted([*self._tables(), *self._topics(), *self._subjects(), *self._logs()])

    def _tables(self) -> Iterator[Suspect]:
        for name in self.stores.tables():
            yield from self._columns(name, self.stores.iceberg_table(name))

    def _columns(self, name: str, table: Table) -> Iterator[Suspect]:
        snapshots = sorted(table.metadata.snapshots, key=lambda snapshot: snapshot.timestamp_ms)
        before = [snapshot for snapshot in snapshots if snapshot.timestamp_ms <= self.since]
        after = snapshots[len(before) :]
        if not before or not after:
            return
        base = self._nulls(table, before[-1].snapshot_id)
        shares: dict[int, dict[str, float]] = {}

        def has_changed(index: int, column: str) -> bool:
            if index not in shares:
                shares[index] = _share_changes(base, self._nulls(table, after[index].snapshot_id))
            return abs(shares[index].get(column, 0)) > NULL_SHARE_CHANGE

        for column in table.schema().column_names:
            if has_changed(len(after) - 1, column):
                first = _bisect(len(after) - 1, lambda index, column=column: has_changed(index, column))
                yield Suspect(after[first].timestamp_ms, name, f"{column}: share of nulls {shares[first][column]:+.0%}")

    def _nulls(self, table: Table, snapshot: int) -> tuple[int, dict[str, int]]:
        """Return the rows of a snapshot, and column -> nulls."""
        rows: pyarrow.Table = table.scan(snapshot_id=snapshot).to_arrow()
        self.reads.table_rows += rows.num_rows
        return rows.num_rows, {name: rows[name].null_count for name in rows.column_names}

    def _topics(self) -> Iterator[Suspect]:
        consumer = Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": "bisection",
                "isolation.level": "read_committed",
                "fetch.wait.max.ms": 10,
            }
        )
        try:
            for topic, found in consumer.list_topics(timeout=60).topics.items():
                if not topic.startswith("_"):
                    for partition in found.partitions:
                        yield from self._schemas(consumer, topic, partition)
        finally:
            consumer.close()

    def _schemas(self, consumer: Consumer, topic: str, partition: int) -> Iterator[Suspect]:
        low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=60)
        (found,) = consumer.offsets_for_times([TopicPartition(topic, partition, self.since)], timeout=60)
        first = found.offset if found.offset >= 0 else high
        if not low < first < high:
            return
        known, _ = self._schema_at(consumer, topic, partition, first - 1)
        last, _ = self._schema_at(consumer, topic, partition, max(first, high - 2))  # the last offset may be a marker
        if last == known:
            return
        changed = first + _bisect(
            high - 2 - first,
            lambda index: self._schema_at(consumer, topic, partition, first + index)[0] != known,
        )
        identifier, timestamp = self._schema_at(consumer, topic, partition, changed)
        yield Suspect(timestamp, topic, f"partition {partition}: schema {identifier} instead of {known}")

    def _schema_at(self, consumer: Consumer, topic: str, partition: int, offset: int) -> tuple[int, int]:
        """Return schema id and timestamp of the first record from an offset on."""
        consumer.assign([TopicPartition(topic, partition, offset)])
        message = consumer.poll(POLL_SECONDS)
        while message is not None and message.error() is None and message.value() is None:  # tombstone
            message = consumer.poll(POLL_SECONDS)
        if message is None or message.error() is not None:
            raise RuntimeError(f"{topic}[{partition}]@{offset}: {(message and message.error()) or 'no record'}")
        self.reads.records += 1
        header = message.value()[:HEADER_BYTES]
        return int.from_bytes(header[1:], "big") if header[:1] == b"\0" else NO_SCHEMA, message.timestamp()[1]

    def _subjects(self) -> Iterator[Suspect]:
        """Yield the last change of each subject: the registry does not say when."""
        for subject in self._registry("/subjects"):
            versions = self._registry(f"/subjects/{subject}/versions")
            if len(versions) > 1:
                before, after = (
                    self._registry(f"/subjects/{subject}/versions/{version}")["schema"] for version in versions[-2:]
                )
                if before != after:
                    yield Suspect(float("inf"), subject, f"version {versions[-1]} differs from {versions[-2]}")

    def _registry(self, path: str):
        self.reads.responses += 1
        return self.stores.registry(path)

    def _logs(self) -> Iterator[Suspect]:
        for path in sorted(self.services.glob("*/log")):
            lines = path.read_text(errors="replace").splitlines()
            self.reads.log_lines += len(lines)
            if bad := [line for line in lines if any(word in line for word in ERROR_WORDS)]:
                yield Suspect(float("inf"), path.parent.name, f"{len(bad)} lines with errors")


def _bisect(last: int, holds: Callable[[int], bool]) -> int:
    """Return the first index for which a condition holds, which does at `last` and after the first."""
    low, high = 0, last
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _share_changes(base: tuple[int, dict[str, int]], now: tuple[int, dict[str, int]]) -> dict[str, float]:
    """Return column -> share of nulls among the added rows, minus that before; columns of both only."""
    rows, nulls = base
    added = now[0] - rows
    if not rows or added <= 0:
        return {}
    return {
        column: (count - nulls[column]) / added - nulls[column] / rows
        for column, count in now[1].items()
        if column in nulls
    }
