# SPDX-License-Identifier: Apache-2.0
"""Writes of Marquez's API as events that follow everything that is stored about the written node."""

from collections.abc import Iterable

from lineage.events import DatasetId, JobId, JsonObject, RunId
from lineage.events.own_facets import CatalogKey, EntryKind
from lineage.graph import LineageRecords
from lineage.graph.mergeable import Span
from lineage.graph.run_record import RunRecord
from lineage.marquez.tags import RequestedTags, Tag, requested_tags
from lineage.marquez.write_events import (
    catalog_event,
    dataset_event,
    dataset_facets,
    deletion_of_job,
    job_event,
    job_facets,
    lifecycle_facet,
    run_event,
    run_event_with_datasets,
    run_facets,
    tags_of_dataset_facets,
    tags_of_job_facets,
)

_MICROSECOND = 1_000
"""Nanoseconds; the precision of event times that the service writes."""


class Writes:
    """Events of one request at `now` (ns).

    The event of a write is later than every known event of its node, so that it takes effect also if an emitter's clock
    is ahead.
    """

    def __init__(self, lineage: LineageRecords, now: int) -> None:
        self._lineage = lineage
        self._now = now

    def put_entry(self, key: CatalogKey, content: JsonObject) -> JsonObject:
        """Describe a namespace, source or tag."""
        return catalog_event(self._time_after_entry(key), key, content)

    def delete_namespace(self, name: str) -> JsonObject:
        """Delete a namespace with its jobs and datasets."""
        key = CatalogKey(EntryKind.NAMESPACE, name)
        return catalog_event(self._time_after_entry(key), key, {"deleted": True})

    def put_dataset(
        self, dataset: DatasetId, content: JsonObject, connection_url: str, run: RunRecord | None
    ) -> JsonObject:
        """Describe a dataset; with `run` as its output."""
        record = self._lineage.datasets.get(dataset)
        facets = dataset_facets(content, connection_url)
        tags = frozenset(_tags_of_content(content))
        if tags:
            facets |= tags_of_dataset_facets(self._requested_tags_of_dataset(dataset).with_added(tags))
        if record is not None and self._lineage.catalog.is_deleted_dataset(record):
            facets |= lifecycle_facet("CREATE")
        time = self._time_after(record.span if record else None, run.span if run else None)
        if run is None:
            return dataset_event(time, dataset, facets)
        return run_event_with_datasets(run_event(time, "OTHER", run.id), outputs=[dataset], facets=facets)

    def delete_dataset(self, dataset: DatasetId) -> JsonObject:
        """Delete a dataset."""
        return dataset_event(self.time_after_node(dataset), dataset, lifecycle_facet("DROP"))

    def tag_dataset(self, dataset: DatasetId, tag: Tag) -> JsonObject:
        """Add a tag to a dataset or one of its columns."""
        tags = self._requested_tags_of_dataset(dataset).with_added(frozenset({tag}))
        return dataset_event(self.time_after_node(dataset), dataset, tags_of_dataset_facets(tags))

    def untag_dataset(self, dataset: DatasetId, tag: Tag) -> JsonObject:
        """Remove a tag from a dataset or one of its columns."""
        tags = self._requested_tags_of_dataset(dataset).with_removed(tag)
        return dataset_event(self.time_after_node(dataset), dataset, tags_of_dataset_facets(tags))

    def put_job(
        self,
        job: JobId,
        content: JsonObject,
        inputs: Iterable[DatasetId],
        outputs: Iterable[DatasetId],
        run: RunRecord | None,
    ) -> list[JsonObject]:
        """Describe a job with its datasets; with `run` also the datasets of that run."""
        record = self._lineage.jobs.get(job)
        inputs, outputs = list(inputs), list(outputs)
        time = self._time_after(record.span if record else None)
        events = [job_event(time, job, job_facets(content), inputs=inputs, outputs=outputs)]
        if run is not None:
            # The job's last event includes those of its runs.
            of_run = run_event(time + _MICROSECOND, "OTHER", run.id)
            events.append(run_event_with_datasets(of_run, inputs, outputs))
        return events

    def delete_job(self, job: JobId) -> JsonObject:
        """Delete a job."""
        return deletion_of_job(self.time_after_node(job), job)

    def tag_job(self, job: JobId, tag: Tag) -> JsonObject:
        """Add a tag to a job."""
        tags = self._requested_tags_of_job(job).with_added(frozenset({tag}))
        return job_event(self.time_after_node(job), job, tags_of_job_facets(tags))

    def untag_job(self, job: JobId, tag: Tag) -> JsonObject:
        """Remove a tag from a job."""
        tags = self._requested_tags_of_job(job).with_removed(tag)
        return job_event(self.time_after_node(job), job, tags_of_job_facets(tags))

    def create_run(self, run: RunId, content: JsonObject) -> JsonObject:
        """Create a run of a job. It names no datasets, so that those that the job has stay."""
        return run_event(self.time_after_node(run.job), "OTHER", run, run_facets(content))

    def move_run(self, run: RunRecord, event_type: str, at: int | None) -> JsonObject:
        """Start or end a run; `at` (ns) is the time that the request states."""
        return run_event(self._time_after(run.span) if at is None else at, event_type, run.id)

    def _time_after_entry(self, key: CatalogKey) -> int:
        entry = self._lineage.catalog.get(key)
        namespace = self._lineage.namespaces.get(key.name) if key.kind is EntryKind.NAMESPACE else None
        return self._time_after(entry.span if entry else None, namespace)

    def time_after_node(self, node: DatasetId | JobId) -> int:
        """Return the time (ns) of an event that follows every known event of a dataset or job."""
        record = self._lineage.datasets[node] if isinstance(node, DatasetId) else self._lineage.jobs[node]
        return self._time_after(record.span)

    def _time_after(self, *spans: Span | None) -> int:
        return max(self._now, *(span.last.time + _MICROSECOND for span in spans if span is not None), 0)

    def _requested_tags_of_dataset(self, dataset: DatasetId) -> RequestedTags:
        record = self._lineage.datasets.get(dataset)
        return requested_tags(record.facets) if record else RequestedTags()

    def _requested_tags_of_job(self, job: JobId) -> RequestedTags:
        return requested_tags(self._lineage.jobs[job].facets)


def _tags_of_content(content: JsonObject) -> Iterable[Tag]:
    """Yield the tags that the description of a dataset names; those of columns in upper case, as in Marquez."""
    yield from (Tag(name) for name in content.get("tags") or ())
    for field in content.get("fields") or ():
        yield from (Tag(name.upper(), field["name"]) for name in field.get("tags") or ())
