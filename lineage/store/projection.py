# SPDX-License-Identifier: Apache-2.0
"""Projection of the event log: the present in memory, archived runs in the state file."""

import logging
import sqlite3
from collections.abc import Iterator

from lineage.events import DatasetId, Event, EventError, JobId
from lineage.events.ids import RunId
from lineage.graph import Graph, LineageRecords
from lineage.graph.run_record import TERMINAL_RANK
from lineage.graph.snapshot import Key, Subject, restore
from lineage.rules.event_reader import EventReader
from lineage.store import DeadLetterKind, StoreError
from lineage.store.checkpoint import mark_unsaved, restored_links, save_steps
from lineage.store.event_store import EventStore
from lineage.store.horizons import END_OF_TIME, Horizons
from lineage.store.rows import StoredEvent
from lineage.store.run_loader import RunLoader
from lineage.store.run_retention import forget_runs, forgotten_runs
from lineage.store.state_archive import StateArchive
from lineage.store.state_file import StateFile
from lineage.store.statement_retention import forget_archived
from lineage.store.stored_records import CheckpointRecords

logger = logging.getLogger(__name__)

_EVENTS_PER_STEP = 25
"""Events applied between two yields to the event loop: some 25 ms where no record is in memory."""

MAX_UNSAVED = 20_000
"""Changed records with which a checkpoint is made at once: until then they stay in memory."""

_NAMES_PER_STEP = 1_000
"""Names read between two yields to the event loop."""

STATE_POSITION = "state"
"""Reader of the log that the state file is: events after its checkpoint are not compacted."""

_FOLDING = (DeadLetterKind.FOLD, DeadLetterKind.DAMAGED)
"""Dead letters that are missing in the graph."""


