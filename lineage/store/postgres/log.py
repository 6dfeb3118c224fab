# SPDX-License-Identifier: Apache-2.0
"""The event log in Postgres, written with the lease."""

import os
import time
from collections.abc import Collection, Sequence
from pathlib import Path

from lineage.events import Original
from lineage.events.event import MAX_CLOCK_SKEW
from lineage.events.ids import RunId
from lineage.graph.snapshot import run_key
from lineage.rules.event_reader import EventReader
from lineage.store import segments
from lineage.store.compression import compress
from lineage.store.database import lock_directory
from lineage.store.dead_letters import DeadLetterKind
from lineage.store.horizons import Horizons
from lineage.store.offsets import Offsets
from lineage.store.postgres import sql
from lineage.store.postgres.address import PASSWORD, PostgresAddress
from lineage.store.postgres.connections import Connection
from lineage.store.postgres.dead_letters import PostgresDeadLetters
from lineage.store.postgres.lease import WriterLease
from lineage.store.postgres.listener import Listener
from lineage.store.postgres.log_reads import LogReads
from lineage.store.postgres.migrate import migrate
from lineage.store.postgres.offsets import PostgresOffsets, set_offsets
from lineage.store.postgres.reading import ReadingConnection
from lineage.store.postgres.snapshots import PostgresSnapshots
from lineage.store.rows import row_key


