# SPDX-License-Identifier: Apache-2.0
"""Records of jobs: mergeable values only, nothing derived."""

from bisect import bisect_left, bisect_right
from dataclasses import InitVar, dataclass, field
from itertools import islice
from typing import NamedTuple

from lineage.events.event import Event, Order
from lineage.events.ids import DatasetId, JobId, JsonObject, RunId
from lineage.graph.dataset_uses import Uses, join_uses
from lineage.graph.descriptive_facets import DescriptiveFacets
from lineage.graph.job_runs import ArchivedRun, JobRuns, RunArchive
from lineage.graph.mergeable import Facets, Span, effective_facet, latest
from lineage.graph.processing import DEFAULT_INTERVAL, STALE_INTERVALS, interval_of, states_streaming
from lineage.graph.run_history import Direction, Edge, RunEntry, RunHistory, RunPosition
from lineage.graph.run_record import EventParts, RunRecord

JOB_DEPENDENCIES = "jobDependencies"


class MovedRuns(NamedTuple):
    """UUIDs of runs that were moved to the archive, and of those that were moved to memory."""

    archived: list[str]
    loaded: list[str]


class Declaration(NamedTuple):
    """Last job event that names any datasets, with its facets."""

    order: Order
    inputs: Uses
    outputs: Uses

    def uses(self, direction: Direction) -> Uses:
        """Return the datasets of one direction."""
        return self.inputs if direction is Direction.INPUT else self.outputs


