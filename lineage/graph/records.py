# SPDX-License-Identifier: Apache-2.0
"""Records of all jobs, runs and datasets, updated event by event."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from lineage.events.event import Event, Order
from lineage.events.ids import DatasetId, JobId, JsonObject
from lineage.events.own_facets import CatalogStatement, EntryKind, catalog_statement
from lineage.graph.catalog_record import CatalogEntries
from lineage.graph.dataset_record import DatasetRecord
from lineage.graph.facet_references import referenced_datasets
from lineage.graph.job_record import JobRecord, RunRecord
from lineage.graph.mergeable import Span


@dataclass(slots=True)
class Changes:
    """Jobs and datasets whose records changed since the follower cleared these sets."""

    jobs: set[JobId] = field(default_factory=set)
    datasets: set[DatasetId] = field(default_factory=set)


class LineageRecords:
    """All records; `apply` merges one event.

    `touched` collects the jobs whose records have changed, until the reader clears it, so that only their derived state
    is recomputed.
    """

    def __init__(self) -> None:
        self.jobs: dict[JobId, JobRecord] = {}
        self.datasets: dict[DatasetId, DatasetRecord] = {}
        self.namespaces: dict[str, Span] = {}
        self.touched: set[JobId] = set()
        self.catalog = CatalogEntries()
        self._followers: list[Changes] = []
        self._jobs_of_run: dict[str, set[JobId]] = {}

    def apply(self, event: Event) -> None:
        """Apply one event; idempotent."""
        if statement := catalog_statement(event):
            self._join_catalog(event.order, statement)
            return
        if event.dataset is not None:
            self._join_dataset(event, event.body["dataset"], read=False)
        for dataset in referenced_datasets(event.body):
            self._join_dataset(event, {"namespace": dataset.namespace, "name": dataset.name}, read=True)
        if event.job is None:
            return
        job = self.jobs.get(event.job)
        if job is None:
            job = self.jobs[event.job] = JobRecord(event.job, Span(event.order, event.order))
        inputs = [self._join_dataset(event, ds, read=True) for ds in event.body.get("inputs") or ()]
        outputs = [self._join_dataset(event, ds, read=False) for ds in event.body.get("outputs") or ()]
        job.join(event, inputs, outputs)
        self._join_namespace(event.order, event.job.namespace)
        self.touched.add(event.job)
        for changes in self._followers:
            changes.jobs.add(event.job)
        if event.run is not None:
            self._jobs_of_run.setdefault(event.run.run, set()).add(event.job)

    def follow(self) -> Changes:
        """Return sets that collect every later change; the caller clears them."""
        changes = Changes()
        self._followers.append(changes)
        return changes

    def run(self, run: str, job: JobId | None = None) -> RunRecord | None:
        """Return the run with this UUID, preferably of `job`; None if unknown.

        If an emitter uses one UUID for several jobs, the first by name is returned.
        """
        jobs = self._jobs_of_run.get(run.lower())
        if not jobs:
            return None
        return self.jobs[job if job in jobs else min(jobs)].runs[run.lower()]

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

    def restore_run(self, run: RunRecord, starts: list[Order]) -> None:
        """Insert a restored run of a known job; `starts` are its START events."""
        self.jobs[run.id.job].restore(run, starts)
        self._jobs_of_run.setdefault(run.id.run, set()).add(run.id.job)

    def _named_root(self, run: RunRecord) -> RunRecord | None:
        root = (run.facets.get("parent") or {}).get("root")
        if root is None:
            return None
        return self.run(root["run"]["runId"], JobId(root["job"]["namespace"], root["job"]["name"]))

    def _join_dataset(self, event: Event, dataset: JsonObject, read: bool) -> JsonObject:
        identity = DatasetId(dataset["namespace"], dataset["name"])
        record = self.datasets.get(identity)
        if record is None:
            record = self.datasets[identity] = DatasetRecord(id=identity, span=Span(event.order, event.order))
        self._join_namespace(event.order, identity.namespace)
        for changes in self._followers:
            changes.datasets.add(identity)
        return record.join(event.order, dataset, read, event.run)

    def _join_catalog(self, order: Order, statement: CatalogStatement) -> None:
        self.catalog.join(order, statement)
        if statement.key.kind is not EntryKind.NAMESPACE:
            return
        namespace = statement.key.name
        self._join_namespace(order, namespace)
        if statement.deleted:
            jobs = {job for job in self.jobs if job.namespace == namespace}
            self.touched |= jobs
            for changes in self._followers:
                changes.jobs |= jobs
                changes.datasets.update(dataset for dataset in self.datasets if dataset.namespace == namespace)

    def _join_namespace(self, order: Order, namespace: str) -> None:
        span = self.namespaces.get(namespace)
        if span is None:
            self.namespaces[namespace] = Span(order, order)
        else:
            span.join(order)


def fold_events(events: Iterable[Event]) -> LineageRecords:
    """Return the records of a set of events: the specification of incremental updates."""
    lineage = LineageRecords()
    for _, event in sorted({event.order: event for event in events}.items()):
        lineage.apply(event)
    return lineage
