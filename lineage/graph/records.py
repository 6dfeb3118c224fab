# SPDX-License-Identifier: Apache-2.0
"""Records of all jobs, runs and datasets, updated event by event."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from lineage.events.event import Event, Order
from lineage.events.ids import DatasetId, JobId, JsonObject, RunId
from lineage.events.own_facets import (
    PRODUCER,
    CatalogKey,
    CatalogStatement,
    EntryKind,
    catalog_statement,
    table_location,
)
from lineage.graph.catalog_record import CatalogEntries, CatalogEntry
from lineage.graph.dataset_lineage import declared_job
from lineage.graph.dataset_nodes import DatasetNodes
from lineage.graph.dataset_record import DatasetRecord
from lineage.graph.dataset_statements import StatementArchive
from lineage.graph.dataset_users import DatasetUsers
from lineage.graph.dataset_uses import Uses, merged_use
from lineage.graph.facet_references import referenced_datasets
from lineage.graph.job_record import Declaration, JobRecord
from lineage.graph.job_runs import RunArchive
from lineage.graph.mergeable import Facets, Span
from lineage.graph.name_resolution import Claim, symlink_claim
from lineage.graph.name_statements import NameStatements, written_after
from lineage.graph.records_by_name import RecordsByName
from lineage.graph.retained_runs import retained_runs
from lineage.graph.run_record import RunRecord

SYMLINKS_SCHEMA = "https://openlineage.io/spec/facets/1-0-1/SymlinksDatasetFacet.json#/$defs/SymlinksDatasetFacet"


_T = TypeVar("_T")


class Archive(RunArchive, StatementArchive, Protocol):
    """Archive of what nothing asks for any more."""


class StoredRecords(Protocol):
    """Records that are not in memory."""

    def read_job(self, lineage: "LineageRecords", job: JobId) -> None:
        """Restore a job with its runs."""

    def read_dataset(self, lineage: "LineageRecords", name: DatasetId) -> None:
        """Restore a dataset under one name."""


SPARE_RUNS = 2
"""Runs of a job in memory beside those that must be, before some are moved to the archive although none has ended."""


MAX_RECALLED = 32
"""Jobs whose whole history stays in memory after a late event."""


MAX_JOBS = 2_000
"""Jobs in memory after a checkpoint; one takes some 50 KB."""


MAX_DATASETS = 5_000
"""Datasets in memory after a checkpoint, by name."""

_RELEASED_PER_STEP = 100
"""Records released between two yields to the event loop."""


@dataclass(slots=True)
class Unsaved:
    """Records that have changed since they were saved; runs also if they have left memory, and their jobs.

    `lineages` are jobs whose lineage was derived again, `uses` datasets that a job used for the first time.
    """

    catalog: set[CatalogKey] = field(default_factory=set)
    datasets: set[DatasetId] = field(default_factory=set)
    jobs: set[JobId] = field(default_factory=set)
    namespaces: set[str] = field(default_factory=set)
    runs: set[RunId] = field(default_factory=set)
    lineages: set[JobId] = field(default_factory=set)
    uses: set[tuple[DatasetId, JobId]] = field(default_factory=set)

    def __len__(self) -> int:
        named = (self.catalog, self.datasets, self.jobs, self.namespaces, self.runs, self.lineages, self.uses)
        return sum(len(names) for names in named)


@dataclass(slots=True)
class Changes:
    """Jobs and datasets whose records changed since the follower cleared these sets."""

    jobs: set[JobId] = field(default_factory=set)
    datasets: set[DatasetId] = field(default_factory=set)


class LineageRecords:
    """All records; `apply` merges one event.

    `touched` collects the jobs whose records have changed, until the reader clears it, so that only their derived state
    is recomputed. Runs that nothing asks for any more are moved to `archive`; without one all stay in memory, and
    `unsaved` remains empty. `stored` has the records that are not in memory; without it all are.
    """

    def __init__(self, archive: Archive | None = None, stored: StoredRecords | None = None) -> None:
        self.archive = archive
        self._stored = stored
        self.unsaved = Unsaved()
        self.jobs: RecordsByName[JobId, JobRecord] = RecordsByName(self._read_job)
        self.nodes = DatasetNodes(self._read_dataset, archive)
        self.datasets: RecordsByName[DatasetId, DatasetRecord] = self.nodes.by_node
        self.namespaces: dict[str, Span] = {}
        self.touched: set[JobId] = set()
        self.catalog = CatalogEntries()
        self._followers: list[Changes] = []
        self._jobs_of_run: dict[str, set[JobId]] = {}
        self._users = DatasetUsers()
        self._users_restored = False
        self._renamed_from: dict[DatasetId, set[DatasetId]] = {}
        self._renamings: dict[DatasetId, set[DatasetId]] = {}
        self._changed_by: dict[RunId, set[DatasetId]] = {}
        self.spare_runs = SPARE_RUNS
        self.max_recalled = MAX_RECALLED
        self.max_jobs, self.max_datasets = MAX_JOBS, MAX_DATASETS
        self._recalled: dict[JobId, None] = {}

    def apply(self, event: Event) -> None:
        """Apply one event; idempotent."""
        if statement := catalog_statement(event):
            self._join_catalog(event.order, statement)
            return
        event = declared_job(event)
        changed: set[DatasetId] = set()
        if event.dataset is not None:
            self._join_dataset(event, event.body["dataset"], False, changed)
        for dataset in referenced_datasets(event.body):
            self._join_dataset(event, {"namespace": dataset.namespace, "name": dataset.name}, True, changed)
        if event.job is not None:
            self._join_job(event, event.job, changed)
        for name in changed:
            self._settle(name)

    def node(self, dataset: DatasetId) -> DatasetId:
        """Return the node that a name leads to, also if no event uses it as that of a dataset."""
        return self.nodes.resolution.node(dataset)

    def by_node(self, uses: Uses) -> Uses:
        """Return uses of datasets by node; names of one node are merged."""
        found: Uses = {}
        for name, use in uses.items():
            node = self.nodes.node(name)
            known = found.get(node)
            found[node] = use if known is None else merged_use(known, use)
        return found

    def dropped_at(self, nodes: Iterable[DatasetId]) -> dict[DatasetId, int]:
        """Return the time (ns) since which each of these nodes is dropped, or deleted with its namespace."""
        changes = {node: self._deleted_by(self.datasets[node]) for node in nodes}
        return {node: order.time for node, order in changes.items() if order is not None}

    def _deleted_by(self, record: DatasetRecord) -> Order | None:
        """Return the event by which a dataset is dropped or deleted with its namespace; None if it is neither."""
        if (change := record.dropped(self.has_failed)) is not None:
            return change.order
        deleted = self.catalog.deletion_of_namespace(record.id.namespace)
        return deleted if deleted is not None and deleted >= record.span.last else None

    def has_failed(self, run: RunId) -> bool:
        """Return whether a run failed or was aborted, so that the changes that it announced were not made."""
        job = self.jobs.get(run.job)
        record = job.runs.get(run.run) if job else None
        return record is not None and record.terminal is not None and record.terminal[2] != "COMPLETE"

    def archive_runs(self, job: JobId, ended: bool) -> None:
        """Move the runs of a job that nothing asks for any more to the archive, if there are enough of them.

        One is enough if a run has just `ended`: mostly the end of a run is what makes the one before it superfluous.
        Jobs with late events keep their history in memory for a while, as the next event is often late, too.
        """
        runs = self.jobs[job].runs
        if self.archive is None:
            return
        if runs.recalled:
            self._recalled.pop(job, None)
            self._recalled[job] = None
            if len(self._recalled) > self.max_recalled:
                oldest = next(iter(self._recalled))
                del self._recalled[oldest]
                self._move_runs(self.jobs[oldest], keep_history=False)
        loaded = len(runs.loaded)
        if (ended and loaded > 1) or loaded >= self.jobs[job].runs_kept + self.spare_runs:
            self._move_runs(self.jobs[job], keep_history=bool(runs.recalled))

    def _move_runs(self, record: JobRecord, keep_history: bool) -> None:
        retained = retained_runs(record)
        record.runs_kept = len(retained)
        moved = record.archive_runs(retained, keep_history)
        changed = {RunId(run, record.id) for run in (*moved.archived, *moved.loaded)}
        self.unsaved.runs |= changed
        if changed:
            # Until these are saved, the job must not be read from the last checkpoint.
            self.unsaved.jobs.add(record.id)
        for run in moved.loaded:
            self._jobs_of_run.setdefault(run, set()).add(record.id)
        for run in moved.archived:
            self._forget_run(RunId(run, record.id))

    def symlinks(self, record: DatasetRecord) -> list[JsonObject]:
        """Return the other names of a node, sorted, each with its type: those that lead to it now."""
        names = [name for name in self.nodes.resolution.names_of(record.id) if self.node(name) == record.id != name]
        if not names:
            return []
        stated = (record.facet("symlinks") or {}).get("identifiers") or ()
        types = {DatasetId(found["namespace"], found["name"]): found.get("type") for found in stated}
        return [
            {"namespace": name.namespace, "name": name.name, "type": types.get(name, "TABLE")} for name in sorted(names)
        ]

    def facets(self, record: DatasetRecord) -> dict[str, JsonObject]:
        """Return all current facets of a node; its symlinks are those in force."""
        facets = record.all_facets()
        identifiers = self.symlinks(record)
        if identifiers:
            stated = facets.get("symlinks") or {"_producer": PRODUCER, "_schemaURL": SYMLINKS_SCHEMA}
            facets["symlinks"] = {**stated, "identifiers": identifiers}
        else:
            facets.pop("symlinks", None)
        return facets

    def restore_dataset(self, record: DatasetRecord, settled: bool = False) -> None:
        """Insert a restored record of a name that no event has used since.

        It is `settled` if it was only not in memory: what follows from it for other records is in effect.
        """
        if self.archive is not None:
            record.statements.restore(self.archive)
        if settled:
            self.nodes.restore(record)
            return
        self.nodes.add(record)
        if record.names is not None:
            self._resolve_statements(record.id, record.names)
            self._settle(record.id)
        for name in self._renamed_from.get(record.id, ()):
            self._settle(name)
        self._settle_visibility(self.nodes.node(record.id))

    def restore_job(self, record: JobRecord, settled: bool = False) -> None:
        """Insert a restored job without its runs; `settled` if it was only not in memory."""
        if self.archive is not None:
            record.runs.archive = self.archive
            record.runs.archived = self.archive.archived_of(record.id)
        self.jobs[record.id] = record
        if settled:
            return
        self.touched.add(record.id)
        if not self._users_restored:
            used = {dataset for _, dataset in record.ever_declared}
            self._add_uses(used | _datasets_of_facets(record.facets, record.declared), record.id)

    def restore_entry(self, key: CatalogKey, entry: CatalogEntry) -> None:
        """Insert a restored entry of the catalog."""
        self.catalog[key] = entry
        if key.kind is EntryKind.NAMESPACE and entry.deleted is not None:
            self._settle_namespace(key.name)
        if key.kind is EntryKind.TABLE and entry.described is not None:
            self._join_location(entry.described.order, CatalogStatement(key, entry.content, False))

    def follow(self) -> Changes:
        """Return sets that collect every later change; the caller clears them."""
        changes = Changes()
        self._followers.append(changes)
        return changes

    def run(self, run: str, job: JobId | None = None) -> RunRecord | None:
        """Return the run with this UUID, preferably of `job`; None if unknown.

        If an emitter uses one UUID for several jobs, the first by name is returned.
        """
        uuid = run.lower()
        jobs = self._jobs_of_run.get(uuid, set())
        if self.archive is not None:
            jobs = jobs | self.archive.jobs_of(uuid)
        if not jobs:
            return None
        return self.jobs[job if job in jobs else min(jobs)].runs[uuid]

    def parent(self, run: RunRecord) -> RunRecord | None:
        """Return the run that the parent facet names, or None if unknown."""
        facet = run.facets.get("parent")
        if facet is None:
            return None
        return self.run(facet["run"]["runId"], JobId(facet["job"]["namespace"], facet["job"]["name"]))

    def root(self, run: RunRecord) -> RunRecord | None:
        """Return the run of the application that a run belongs to; None if it is one itself, or if that is unknown.

        The parent facet's `root` names it; without one, or if no event of it arrived, it is the last known parent.
        """
        found, seen = run, {run.id.run}
        while True:
            above = self._named_root(found)
            if above is not None and above.id.run not in seen:
                return above
            above = self.parent(found)
            if above is None or above is found:
                # Some emitters name a run as its own parent.
                return None if found is run else found
            if above.id.run in seen:
                return None
            seen.add(above.id.run)
            found = above

    def restore_run(self, run: RunRecord, starts: list[Order], settled: bool = False) -> None:
        """Insert a restored run of a known job; `starts` are its START events, `settled` as in `restore_job`."""
        self.jobs[run.id.job].restore(run, starts)
        self._jobs_of_run.setdefault(run.id.run, set()).add(run.id.job)
        if settled:
            return
        if not self._users_restored:
            named = {*run.named_inputs, *run.named_outputs} | _datasets_of_facets(run.job_facets, run)
            self._add_uses(named, run.id.job)
        for name in self._changed_by.get(run.id, ()):
            self._settle(name)

    def last_time(self) -> int:
        """Return the greatest event time (ns); 0 without events."""
        spans = (*self.namespaces.values(), *(entry.span for entry in self.catalog.values()))
        return max((span.last.time for span in spans), default=0)

    def add_stored(self, jobs: Iterable[JobId], datasets: Iterable[DatasetId]) -> None:
        """Add jobs and datasets, these without other names, whose records are read when they are used."""
        self._users_restored = True
        self.jobs.add_stored(jobs)
        self.touched.update(self.jobs)
        self.nodes.add_stored(datasets)

    def runs_that_changed_datasets(self) -> Collection[RunId]:
        """Return the runs that announced that a dataset was dropped or renamed."""
        return self._changed_by.keys()

    def has_whole_history(self, job: JobId) -> bool:
        """Return whether the history of a job has archived runs in memory."""
        record = self.jobs.in_memory(job)
        return record is not None and bool(record.runs.recalled)

    def forget_archived(self, job: JobId, number: int) -> None:
        """Note that a number of runs of a job are not archived any more."""
        record = self.jobs.in_memory(job)
        if record is not None:
            record.runs.archived -= number

    @property
    def has_excess(self) -> bool:
        """Return whether more records are in memory than shall be."""
        return self._excess_jobs > 0 or self._excess_datasets > 0

    @property
    def _excess_jobs(self) -> int:
        return max(0, self.jobs.size_in_memory - self.max_jobs)

    @property
    def _excess_datasets(self) -> int:
        return max(0, self.nodes.by_name.size_in_memory - self.max_datasets)

    def release_steps(self, limit: int | None = None) -> Iterator[None]:
        """Remove from memory, in steps, what was read or made first, down to `max_jobs` and `max_datasets`.

        All that is not `unsaved` must be stored. At most `limit` jobs and as many datasets are looked at.
        """
        jobs, datasets = self._excess_jobs, self._excess_datasets
        if limit is not None:
            jobs, datasets = min(jobs, limit), min(datasets, limit)
        for count, job in enumerate(self.jobs.oldest_in_memory(jobs)):
            if count % _RELEASED_PER_STEP == 0:
                yield
            if job not in self.unsaved.jobs and job not in self.touched and job not in self._recalled:
                self._release_job(job)
        for count, name in enumerate(self.nodes.by_name.oldest_in_memory(datasets)):
            if count % _RELEASED_PER_STEP == 0:
                yield
            if name not in self.unsaved.datasets:
                self._release_dataset(name)

    def job_once(self, job: JobId, use: Callable[[JobRecord], _T]) -> _T:
        """Return what `use` makes of a job's record; one that was not in memory does not stay there."""
        kept = self.jobs.in_memory(job) is not None
        found = use(self.jobs[job])
        if not kept:
            self._release_job(job)
        return found

    def dataset_once(self, node: DatasetId, use: Callable[[DatasetRecord], _T]) -> _T:
        """Return what `use` makes of a dataset's record; one that was not in memory does not stay there."""
        kept = self.nodes.by_name.in_memory(node) is not None
        found = use(self.datasets[node])
        if not kept:
            self._release_dataset(node)
        return found

    def _release_dataset(self, name: DatasetId) -> None:
        if self.nodes.release(name):
            self._users.forget(name)

    def _release_job(self, job: JobId) -> None:
        record = self.jobs.in_memory(job)
        for run in record.runs.loaded if record else ():
            self._forget_run(RunId(run, job))
        self.jobs.release(job)

    def _forget_run(self, run: RunId) -> None:
        """Remove a run that is not in memory any more from the jobs by run."""
        jobs = self._jobs_of_run[run.run]
        jobs.discard(run.job)
        if not jobs:
            del self._jobs_of_run[run.run]

    def _read_job(self, job: JobId) -> None:
        assert self._stored is not None, "all records are in memory"
        self._stored.read_job(self, job)

    def _read_dataset(self, name: DatasetId) -> None:
        assert self._stored is not None, "all records are in memory"
        self._stored.read_dataset(self, name)

    def _named_root(self, run: RunRecord) -> RunRecord | None:
        root = (run.facets.get("parent") or {}).get("root")
        if root is None:
            return None
        return self.run(root["run"]["runId"], JobId(root["job"]["namespace"], root["job"]["name"]))

    def _join_job(self, event: Event, job_id: JobId, changed: set[DatasetId]) -> None:
        job = self.jobs.get(job_id)
        if job is None:
            job = self.jobs[job_id] = JobRecord(job_id, Span(event.order, event.order), self.archive)
        inputs = [self._join_dataset(event, ds, True, changed) for ds in event.body.get("inputs") or ()]
        outputs = [self._join_dataset(event, ds, False, changed) for ds in event.body.get("outputs") or ()]
        job.join(event, inputs, outputs)
        self._join_namespace(event.order, job_id.namespace)
        self._touch(job_id)
        if self.archive is not None:
            self.unsaved.jobs.add(job_id)
            if event.run is not None:
                self.unsaved.runs.add(event.run)
        if event.run is not None:
            self._jobs_of_run.setdefault(event.run.run, set()).add(job_id)
            changed.update(self._changed_by.get(event.run, ()))

    def _join_dataset(self, event: Event, dataset: JsonObject, read: bool, changed: set[DatasetId]) -> JsonObject:
        """Apply one dataset of an event; `changed` collects names whose changes of life cycle must be settled."""
        name = DatasetId(dataset["namespace"], dataset["name"])
        nodes, node = self.nodes, name
        record = nodes.by_name.get(name) or nodes.new(name, event.order)
        shared = record.join(event.order, dataset, read, event.run)
        if nodes.merged:
            nodes.join_merged(name, event.order, shared, read, event.run)
        self._join_namespace(event.order, name.namespace)
        if self.archive is not None:
            self.unsaved.datasets.add(name)
        if event.job is not None:
            self._add_uses((name,), event.job)
        if event.locations:
            self._join_default(name, record, event.locations)
        if record.names is not None:
            if "symlinks" in shared["facets"]:
                self._resolve_statements(name, record.names)
            if record.names.changes:
                changed.add(name)
        if self._renamed_from and name in self._renamed_from:
            changed.update(self._renamed_from[name])
        if nodes.merged:
            node = nodes.node(name)
        if node in self.catalog.dropped or self.catalog.deletion_of_namespace(node.namespace):
            changed.add(name)
        for changes in self._followers:
            changes.datasets.add(node)
        return shared

    def _join_default(self, name: DatasetId, record: DatasetRecord, locations: Mapping[DatasetId, DatasetId]) -> None:
        """Note where a catalog's table lies unless its catalog states another place."""
        location = locations.get(name)
        if location is not None and (record.names is None or record.names.location is None):
            record.stated_names().location = location
            self._move(name, self.nodes.resolution.set_default(name, location))

    def _resolve_statements(self, name: DatasetId, names: NameStatements) -> None:
        """Bring the claims of a name in line with its statements."""
        resolution = self.nodes.resolution
        if names.location is not None:
            self._move(name, resolution.set_default(name, names.location))
        current = names.current_aliases()
        for alias in resolution.claimed_by(name) - current.keys():
            claim = symlink_claim(name, alias)
            if claim is not None:
                self._move(claim.source, resolution.withdraw(claim))
        for alias, order in current.items():
            claim = symlink_claim(name, alias)
            if claim is not None:
                self._move(claim.source, resolution.claim(claim, order))

    def _settle(self, name: DatasetId) -> None:
        """Bring renamings and the visibility of a dataset in line with the changes of its life cycle."""
        names = self.nodes.by_name[name].names
        for change in names.changes.values() if names else ():
            if change.run is not None:
                self._changed_by.setdefault(change.run, set()).add(name)
            if change.previous is not None and change.previous != name:
                self._renamed_from.setdefault(change.previous, set()).add(name)
                self._renamings.setdefault(name, set()).add(change.previous)
        for previous in self._renamings.get(name, ()):
            self._settle_renaming(previous, name)
        self._settle_visibility(self.nodes.node(name))

    def _settle_renaming(self, previous: DatasetId, name: DatasetId) -> None:
        names, record = self.nodes.by_name[name].names, self.nodes.by_name.get(previous)
        assert names is not None
        orders = [
            change.order
            for change in names.changes.values()
            if change.previous == previous
            and not (change.run is not None and self.has_failed(change.run))
            and not (record is not None and written_after(record.writes, change))
        ]
        claim = Claim(previous, name, name, renaming=True)
        changed = self.nodes.resolution.withdraw(claim)
        if orders:
            changed = self.nodes.resolution.claim(claim, max(orders)) or changed
        self._move(previous, changed)

    def _settle_visibility(self, node: DatasetId) -> None:
        record = self.datasets.get(node)
        dropped = record is not None and self._deleted_by(record) is not None
        if not dropped and node not in self.catalog.dropped:
            return
        if dropped:
            self.catalog.dropped.add(node)
        else:
            self.catalog.dropped.discard(node)
        self._touch_users(node)

    def _settle_namespace(self, namespace: str) -> None:
        for node in [dataset for dataset in self.datasets if dataset.namespace == namespace]:
            self._settle_visibility(node)

    def _move(self, source: DatasetId, changed: bool) -> None:
        """Move the records of all names that lead over `source`, and derive what uses them again."""
        if not changed:
            return
        moved = self.nodes.move(self.nodes.resolution.names_of(source))
        for name in moved:
            for job in self._users.of(name):
                self._touch(job)
        nodes = {*moved.values(), *map(self.nodes.node, moved)}
        for changes in self._followers:
            changes.datasets |= nodes
        for node in nodes:
            self._settle_visibility(node)

    def _touch_users(self, node: DatasetId) -> None:
        for name in self.nodes.names(node):
            for job in self._users.of(name):
                self._touch(job)
        for changes in self._followers:
            changes.datasets.add(node)

    def _touch(self, job: JobId) -> None:
        self.touched.add(job)
        for changes in self._followers:
            changes.jobs.add(job)

    def _add_uses(self, names: Iterable[DatasetId], job: JobId) -> None:
        for name in names:
            if self._users.add(name, job) and self.archive is not None:
                self.unsaved.uses.add((name, job))

    def restore_users(self, name: DatasetId, jobs: Iterable[JobId]) -> None:
        """Restore the jobs that use the name of a dataset; what is restored later states no others."""
        self._users_restored = True
        for job in jobs:
            self._users.add(name, job)

    def users_of(self, name: DatasetId) -> list[JobId]:
        """Return the jobs that use the name of a dataset, sorted."""
        return sorted(self._users.of(name))

    def _join_catalog(self, order: Order, statement: CatalogStatement) -> None:
        self.catalog.join(order, statement)
        if self.archive is not None:
            self.unsaved.catalog.add(statement.key)
        if statement.key.kind is EntryKind.TABLE:
            self._join_location(order, statement)
        if statement.key.kind is not EntryKind.NAMESPACE:
            return
        namespace = statement.key.name
        self._join_namespace(order, namespace)
        if statement.deleted:
            jobs = {job for job in self.jobs if job.namespace == namespace}
            self.touched |= jobs
            for changes in self._followers:
                changes.jobs |= jobs
            self._settle_namespace(namespace)

    def _join_location(self, order: Order, statement: CatalogStatement) -> None:
        location = table_location(statement)
        if location is not None:
            self._move(location.table, self.nodes.resolution.claim(Claim(*location, None), order))

    def _join_namespace(self, order: Order, namespace: str) -> None:
        span = self.namespaces.get(namespace)
        if span is None:
            self.namespaces[namespace] = Span(order, order)
        else:
            span.join(order)
        if self.archive is not None:
            self.unsaved.namespaces.add(namespace)


def _datasets_of_facets(job_facets: Facets, uses: RunRecord | Declaration | None) -> set[DatasetId]:
    """Return the datasets that the facets of a restored record name."""
    named = uses.named_outputs if isinstance(uses, RunRecord) else uses.outputs if uses else {}
    outputs = named.values()
    return referenced_datasets(
        {"job": {"facets": job_facets.values()}, "outputs": [{"facets": found.values()} for found in outputs]}
    )


def fold_events(events: Iterable[Event]) -> LineageRecords:
    """Return the records of a set of events: the specification of incremental updates."""
    lineage = LineageRecords()
    for _, event in sorted({event.order: event for event in events}.items()):
        lineage.apply(event)
    return lineage
