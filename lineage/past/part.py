# SPDX-License-Identifier: Apache-2.0
"""Part of a past graph, made of the events that it depends on.

Records of a past state are restored when they are needed, and the events after it applied, up to the time asked for.
What one record depends on is found in the index of everything that ever was (`lineage.store.history_index`), so that
it is complete at any time:

- a dataset on all jobs that ever used one of its names, and on all names that were ever connected with one of these;
- a job on its own events, the names that it ever used, and the jobs of the runs that its runs name as parent or root.
"""

import sqlite3
from collections.abc import Collection, Iterable, Iterator

from lineage.events import DatasetId, Event, EventError, JobId
from lineage.graph import Graph, LineageRecords
from lineage.graph.dataset_lineage import declared_job
from lineage.graph.records import Archive
from lineage.graph.run_record import RunRecord
from lineage.graph.snapshot import Key, Snapshot, Subject, restore, run_position, subjects_of
from lineage.past.archive import PastArchive
from lineage.past.tail import Tail
from lineage.rules.event_reader import EventReader
from lineage.store.graph_as_of import LogRows
from lineage.store.history_index import CATALOG, HistoryRead, run_keys
from lineage.store.past_states import PastRecords, PastState
from lineage.store.rows import EventRow, row_key, stored_events
from lineage.store.run_loader import RunLoader


class _Records(LineageRecords):
    """Records of a part; a run that something asks for is read first."""

    def __init__(self, part: "PastPart", archive: Archive | None) -> None:
        super().__init__(archive)
        self._part = part

    def run(self, run: str, job: JobId | None = None) -> RunRecord | None:
        """Return the run with this UUID, preferably of `job`; None if unknown."""
        self._part.need_jobs(self._part.jobs_of_run(run.lower()))
        return super().run(run, job)


