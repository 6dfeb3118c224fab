# SPDX-License-Identifier: Apache-2.0
"""Namespaces, jobs, runs and datasets in Marquez's shapes."""

from collections.abc import Iterable

from lineage.events import DatasetId, JobId, JsonObject, identity_json
from lineage.events.event import Order
from lineage.events.timestamps import format_time
from lineage.graph import Graph, LineageRecords, is_stale, run_outcome
from lineage.graph.adjacency import Column
from lineage.graph.dataset_record import DatasetRecord, DatasetVersion
from lineage.graph.job_lineage import ColumnEdge
from lineage.graph.job_record import JobRecord, RunRecord, Uses
from lineage.graph.mergeable import Span
from lineage.marquez.versions import DatasetVersions, JobVersion, job_version_id, job_versions, version_id

LATEST_RUNS = 10
_OWNER = "anonymous"
_JOB_TYPES = {"STREAMING": "STREAM", "STREAM": "STREAM", "SERVICE": "SERVICE"}


class Catalog:
    """Renders records and graph; `now` (ns) determines `stale`. The graph must be refreshed."""

    def __init__(self, lineage: LineageRecords, graph: Graph, now: int) -> None:
        self._lineage = lineage
        self._graph = graph
        self._now = now
        self._dataset_versions: dict[DatasetId, DatasetVersions] = {}
        self._job_versions: dict[tuple[JobId, frozenset[DatasetId], frozenset[DatasetId]], str] = {}

    def namespace(self, name: str) -> JsonObject:
        """Render an existing namespace."""
        return {
            "name": name,
            **_span_times(self._lineage.namespaces[name]),
            "ownerName": _OWNER,
            "description": None,
            "isHidden": False,
        }

    def job(self, job: JobId) -> JsonObject:
        """Render a job with its facets and latest runs."""
        record = self._lineage.jobs[job]
        runs = self.runs_of(record, 0, LATEST_RUNS)
        return {
            **self.job_summary(job),
            "latestRuns": [self.run(run) for run in runs],
            "facets": record.facets.values(),
            "vanishedEdges": [
                {
                    "direction": edge.direction,
                    "dataset": identity_json(edge.dataset),
                    "since": format_time(edge.since),
                    "reason": edge.reason,
                }
                for edge in self._graph.job_lineages[job].vanished
            ],
        }

    def job_summary(self, job: JobId) -> JsonObject:
        """Render a job as a node of the lineage graph."""
        record = self._lineage.jobs[job]
        view = self._graph.job_lineages[job]
        facets = record.facets.values()
        run = view.latest_run
        parent = ((run and run.facets.get("parent")) or {}).get("job", {}).get("name")
        return {
            "id": identity_json(job),
            "type": _JOB_TYPES.get(facets.get("jobType", {}).get("processingType", ""), "BATCH"),
            "name": job.name,
            "simpleName": job.name.removeprefix(f"{parent}."),
            "parentJobName": parent,
            "parentJobUuid": None,
            **_span_times(record.span),
            "namespace": job.namespace,
            "inputs": [identity_json(dataset) for dataset in sorted(view.inputs)],
            "outputs": [identity_json(dataset) for dataset in sorted(view.outputs)],
            "tags": _tags_of_facets(facets),
            "location": facets.get("sourceCodeLocation", {}).get("url"),
            "description": facets.get("documentation", {}).get("description"),
            "latestRun": self.run(run) if run else None,
            "currentVersion": self._job_version(job, view.inputs, view.outputs),
        }

    def job_versions(self, job: JobId) -> list[JobVersion]:
        """Return the versions of a job, newest first."""
        return job_versions(self._lineage.jobs[job], self._graph.job_lineages[job])

    def job_version(self, job: JobId, version: JobVersion) -> JsonObject:
        """Render one version of a job with its latest run."""
        record = self._lineage.jobs[job]
        identity = job_version_id(job, version.inputs, version.outputs)
        return {
            "id": {**identity_json(job), "version": identity},
            "name": job.name,
            "createdAt": format_time(version.created),
            "version": identity,
            "namespace": job.namespace,
            "location": (record.facets.get("sourceCodeLocation") or {}).get("url"),
            "inputs": [identity_json(dataset) for dataset in sorted(version.inputs)],
            "outputs": [identity_json(dataset) for dataset in sorted(version.outputs)],
            "latestRun": self.run(version.latest_run) if version.latest_run else None,
        }

    def runs_of(self, job: JobRecord, offset: int, limit: int) -> list[RunRecord]:
        """Return one page of the runs of a job, latest first."""
        return [job.runs[place.run] for place in job.history.runs.latest_first(offset, limit)]

    def run(self, run: RunRecord) -> JsonObject:
        """Render one run."""
        outcome = run_outcome(self._lineage, run)
        started = run.first_start.time if run.first_start else None
        nominal = run.facets.get("nominalTime") or {}
        took = None if started is None or outcome.ended is None else (outcome.ended - started) // 10**6
        return {
            "id": run.id.run,
            **_span_times(run.span),
            "nominalStartTime": nominal.get("nominalStartTime"),
            "nominalEndTime": nominal.get("nominalEndTime"),
            "state": outcome.state,
            "startedAt": _optional_time(started),
            "endedAt": _optional_time(outcome.ended),
            "durationMs": took,
            "args": {},
            "jobVersion": {
                **identity_json(run.id.job),
                "version": self._job_version(run.id.job, frozenset(run.inputs), frozenset(run.outputs)),
            },
            "inputDatasetVersions": self._used_versions(run.inputs, run.span.last),
            "outputDatasetVersions": self._used_versions(run.outputs, run.span.last),
            "facets": run.facets.values(),
            "closedBecause": outcome.closed_because,
            "stale": is_stale(self._lineage, run, self._now),
        }

    def dataset(self, dataset: DatasetId) -> JsonObject:
        """Render a dataset with facets and column lineage."""
        record = self._lineage.datasets[dataset]
        return {
            **self.dataset_summary(dataset),
            "columnLineage": self._column_lineage(record),
            "facets": record.all_facets(),
            "deleted": False,
        }

    def dataset_summary(self, dataset: DatasetId) -> JsonObject:
        """Render a dataset as a node of the lineage graph."""
        record = self._lineage.datasets[dataset]
        facets = record.all_facets()
        return {
            "id": identity_json(dataset),
            "type": "STREAM" if dataset.namespace.startswith("kafka://") else "DB_TABLE",
            "name": dataset.name,
            "physicalName": dataset.name,
            **_span_times(record.span),
            "namespace": dataset.namespace,
            "sourceName": dataset.namespace,
            "fields": _field_rows(record.fields(), facets),
            "tags": _tags_of_facets(facets),
            "lastModifiedAt": None,
            "lastLifecycleState": facets.get("lifecycleStateChange", {}).get("lifecycleStateChange", ""),
            "description": facets.get("documentation", {}).get("description"),
            "currentVersion": self.dataset_versions(dataset).current_id(),
        }

    def dataset_versions(self, dataset: DatasetId) -> DatasetVersions:
        """Return the versions of a dataset, cached by this catalog."""
        found = self._dataset_versions.get(dataset)
        if found is None:
            found = self._dataset_versions[dataset] = DatasetVersions(self._lineage.datasets[dataset])
        return found

    def dataset_version(self, dataset: DatasetId, version: DatasetVersion) -> JsonObject:
        """Render one version of a dataset. Only the current version has facets: the current ones."""
        versions = self.dataset_versions(dataset)
        identity = versions.id_of(version)
        summary = self.dataset_summary(dataset)
        facets = self._lineage.datasets[dataset].all_facets()
        run = self._lineage.run(version.run.run, version.run.job) if version.run else None
        return {
            **{key: summary[key] for key in ("type", "name", "physicalName", "namespace", "sourceName", "tags")},
            "id": {**identity_json(dataset), "version": identity},
            "createdAt": format_time(version.order.time),
            "version": identity,
            "fields": _field_rows(version.fields, facets),
            "lifecycleState": None,
            "description": summary["description"],
            "currentSchemaVersion": version_id([dataset, version.fields]),
            "createdByRun": self.run(run) if run else None,
            "facets": facets if identity == summary["currentVersion"] else {},
        }

    def _job_version(self, job: JobId, inputs: frozenset[DatasetId], outputs: frozenset[DatasetId]) -> str:
        """Return the id of a job's version, cached: most runs of a job share one."""
        key = (job, inputs, outputs)
        found = self._job_versions.get(key)
        if found is None:
            found = self._job_versions[key] = job_version_id(*key)
        return found

    def _used_versions(self, uses: Uses, until: Order) -> list[JsonObject]:
        return [
            {
                "datasetVersionId": {
                    **identity_json(dataset),
                    "version": self.dataset_versions(dataset).version_id_used(facets, until),
                },
                "facets": {},
            }
            for dataset, facets in sorted(uses.items(), key=lambda use: use[0])
        ]

    def field_type(self, column: Column) -> str | None:
        """Return the type of a column, or None if no schema has it."""
        record = self._lineage.datasets.get(column.dataset)
        for field in record.fields() if record else ():
            if field["name"] == column.field:
                found: str | None = field.get("type")
                return found
        return None

    def _column_lineage(self, record: DatasetRecord) -> list[JsonObject]:
        found: dict[str, set[ColumnEdge]] = {}
        for producer in self._graph.producers.get(record.id, ()):
            for edge in self._graph.job_lineages[producer].columns:
                if edge.output == record.id and edge.field is not None:
                    found.setdefault(edge.field, set()).add(edge)
        return [
            {"name": name, "inputFields": input_fields(edges), **_transformation_keys(_common_kind(edges))}
            for name, edges in sorted(found.items())
        ]


