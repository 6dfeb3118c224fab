# SPDX-License-Identifier: Apache-2.0
"""Runs of one job: some in memory, the others in an archive that is asked when a run is needed."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

from lineage.events.event import Order
from lineage.events.ids import JobId, RunId
from lineage.graph.run_history import RunEntry
from lineage.graph.run_record import RunRecord


class ArchivedRun(NamedTuple):
    """What is known of an archived run without its record: entry of the history, START events, strongest end."""

    entry: RunEntry
    starts: tuple[Order, ...]
    terminal: tuple[int, Order, str] | None


class RunArchive(Protocol):
    """Archive of runs. A run is either in it or in memory."""

    def add(self, run: RunRecord, starts: tuple[Order, ...]) -> None:
        """Add a run with its START events."""

    def remove(self, run: RunId) -> None:
        """Remove a run, which is in memory now."""

    def archived_of(self, job: JobId) -> int:
        """Return the number of archived runs of a job."""

    def find(self, run: RunId) -> ArchivedRun | None:
        """Return an archived run; None if it is not in the archive."""

    def record(self, run: RunId) -> RunRecord:
        """Return the record of an archived run, made of its events."""

    def runs(self, job: JobId) -> Iterable[ArchivedRun]:
        """Return all archived runs of a job, in any order."""

    def backwards(self, job: JobId, until: Order | None = None) -> Iterator[ArchivedRun]:
        """Yield the archived runs of a job by position, latest first; those before `until`, if given."""

    def first_start_after(self, job: JobId, order: Order, other_than: str) -> Order | None:
        """Return the first START event after `order` of an archived run of a job with another UUID."""

    def jobs_of(self, run: str) -> set[JobId]:
        """Return the jobs with an archived run of this UUID, and those with one that were not in memory."""

    def starts_between(self, first: int, last: int) -> Iterable[int]:
        """Return the times (ns) of all START events of archived runs, `first` inclusive, `last` exclusive."""

    def ends_between(self, first: int, last: int) -> Iterable[tuple[int, str]]:
        """Return time (ns) and event type of the ends of archived runs, `first` inclusive, `last` exclusive."""


class JobRuns(Mapping[str, RunRecord]):
    """Records of the runs of a job by UUID.

    `loaded` are those in memory, `archived` is the number of the others, of which `recalled` are those that the history
    of the job has in memory without their records. A record that is read from the archive is a
    copy, which must not be changed.
    """

    __slots__ = ("archive", "archived", "job", "loaded", "recalled")

    def __init__(self, job: JobId, archive: RunArchive | None = None) -> None:
        self.job = job
        self.archive = archive
        self.archived = 0
        self.loaded: dict[str, RunRecord] = {}
        self.recalled: dict[str, ArchivedRun] = {}

    def __len__(self) -> int:
        return len(self.loaded) + self.archived

    def __iter__(self) -> Iterator[str]:
        yield from list(self.loaded)
        if self.archive is not None and self.archived:
            yield from [found.entry.place.run for found in self.archive.runs(self.job)]

    def __getitem__(self, run: str) -> RunRecord:
        found = self.loaded.get(run)
        if found is None and self.archive is not None and self.archived and self.archive.find(RunId(run, self.job)):
            found = self.archive.record(RunId(run, self.job))
        if found is None:
            raise KeyError(run)
        return found

    def __contains__(self, run: object) -> bool:
        if run in self.loaded:
            return True
        if self.archive is None or not self.archived or not isinstance(run, str):
            return False
        return self.archive.find(RunId(run, self.job)) is not None