@dataclass(slots=True)
class JobRecord:
    """One job: its runs in order, and declarations by job events.

    Runs that nothing asks for any more are moved to the archive, if there is one: then `history` and `starts` lack
    them too. `starts` are the START events of the others, sorted; `ever_declared` are the edges of all job events,
    `control_flow` has the last jobDependencies facet of any run. `last_stated` is the last complete statement of any
    run (see `RunRecord.stated`) with the run's UUID, `longest_interval` the longest interval in seconds between RUNNING
    events that any jobType facet stated, `runs_kept` the number of runs that the last archiving left in memory.
    """

    id: JobId
    span: Span
    archive: InitVar[RunArchive | None] = None
    runs: JobRuns = field(init=False)
    starts: list[tuple[Order, str]] = field(default_factory=list)
    facets: DescriptiveFacets = field(default_factory=DescriptiveFacets)
    declared: Declaration | None = None
    declared_facets: Facets = field(default_factory=Facets)
    ever_declared: set[Edge] = field(default_factory=set)
    control_flow: Facets = field(default_factory=Facets)
    history: RunHistory = field(default_factory=RunHistory)
    last_stated: tuple[Order, str] | None = None
    longest_interval: float = DEFAULT_INTERVAL
    runs_kept: int = 1
    _last_edges: frozenset[Edge] = frozenset()
    _last_job_type: JsonObject | None = None

    def __post_init__(self, archive: RunArchive | None) -> None:
        """Begin without runs."""
        self.runs = JobRuns(self.id, archive)

    def join(self, event: Event, inputs: list[JsonObject], outputs: list[JsonObject]) -> None:
        """Apply one event of this job or of one of its runs."""
        self.span.join(event.order)
        parts = EventParts(self.facets.share(event.body["job"].get("facets") or {}), inputs, outputs)
        self.facets.join(event.order, parts.job_facets)
        self._join_interval(parts)
        if event.run is None:
            self._join_declaration(event.order, parts)
            return
        if facet := (event.body["run"].get("facets") or {}).get(JOB_DEPENDENCIES):
            self.control_flow.join(event.order, {JOB_DEPENDENCIES: facet})
        run = self._loaded_run(event.run.run)
        if run is None:
            run = self.runs.loaded[event.run.run] = RunRecord(event.run, Span(event.order, event.order))
        run.join(event, parts)
        self._index(run)
        if event.event_type == "START":
            self._add_start((event.order, event.run.run))

    def restore(self, run: RunRecord, starts: list[Order]) -> None:
        """Insert a restored run; `starts` are its START events."""
        self.runs.loaded[run.id.run] = run
        self._index(run)
        for order in starts:
            self._add_start((order, run.id.run))

    def archive_runs(self, retained: set[str], keep_history: bool) -> MovedRuns:
        """Move all runs but the retained ones to the archive, and the retained ones that are there to memory.

        With `keep_history` the archived runs of `history` and `starts` stay there.
        """
        archive, starts = self.runs.archive, self.starts_by_run()
        assert archive is not None
        loaded = [uuid for uuid in retained if self._load(uuid)]
        moved = [uuid for uuid in self.runs.loaded if uuid not in retained]
        for uuid in moved:
            run, started = self.runs.loaded[uuid], tuple(starts.get(uuid, ()))
            assert run.entry is not None
            archive.add(run, started)
            del self.runs.loaded[uuid]
            self.runs.archived += 1
            self.runs.recalled[uuid] = ArchivedRun(run.entry, started, run.terminal)
        if not keep_history:
            for found in self.runs.recalled.values():
                self.history.discard(found.entry)
            self.runs.recalled = {}
            self.starts = [start for start in self.starts if start[1] in retained]
        return MovedRuns(moved, loaded)

    def recall_history(self) -> None:
        """Enter all archived runs into `history` and `starts`, until the next runs are moved to the archive."""
        archive = self.runs.archive
        if archive is None or not self._lacks_runs:
            return
        for found in archive.runs(self.id):
            if found.entry.place.run not in self.runs.recalled:
                self._recall(found)

    def full_history(self) -> list[ArchivedRun]:
        """Return all runs without their records, latest first."""
        starts, archive = self.starts_by_run(), self.runs.archive
        found = [
            ArchivedRun(run.entry, tuple(starts.get(run.id.run, ())), run.terminal)
            for run in self.runs.loaded.values()
            if run.entry is not None
        ]
        if archive is not None and self.runs.archived:
            found += archive.runs(self.id)
        return sorted(found, key=lambda run: run.entry.place, reverse=True)

    def latest_runs(self, offset: int, limit: int) -> list[RunRecord]:
        """Return one page of the runs, latest first."""
        places = [run.entry.place for run in self.runs.loaded.values() if run.entry is not None]
        archive, number = self.runs.archive, offset + limit
        if archive is not None and self.runs.archived:
            places += [found.entry.place for found in islice(archive.backwards(self.id), number)]
        return [self.runs[place.run] for place in sorted(places, reverse=True)[offset:number]]

    def last_run_with(self, edge: Edge, until: Order) -> RunPosition | None:
        """Return the position of the last run before `until` that has an edge."""
        places = self.history.by_edge.get(edge)
        found = places.before(until) if places else None
        archive = self.runs.archive
        if archive is None or not self.runs.archived:
            return found
        archived = (run.entry for run in archive.backwards(self.id, until))
        last = next((entry.place for entry in archived if edge in entry.edges), None)
        return max((place for place in (found, last) if place is not None), default=None)

    def first_start_after(self, order: Order, other_than: str) -> Order | None:
        """Return the first START event after `order` of another run than the one with this UUID."""
        at = bisect_right(self.starts, (order, other_than))
        found = next((start for start, run in self.starts[at:] if run != other_than), None)
        archive = self.runs.archive
        if archive is None or not self.runs.archived:
            return found
        archived = archive.first_start_after(self.id, order, other_than)
        return min((start for start in (found, archived) if start is not None), default=None)

    def is_streaming(self, run: RunRecord | None) -> bool:
        """Return whether a run is a streaming one by its own jobType facet, or else by that of the job."""
        stated = states_streaming(run.job_facets.get("jobType")) if run else None
        return states_streaming(self.facets.get("jobType")) is True if stated is None else stated

    def silence_limit(self, run: RunRecord) -> float:
        """Return the nanoseconds without an event after which a run counts as silent."""
        return STALE_INTERVALS * interval_of(latest("jobType", run.job_facets, self.facets)) * 1e9

    def longest_silence(self) -> float:
        """Return the longest `silence_limit` of any run."""
        return STALE_INTERVALS * self.longest_interval * 1e9

    def _loaded_run(self, uuid: str) -> RunRecord | None:
        """Return the record of a run that is about to change; None if no event of it was applied before."""
        run = self.runs.loaded.get(uuid)
        if run is None and self.runs.archived and self._load(uuid):
            run = self.runs.loaded[uuid]
        return run

    def _load(self, uuid: str) -> bool:
        """Move a run from the archive to memory; return False if it is not there."""
        archive, run_id = self.runs.archive, RunId(uuid, self.id)
        if archive is None or not self.runs.archived or uuid in self.runs.loaded:
            return False
        found = archive.find(run_id)
        if found is None:
            return False
        record = archive.record(run_id)
        self._recall(found)
        del self.runs.recalled[uuid]
        record.entry = found.entry
        self.runs.loaded[uuid] = record
        archive.remove(run_id)
        self.runs.archived -= 1
        return True

    def _recall(self, found: ArchivedRun) -> None:
        """Enter an archived run into `history` and `starts`."""
        uuid = found.entry.place.run
        if uuid in self.runs.recalled:
            return
        self.history.replace(None, found.entry)
        for start in found.starts:
            self._add_start((start, uuid))
        self.runs.recalled[uuid] = found

    def _add_start(self, start: tuple[Order, str]) -> None:
        at = bisect_left(self.starts, start)
        if at == len(self.starts) or self.starts[at] != start:
            self.starts.insert(at, start)

    def starts_by_run(self) -> dict[str, list[Order]]:
        """Return the START events in memory by UUID of their run."""
        found: dict[str, list[Order]] = {}
        for order, run in self.starts:
            found.setdefault(run, []).append(order)
        return found

    def _index(self, run: RunRecord) -> None:
        entry = run.indexed()
        if self._lacks_runs and not (self.history.is_extended_by(run.entry, entry) or self._stays_last(run, entry)):
            self.recall_history()
        # Runs of one job mostly have the same edges.
        if entry.edges == self._last_edges:
            entry.edges = self._last_edges
        self._last_edges = entry.edges
        self.history.replace(run.entry, entry)
        run.entry = entry
        if run.stated is not None:
            stated = (run.stated, run.id.run)
            self.last_stated = max(self.last_stated or stated, stated)

    @property
    def _lacks_runs(self) -> bool:
        """Return whether archived runs are not in `history`."""
        return len(self.runs.recalled) < self.runs.archived

    def _stays_last(self, run: RunRecord, after: RunEntry) -> bool:
        """Return whether a run that was the last one, and states nothing less, is the last one at a new position.

        So it is where its START arrives after its other events.
        """
        before, places = run.entry, self.history.runs.backwards()
        if before is None or next(places) != before.place or not after.states_all_of(before):
            return False
        others = [next(places, None)]
        if self.runs.archive is not None:
            others += [found.entry.place for found in islice(self.runs.archive.backwards(self.id), 1)]
        return all(other is None or other < after.place for other in others)

    def _join_interval(self, parts: EventParts) -> None:
        stated = parts.job_facets.get("jobType")
        # Equal facets are shared: mostly it is the same object as in the last event.
        if stated is not None and stated is not self._last_job_type:
            self._last_job_type = stated
            interval = interval_of(effective_facet(parts.job_facets, "jobType"))
            if interval > self.longest_interval:
                # Open runs of the archive may be live, after all.
                self.recall_history()
                self.longest_interval = interval

    def _join_declaration(self, order: Order, parts: EventParts) -> None:
        self.declared_facets.join(order, parts.job_facets)
        edges = _edges_of_event(parts)
        self.ever_declared.update(edges)
        if edges and (self.declared is None or self.declared.order < order):
            self.recall_history()
            self.declared = Declaration(order, {}, {})
            join_uses(self.declared.inputs, order, Direction.INPUT, parts.inputs)
            join_uses(self.declared.outputs, order, Direction.OUTPUT, parts.outputs)


def _edges_of_event(parts: EventParts) -> set[Edge]:
    return {
        (direction, DatasetId(dataset["namespace"], dataset["name"]))
        for direction, datasets in ((Direction.INPUT, parts.inputs), (Direction.OUTPUT, parts.outputs))
        for dataset in datasets
    }
