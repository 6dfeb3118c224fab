# SPDX-License-Identifier: Apache-2.0
"""Interface of the event log, which is in a SQLite file or in Postgres.

The methods of `lineage.store.log.EventLog` and of `lineage.store.postgres.log.PostgresLog` document it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from lineage.events import Original
from lineage.events.ids import RunId
from lineage.graph.snapshot import Snapshot
from lineage.rules.event_reader import EventReader
from lineage.store.dead_letters import DeadLetter, DeadLetterKind, RefusedLetter
from lineage.store.event_query import EventQuery
from lineage.store.horizons import Horizons
from lineage.store.offsets import Offsets
from lineage.store.rows import DamagedRowHandler, StoredEvent


class SnapshotStore(Protocol):
    """Snapshots of compacted events."""

    def all(self) -> Iterator[Snapshot]:
        """Yield every snapshot in restore order."""


class OffsetStore(Protocol):
    """Offsets of Kafka topics."""

    def of_topic(self, topic: str) -> Offsets:
        """Return the offsets of all partitions of a topic that were read before."""


class DeadLetterStore(Protocol):
    """Events that could not be processed."""

    def park(self, trouble: DeadLetterKind, content_hash: bytes, error: str) -> None:
        """Add an event, or update its cause."""

    def park_refused(self, letters: Iterable[RefusedLetter]) -> None:
        """Add refused events with their bodies, or update their causes."""

    def refused(self, content_hash: bytes) -> bytes | None:
        """Return the body of a refused event; None if it is not kept."""

    def release(self, trouble: DeadLetterKind, content_hash: bytes) -> None:
        """Remove a dead letter."""

    def hashes(self, trouble: DeadLetterKind) -> list[bytes]:
        """Return the hashes of all events of one kind, oldest first."""

    def count(self) -> dict[DeadLetterKind, int]:
        """Return the number of dead letters of each kind."""

    def page(self, limit: int, offset: int = 0, trouble: DeadLetterKind | None = None) -> list[DeadLetter]:
        """Return one page, oldest first."""


class Lease(Protocol):
    """Lease of the writing instance of a log that several instances share."""

    @property
    def instance(self) -> str:
        """Return the name of this instance."""

    @property
    def holder(self) -> str:
        """Return the name of the writing instance; empty until this instance has seen one."""

    def take(self) -> bool:
        """Take the lease if it is free; return whether this instance has it."""

    def activate(self) -> None:
        """Allow writing with the lease."""

    def give_up(self) -> None:
        """Give the lease up, so that another instance can take it."""


class EventStore(Protocol):
    """Event log. All methods raise StoreError if the log cannot be read or written now. Thread-safe."""

    @property
    def location(self) -> str:
        """Return the path of the file, or the URL of the database without a password."""

    @property
    def identity(self) -> str:
        """Return what no other log has that may be used with the same data directory."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Return environment variables that a subprocess needs to read the log."""

    @property
    def lease(self) -> Lease | None:
        """Return the lease; None if no other instance can open the log."""

    @property
    def writes(self) -> bool:
        """Return whether this instance is the writing one."""

    @property
    def snapshots(self) -> SnapshotStore:
        """Return the snapshots of compacted events."""

    @property
    def offsets(self) -> OffsetStore:
        """Return the offsets of Kafka topics."""

    @property
    def dead_letters(self) -> DeadLetterStore:
        """Return the dead letters."""

    def check_writes(self) -> None:
        """Raise NotWriter, which names the writing instance, unless this is the one."""

    def append(
        self, events: Sequence[Original], accepted: int | None = None, offsets: Offsets | None = None
    ) -> list[bool]:
        """Store events in one transaction; False for each one stored before."""

    def events(self, on_damaged: DamagedRowHandler, after: int = 0) -> Iterator[StoredEvent]:
        """Yield every event after number `after` that is not compacted, in order of arrival."""

    def event(self, content_hash: bytes) -> StoredEvent | None:
        """Return the event stored under a hash, or None."""

    def after(self, seq: int, limit: int) -> list[StoredEvent]:
        """Return up to `limit` events after number `seq`, in order of arrival."""

    def history_of_run(self, run: RunId) -> tuple[Snapshot | None, list[StoredEvent]]:
        """Return the snapshot of a run's compacted events, if any, and all other events of its UUID."""

    def number(self, content_hash: bytes) -> int:
        """Return the number of an event, given its hash or that of its order; 0 if it was compacted."""

    def count(self) -> int:
        """Return the number of events in the log, without compacted ones."""

    def last(self) -> int:
        """Return the number of the last event; 0 if there is none."""

    def run_events(self, query: EventQuery) -> tuple[list[bytes], int]:
        """Return one page of run events as they came, and the total number of matches."""

    def latest_run_events(self, number: int) -> list[StoredEvent]:
        """Return the latest `number` run events by event time, newest first."""

    def position(self, name: str) -> int:
        """Return the position of a reader."""

    def set_position(self, name: str, seq: int) -> None:
        """Store the position of a reader; events after it are not compacted."""

    def keep_positions(self, names: Collection[str]) -> None:
        """Register these readers, and remove all others."""

    def runs_with_events(self, runs: Collection[str]) -> set[str]:
        """Return those of some UUIDs that have events in the log."""

    def forget_runs(self, runs: Collection[RunId]) -> None:
        """Remove the snapshots of runs."""

    def compact(self, reader: EventReader, horizons: Horizons) -> int:
        """Move one slice of events into snapshots; returns how many, 0 at the end."""

    def seal(self) -> int:
        """Compress events in segments; return their number, 0 if there are too few."""

    def shrink(self) -> None:
        """Free the space of compacted events."""

    def compacted_through(self) -> int:
        """Return the greatest number of a compacted event, as far as instances must know it; else 0."""

    def pause_compaction(self) -> None:
        """Keep another instance from compacting events while this one reads the whole log."""

    def resume_compaction(self) -> None:
        """Allow compaction again."""

    def wait(self, seconds: float) -> None:
        """Return when another instance has stored events, at the latest after `seconds`."""

    def lease_is_free(self) -> bool:
        """Return whether no instance has the lease; read the name of the one that has it."""

    def close(self) -> None:
        """Close the log."""