class Projection:
    """Records and graph of a log's events. Not thread-safe.

    While `restoring`, no checkpoint may be made: the state, or snapshots of runs, are read first.
    `unapplied` holds events that are on disk and not in the graph, by hash, with the cause: an event that cannot be
    applied must not affect others. `position` is the number of the last event of the log up to which all are applied.

    Without a state file all runs stay in memory.
    """

    def __init__(self, log: EventStore, reader: EventReader, state: StateFile | None = None) -> None:
        archive = StateArchive(state.connection, RunLoader(log, reader).load) if state else None
        self.lineage = LineageRecords(archive, CheckpointRecords(state.reader) if state else None)
        self.graph = Graph(self.lineage)
        self.unapplied: dict[bytes, tuple[DeadLetterKind, str]] = {}
        self.applied = 0
        self.position = 0
        self.restoring = True
        self.max_unsaved = MAX_UNSAVED
        self.state = state
        self._is_committed = state is not None and state.position is not None
        self._log = log
        self._reader = reader

    @property
    def is_committed(self) -> bool:
        """Return whether nothing was removed from the state, or written to it, since the last checkpoint."""
        return self._is_committed

    @property
    def has_lost_changes(self) -> bool:
        """Return whether the state lacks changes since its last checkpoint, so that only a rebuild can save it."""
        return self.state is not None and self.state.connection.has_lost_changes

    @property
    def needs_checkpoint(self) -> bool:
        """Return whether a checkpoint shall be made at once: many records have changed, or many events arrived."""
        due = self.state is not None and self.state.past_states.is_due(self.position)
        return due or len(self.lineage.unsaved) > self.max_unsaved

    def build(self, checkpoints: bool = False) -> Iterator[None]:
        """Read the state file, if it has any state, and the log after it, in steps.

        With `checkpoints` these are made meanwhile, so that a long log needs little memory, and a crash does not lose
        all; steps with one take up to a second.

        Events that arrive meanwhile are read from the log.
        """
        saved = self.state.position if self.state else None
        if self.state is not None and saved is not None:
            yield from self._restore_checkpoint(self.state)
        else:
            yield from self._restore_snapshots()
        self.restoring = False
        self.position = saved or 0
        yield from self._read_log(checkpoints)
        yield from self._retry_unapplied(saved is not None)
        while self.graph.refresh_some(_EVENTS_PER_STEP):
            yield
        self._release_applied()

    def catch_up(self, last: int) -> Iterator[None]:
        """Apply the events of the log up to number `last` that were not applied, in steps."""
        yield from self._read_log(False, last)
        while self.graph.refresh_some(_EVENTS_PER_STEP):
            yield

    def apply(self, event: Event) -> bool:
        """Apply a stored event; return False if that failed and the event became a dead letter."""
        self.applied += 1
        try:
            self.lineage.apply(event)
            if self.state is not None:
                self.state.index.add(event)
        except Exception as error:
            logger.exception("event %s is stored but cannot be applied", event.hash.hex())
            self._park_event(DeadLetterKind.FOLD, event.hash, repr(error))
            return False
        self.unapplied.pop(event.hash, None)
        if event.run is not None:
            self._archive_runs(event.run.job, event.event_type in TERMINAL_RANK)
        return True

    def apply_stored(self, stored: StoredEvent) -> bool:
        """Apply the naming rules to an event of the log, and the event; return False if that failed."""
        try:
            event = self._reader.event(stored.original, stored.accepted)
        except EventError as error:
            self._park_event(DeadLetterKind.FOLD, stored.original.hash, str(error))
            return False
        return self.apply(event)

    def replay(self, content_hash: bytes) -> bool:
        """Retry applying a dead letter; return False if it fails again."""
        try:
            stored = self._log.event(content_hash)
        except ValueError as error:
            self._park_damaged(content_hash, error)
            return False
        return stored is not None and self.apply_stored(stored)

    def save(self) -> Iterator[None]:
        """Write changed records to the state file in steps. After the last one it is consistent, to be committed.

        Raises:
            sqlite3.Error: the changes since the last checkpoint were lost.
            StoreError: they were lost before.
        """
        if self.state is not None:
            self._is_committed = False
            self.check_changes()
            try:
                yield from save_steps(self.lineage, self.graph, self.state)
            except sqlite3.Error:
                # What a step was to write is not noted as changed any more.
                self.state.connection.roll_back()
                raise

    def check_changes(self) -> None:
        """Check that the state has all changes since its last checkpoint.

        Raises:
            StoreError: some were lost.
        """
        if self.state is not None:
            self.state.connection.check_changes()

    def commit(self) -> None:
        """Make a checkpoint, which must follow the last step of `save` before another event is applied.

        Takes up to a second, and uses the disk.

        Raises:
            sqlite3.Error, StoreError: the state file or the log cannot be written.
        """
        if self.state is not None:
            self.state.past_states.remove_before(self._log.compacted_through())
            if self.state.past_states.is_due(self.position):
                self.state.past_states.keep(self.position, self.lineage.last_time())
            self.state.commit(self.position)
            self._is_committed = True
            if self._log.writes:
                self._log.set_position(STATE_POSITION, self.position)

    def forget_runs(self, horizons: Horizons) -> Iterator[list[RunId]]:
        """Remove old archived runs and versions of datasets from the state, in steps; yield the runs of each step.

        See `run_retention` and `statement_retention`. A checkpoint must follow, and then the removal of the runs from
        the log.
        """
        if self.state is not None:
            for gone in forget_runs(self.state.connection, self.lineage, horizons, self._log.runs_with_events):
                self._is_committed = self._is_committed and not gone
                yield gone
            assert isinstance(self.lineage.archive, StateArchive), "a state file has an archive"
            for count in forget_archived(self.lineage.archive, self.lineage, horizons):
                self._is_committed = self._is_committed and not count
                yield []

    def forgotten_runs(self) -> list[RunId]:
        """Return the runs that retention has removed from the state and has to remove from the log."""
        return forgotten_runs(self.state.connection, self.lineage) if self.state is not None else []

    def clear_forgotten_runs(self) -> None:
        """Note, with the next checkpoint, that these runs were removed from the log."""
        if self.state is not None:
            self.state.connection.execute("DELETE FROM forgotten_runs")

    def release(self, limit: int | None = None) -> Iterator[None]:
        """Remove records that were not used lately from memory, in steps, unless a checkpoint is not committed yet.

        At most `limit` jobs and as many datasets are looked at.
        """
        if self._is_committed and self.lineage.has_excess:
            yield from self.lineage.release_steps(limit)

    def _restore_checkpoint(self, state: StateFile) -> Iterator[None]:
        """Restore what must be in memory, the names of all other records, and the lineage of jobs."""
        names: dict[Subject, list[list[str]]] = {Subject.DATASET: [], Subject.JOB: []}
        for count, (subject, name) in enumerate(state.other_names(), start=1):
            names[subject].append(name)
            if count % _NAMES_PER_STEP == 0:
                yield
        self.lineage.add_stored(
            [JobId(*name) for name in names[Subject.JOB]], [DatasetId(*name) for name in names[Subject.DATASET]]
        )
        yield
        for count, snapshot in enumerate(state.records_in_memory(), start=1):
            restore(self.lineage, [snapshot])
            if count % _EVENTS_PER_STEP == 0:
                yield
        yield from self._restore_lineages(state)

    def _restore_snapshots(self) -> Iterator[None]:
        """Restore the snapshots of the log."""
        job: JobId | None = None
        for count, snapshot in enumerate(self._log.snapshots.all(), start=1):
            restore(self.lineage, [snapshot])
            if self.state is not None:
                self.state.index.add_links(restored_links(self.lineage, snapshot.key))
                mark_unsaved(self.lineage, snapshot.key)
                job = self._archive_restored(snapshot.key, job)
            if count % _EVENTS_PER_STEP == 0:
                yield

    def _archive_restored(self, key: Key, previous: JobId | None) -> JobId | None:
        """Archive the runs of the `previous` job once those of the next one follow; return the job of a run."""
        if key.subject is not Subject.RUN:
            return None
        job = JobId(*key.identity[:2])
        if previous is not None and previous != job:
            self._archive_runs(previous, ended=True)
        return job

    def _restore_lineages(self, state: StateFile) -> Iterator[None]:
        jobs = {job: job for job in self.lineage.jobs}
        datasets = {name: name for name in self.lineage.nodes.by_name}
        for count, (job, packed) in enumerate(state.lineages(), start=1):
            self.graph.restore(jobs[job], packed, lambda dataset: datasets.setdefault(dataset, dataset))
            if count % _EVENTS_PER_STEP == 0:
                yield

    def _archive_runs(self, job: JobId, ended: bool) -> None:
        try:
            self.lineage.archive_runs(job, ended)
        except sqlite3.Error:
            # They stay in memory until it succeeds.
            logger.exception("runs of job %s/%s cannot be moved to the state file", job.namespace, job.name)

    def _read_log(self, checkpoints: bool, last: int = END_OF_TIME) -> Iterator[None]:
        for count, stored in enumerate(self._log.events(self._park_damaged, self.position), start=1):
            if stored.seq > last:
                return
            self.apply_stored(stored)
            self.position = stored.seq
            if count % _EVENTS_PER_STEP == 0:
                yield
                if checkpoints and self.needs_checkpoint:
                    try:
                        yield from self.save()
                        self.commit()
                    except (sqlite3.Error, StoreError):
                        logger.exception("the state cannot be saved; all records stay in memory")
                        checkpoints = False
                    else:
                        yield from self.release()

    def _retry_unapplied(self, restored: bool) -> Iterator[None]:
        """Retry dead letters of events that are before the restored state; the others were read from the log."""
        for trouble in _FOLDING if restored else ():
            for content_hash in self._log.dead_letters.hashes(trouble):
                if content_hash not in self.unapplied:
                    self.replay(content_hash)
                    yield

    def _park_damaged(self, content_hash: bytes, error: Exception) -> None:
        logger.error("event %s: %s", content_hash.hex(), error)
        self._park_event(DeadLetterKind.DAMAGED, content_hash, str(error))

    def _park_event(self, trouble: DeadLetterKind, content_hash: bytes, error: str) -> None:
        self.unapplied[content_hash] = (trouble, error)
        if not self._log.writes:
            # The writing instance stores it.
            return
        try:
            self._log.dead_letters.park(trouble, content_hash, error)
        except StoreError:
            # It is in memory until the process ends, and detected again at the next start.
            logger.exception("dead letter %s cannot be stored", content_hash.hex())

    def _release_applied(self) -> None:
        """Release dead letters that have been applied."""
        if not self._log.writes:
            return
        for trouble in _FOLDING:
            for content_hash in self._log.dead_letters.hashes(trouble):
                if content_hash not in self.unapplied:
                    self._log.dead_letters.release(trouble, content_hash)