class PastPart:
    """Records and graph as of time `at` (ns), complete for what was needed; the rest is missing or incomplete.

    `found` is a past state without later events; None: nothing was compacted, and all events are read. `state` is not
    used for anything else afterwards.
    """

    def __init__(
        self, log: LogRows, state: sqlite3.Connection, found: PastState | None, at: int, reader: EventReader
    ) -> None:
        self._log, self._reader, self._at = log, reader, at
        self._index = HistoryRead(state)
        self._after = found.position if found else 0
        self._last_run = found.last_run if found else 0
        archive = PastArchive(state, found, RunLoader(log, reader, at).load, at) if found else None
        self._base = PastRecords(state, found) if found else None
        self.lineage: LineageRecords = _Records(self, archive)
        self.graph = Graph(self.lineage)
        self._jobs: set[JobId] = set()
        self._datasets: set[DatasetId] = set()
        self._restored: set[DatasetId] = set()
        (position,) = state.execute("SELECT position FROM checkpoint").fetchone()
        self._tail = Tail(self._events_after(position or 0))
        self._restore_catalog()

    def need_jobs(self, jobs: Iterable[JobId]) -> None:
        """Make the records of jobs with their runs complete; their datasets need not be."""
        new = set(jobs) - self._jobs
        if not new:
            return
        self._jobs |= new
        runs: set[str] = set()
        hashes: list[bytes] = []
        for job in new:
            self._restore_job(job)
            runs |= self._index.runs_of(job, self._last_run, self._at)
            hashes += self._index.other_events(Key(Subject.JOB, tuple(job)), self._at)
        for event in (*self._stored(runs, hashes), *(event for job in new for event in self._tail.of_job[job])):
            if declared_job(event).job in new:
                self._apply(event)

    def need_datasets(self, names: Iterable[DatasetId]) -> None:
        """Make the records of datasets complete: all names that lead to them, and all jobs that used one of these."""
        new = self._connected(set(names) - self._datasets) - self._datasets
        if not new:
            return
        self._datasets |= new
        jobs: set[JobId] = set()
        hashes: list[bytes] = []
        for name in new:
            self._restore_dataset(name)
            jobs |= self._index.jobs_using(name) | self._tail.jobs_using[name]
            hashes += self._index.other_events(Key(Subject.DATASET, tuple(name)), self._at)
        self.need_jobs(jobs)
        others = (event for name in new for event in self._tail.others[Key(Subject.DATASET, tuple(name))])
        for event in (*self._stored((), hashes), *others):
            self._apply(event)
        # Restored records do not say which jobs use them.
        self.lineage.touched.update(job for job in jobs if job in self.lineage.jobs)

    def need_lineages(self, jobs: Collection[JobId]) -> None:
        """Make the lineage of jobs complete, with all datasets that they ever used."""
        self.need_jobs(jobs)
        self.need_datasets({name for job in jobs for name in (*self._index.used_by(job), *self._tail.used_by[job])})
        self.graph.refresh()

    def jobs_of_run(self, run: str) -> set[JobId]:
        """Return the jobs that ever had a run with a UUID."""
        return self._index.jobs_of_run(run) | self._tail.jobs_of_run[run]

    def knows_job(self, job: JobId) -> bool:
        """Return whether an event ever named a job."""
        return self._index.has_job(job) or job in self._tail.of_job

    def knows_dataset(self, name: DatasetId) -> bool:
        """Return whether an event ever named a dataset."""
        tail = self._tail
        known = name in tail.jobs_using or name in tail.linked_names or Key(Subject.DATASET, tuple(name)) in tail.others
        return known or self._index.has_dataset(name)

    def _connected(self, names: set[DatasetId]) -> set[DatasetId]:
        """Return names with all that were ever connected with them."""
        found, level = set(names), set(names)
        while level:
            linked = (self._index.linked_names(name) | self._tail.linked_names[name] for name in level)
            level = set().union(*linked) - found
            found |= level
        return found

    def _apply(self, event: Event) -> None:
        for key in subjects_of(event):
            if key.subject is Subject.DATASET:
                self._restore_dataset(DatasetId(*key.identity))
        self.lineage.apply(event)

    def _restore_catalog(self) -> None:
        if self._base is not None:
            restore(self.lineage, self._base.between(Subject.CATALOG, "", "\U0010ffff"))
        for event in (*self._stored((), self._index.other_events(CATALOG, self._at)), *self._tail.others[CATALOG]):
            self.lineage.apply(event)

    def _restore_job(self, job: JobId) -> None:
        if self._base is None:
            return
        record = self._base.record(*row_key(Key(Subject.JOB, tuple(job))))
        if record is not None:
            runs = sorted(self._base.between(Subject.RUN, *run_keys(job)), key=run_position)
            restore(self.lineage, [record, *runs])

    def _restore_dataset(self, name: DatasetId) -> None:
        if name in self._restored:
            return
        self._restored.add(name)
        record = self._base.record(*row_key(Key(Subject.DATASET, tuple(name)))) if self._base else None
        if record is not None:
            # Most of the jobs that use it are not restored.
            content = {key: value for key, value in record.content.items() if key != "users"}
            restore(self.lineage, [Snapshot(record.key, content)])

    def _stored(self, runs: Iterable[str], hashes: Iterable[bytes]) -> Iterator[Event]:
        """Yield the events of runs, and those with some hashes, that follow the past state."""
        return self._read(self._log.events_of(runs, hashes, self._after, self._at))

    def _read(self, rows: Iterable[EventRow]) -> Iterator[Event]:
        """Yield the events of rows; damaged and refused ones are dead letters already."""
        for stored in stored_events(rows, lambda _hash, _error: None):
            try:
                yield self._reader.event(stored.original, stored.accepted)
            except EventError:
                continue

    def _events_after(self, position: int) -> Iterator[Event]:
        while rows := self._log.event_rows(position, self._at):
            yield from self._read(rows)
            position = rows[-1].seq