class PostgresLog(LogReads):
    """Log of one database, written by one instance at a time. Thread-safe.

    It is opened with compaction paused, to be read whole: call `resume_compaction` after that.
    The data directory of each instance is locked against other processes.
    """

    def __init__(self, address: PostgresAddress, directory: Path, instance: str) -> None:
        """Open or create the log, and take the lease if it is free. `instance` is the name that others show.

        Raises:
            StoreError: the server cannot be reached, or rejects the login.
            StoreUnusable: the directory is in use, or the tables are of another version.
        """
        self._lock_file = lock_directory(directory)
        try:
            migrate(address)
            self.address = address
            self.lease = WriterLease(address, instance)
            if self.lease.take():
                self.lease.activate()
            self._last_of_epoch = (0, 0)
        except BaseException:
            os.close(self._lock_file)
            raise
        super().__init__(ReadingConnection(address))
        self._listener = Listener(address)
        self.snapshots = PostgresSnapshots(self._reader, self.lease)
        self.offsets = PostgresOffsets(self._reader)
        self.dead_letters = PostgresDeadLetters(self._reader, self.lease)
        self.lease_is_free()
        self.pause_compaction()

    @property
    def location(self) -> str:
        """Return the URL of the database, without a password."""
        return str(self.address)

    @property
    def identity(self) -> str:
        """Return the UUID that was generated with the tables."""
        row = self._reader.row(sql.IDENTITY)
        assert row is not None
        return str(row[0])

    @property
    def environment(self) -> dict[str, str]:
        """Return environment variables that a subprocess needs to read the log."""
        return {} if self.address.password is None else {PASSWORD: self.address.password}

    @property
    def writes(self) -> bool:
        """Return whether this instance is the writing one."""
        return self.lease.writes

    def check_writes(self) -> None:
        """Raise NotWriter, which names the writing instance, unless this is the one."""
        if not self.lease.writes:
            raise self.lease.not_writer()

    def append(
        self, events: Sequence[Original], accepted: int | None = None, offsets: Offsets | None = None
    ) -> list[bool]:
        """Store events in one transaction; on return they are on disk. False for each one stored before.

        `accepted` is the time of acceptance in nanoseconds, by default now. `offsets` are those after the records of
        Kafka that the events were read from.

        Raises:
            NotWriter: another instance writes; nothing of the batch was stored.
            StoreFull: no space left; nothing of the batch was stored.
            StoreError: storing failed otherwise. Where the connection broke all of the batch may have been stored.
        """
        accepted = time.time_ns() if accepted is None else accepted
        unique = {event.hash: event for event in events}
        values = _columns(list(unique.values()), accepted)
        with self.lease.writing() as connection:
            rows = _insert(connection, values) if unique else []
            set_offsets(connection, offsets or {})
            epoch = self.lease.epoch
        if rows:
            self._last_of_epoch = (epoch, rows[-1][0])
        stored = {content_hash for _, content_hash in rows}
        # True only for the first of equal events.
        return [event.hash in stored and unique.pop(event.hash, None) is not None for event in events]

    def last(self) -> int:
        """Return the number of the last event; 0 if there is none."""
        epoch, last = self._last_of_epoch
        if self.lease.writes and self.lease.epoch == epoch:
            return last
        return self._reader.number(sql.LAST)

    def set_position(self, name: str, seq: int) -> None:
        """Store the position of a reader of the log; events after it are not compacted.

        Positions are those of the writing instance; another one stores nothing, and rebuilds from the log if events
        were compacted that it has not applied.
        """
        if not self.lease.writes:
            return
        with self.lease.writing() as connection:
            connection.execute(sql.SET_POSITION, (name, seq))

    def keep_positions(self, names: Collection[str]) -> None:
        """Register these readers, and remove all others, whose unread events would never be compacted."""
        with self.lease.writing() as connection:
            connection.execute(sql.REMOVE_OTHER_POSITIONS, ([*names],))
            for name in names:
                connection.execute(sql.ADD_POSITION, (name,))

    def compact(self, reader: EventReader, horizons: Horizons) -> int:
        """Move one slice of events into snapshots (see `Snapshots.compact`); returns how many, 0 at the end.

        Unusable rows become dead letters, which are not compacted.
        """
        self.check_writes()
        while True:
            damaged: list[tuple[bytes, Exception]] = []
            removed = self.snapshots.compact(reader, horizons, lambda *one, damaged=damaged: damaged.append(one))
            for content_hash, error in damaged:
                self.dead_letters.park(DeadLetterKind.DAMAGED, content_hash, str(error))
            if removed or not damaged:
                return removed

    def forget_runs(self, runs: Collection[RunId]) -> None:
        """Remove the snapshots of runs.

        Raises:
            StoreError: the database cannot be written, or another instance writes.
        """
        with self.lease.writing() as connection, connection.cursor() as cursor:
            cursor.executemany(sql.DELETE_SNAPSHOT, [row_key(run_key(run)) for run in runs])

    def seal(self) -> int:
        """Compress the oldest single events in segments (see `lineage.store.segments.Segments.seal`)."""
        self.check_writes()
        found = segments.next_segments(self._reader.rows(sql.OLDEST_BODIES, (segments.events_per_seal(),)))
        if not found:
            return 0
        packed = [segments.packed_segment(rows) for rows in found]
        with self.lease.writing() as connection, connection.cursor() as cursor:
            # Events that were compacted meanwhile stay in the segment, which retention drops later.
            cursor.execute(sql.DELETE_BODIES_BETWEEN, (packed[0][0], packed[-1][1]))
            cursor.executemany(sql.INSERT_SEGMENT, packed)
        return sum(map(len, found))

    def shrink(self) -> None:
        """Leave free space to autovacuum."""

    def pause_compaction(self) -> None:
        """Keep another instance from compacting events while this one reads the whole log."""
        if not self.lease.writes:
            self._reader.pause_compaction()

    def resume_compaction(self) -> None:
        """Allow compaction again."""
        self._reader.resume_compaction()

    def wait(self, seconds: float) -> None:
        """Return when another instance has stored events, at the latest after `seconds`."""
        self._listener.wait(seconds)

    def lease_is_free(self) -> bool:
        """Return whether no instance has the lease; read the name of the one that has it."""
        row = self._reader.row(sql.HOLDER)
        self.lease.holder, held = row or ("", False)
        return not held

    def close(self) -> None:
        """Give the lease up and close all connections."""
        self.lease.give_up()
        self._listener.close()
        self._reader.close()
        os.close(self._lock_file)


def _columns(events: Sequence[Original], accepted: int) -> dict[str, object]:
    """Return the columns of events as values of `INSERT_EVENTS`."""
    return {
        "accepted": accepted,
        "hashes": [event.hash for event in events],
        "kinds": [event.kind.value for event in events],
        "times": [min(event.time, accepted + MAX_CLOCK_SKEW) for event in events],
        "runs": [event.run for event in events],
        "namespaces": [event.namespace for event in events],
        "bodies": [compress(event.data) for event in events],
    }


def _insert(connection: Connection, values: dict[str, object]) -> list[tuple[int, bytes]]:
    """Insert new events, and notify reading instances at the commit; return number and hash of the new ones."""
    connection.execute(sql.INSERT_NAMESPACES, (values["namespaces"],))
    rows: list[tuple[int, bytes]] = connection.execute(sql.INSERT_EVENTS, values, binary=True).fetchall()
    if rows:
        connection.execute(sql.NOTIFY, (str(rows[-1][0]),))
    return rows