def input_fields(edges: Iterable[ColumnEdge]) -> list[JsonObject]:
    """Return the distinct sources of one column over all jobs."""
    sources = {(edge.source, edge.source_field, edge.subtype or edge.type or "") for edge in edges}
    return [
        {
            "namespace": dataset.namespace,
            "dataset": dataset.name,
            "datasetVersion": None,
            "field": field,
            **_transformation_keys(kind),
        }
        for dataset, field, kind in sorted(sources)
    ]


def _common_kind(edges: Iterable[ColumnEdge]) -> str:
    """Return the kind common to all edges of a column, or an empty string."""
    kinds = {edge.subtype or edge.type or "" for edge in edges}
    return kinds.pop() if len(kinds) == 1 else ""


def _transformation_keys(kind: str) -> JsonObject:
    return {"transformationDescription": None, "transformationType": kind or None}


def _field_rows(fields: Iterable[JsonObject], facets: dict[str, JsonObject]) -> list[JsonObject]:
    tags = facets.get("tags", {}).get("tags")
    rendered = []
    for field in fields:
        row: JsonObject = {
            "name": field["name"],
            "type": field.get("type"),
            "tags": sorted(_tag_names(tags, field["name"])),
            "description": field.get("description"),
        }
        if field.get("fields"):
            row["fields"] = _field_rows(field["fields"], {})
        rendered.append(row)
    return rendered


def _tags_of_facets(facets: dict[str, JsonObject]) -> list[str]:
    return sorted(_tag_names(facets.get("tags", {}).get("tags"), None))


def _tag_names(tags: object, field: str | None) -> set[str]:
    if not isinstance(tags, list):
        return set()
    mine = (tag for tag in tags if isinstance(tag, dict) and tag.get("field") == field)
    return {tag["key"] for tag in mine if isinstance(tag.get("key"), str)}


def _span_times(span: Span) -> JsonObject:
    return {"createdAt": format_time(span.first.time), "updatedAt": format_time(span.last.time)}


def _optional_time(nanos: int | None) -> str | None:
    return None if nanos is None else format_time(nanos)
