# SPDX-License-Identifier: Apache-2.0
"""Jobs, runs and datasets in Marquez's shapes."""

from collections.abc import Iterable
from functools import lru_cache, partial

from lineage.events import DatasetId, JobId, JsonObject, canonical_json, identity_json
from lineage.events.event import Order
from lineage.events.own_facets import COLUMN_DESCRIPTIONS_FACET, DATASET_FACET, DELETED_FACET, column_descriptions
from lineage.events.timestamps import format_time
from lineage.graph import Graph, LineageRecords, is_stale, run_outcome
from lineage.graph.adjacency import Column
from lineage.graph.column_edges import ColumnEdge
from lineage.graph.dataset_record import DatasetRecord
from lineage.graph.dataset_uses import Uses
from lineage.graph.dataset_versions import DatasetVersion
from lineage.graph.job_record import JobRecord
from lineage.graph.last_write import last_write
from lineage.graph.run_record import RunRecord
from lineage.marquez.column_facets import Transformations
from lineage.marquez.input_facets import input_facets
from lineage.marquez.sources import span_times
from lineage.marquez.tags import Tag, tags_of_dataset, tags_of_facets
from lineage.marquez.versions import DatasetVersions, JobVersion, job_version_id, job_versions, version_id

LATEST_RUNS = 10
MAX_CACHED = 2_000
"""Datasets whose versions or transformations a catalog keeps; one takes some KB, with all versions up to 50."""
_JOB_TYPES = {"STREAMING": "STREAM", "STREAM": "STREAM", "SERVICE": "SERVICE"}


class Catalog:
    """Renders records and graph; `now` (ns) determines `stale`. The graph must be refreshed."""

    def __init__(self, lineage: LineageRecords, graph: Graph, now: int) -> None:
        self._lineage = lineage
        self._graph = graph
        self._now = now
        # Of functions, not of methods: no cycle, so that a catalog that is not in use any more is freed at once.
        self._dataset_versions = lru_cache(MAX_CACHED)(partial(_versions_of, lineage))
        self._transformations = lru_cache(MAX_CACHED)(partial(_transformations_of, lineage))
        self._job_version = lru_cache(MAX_CACHED)(job_version_id)

    def job(self, job: JobId) -> JsonObject:
        """Render a job with its facets and latest runs."""
        record = self._lineage.jobs[job]
        runs = self.runs_of(record, 0, LATEST_RUNS)
        return {
            **self.job_summary(job),
            "latestRuns": [self.run(run) for run in runs],
            "facets": _without(DELETED_FACET, record.facets.values()),
            "vanishedEdges": [
                {
                    "direction": edge.direction,
                    "dataset": identity_json(edge.dataset),
                    "since": format_time(edge.since),
                    "reason": edge.reason,
                    "run": edge.run,
                }
                for edge in self._graph.job_lineages[job].vanished
            ],
        }

    def job_summary(self, job: JobId) -> JsonObject:
        """Render a job without its runs and facets."""
        record = self._lineage.jobs[job]
        view = self._graph.job_lineages[job]
        facets = record.facets.values()
        run = self._graph.latest_run(job)
        named = ((run and run.facets.get("parent")) or {}).get("job")
        parent = JobId(named["namespace"], named["name"]) if named else None
        return {
            "id": identity_json(job),
            "type": _JOB_TYPES.get(facets.get("jobType", {}).get("processingType", ""), "BATCH"),
            "name": job.name,
            "simpleName": job.name.removeprefix(f"{parent.name}.") if parent else job.name,
            "parentJobName": parent.name if parent else None,
            "parentJobUuid": version_id(["job", *parent]) if parent else None,
            **span_times(record.span),
            "namespace": job.namespace,
            "inputs": [identity_json(dataset) for dataset in sorted(view.inputs)],
            "outputs": [identity_json(dataset) for dataset in sorted(view.outputs)],
            "tags": _tag_names(tags_of_facets(facets), ""),
            "labels": [],
            "location": facets.get("sourceCodeLocation", {}).get("url"),
            "description": facets.get("documentation", {}).get("description"),
            "latestRun": self.run(run) if run else None,
            "currentVersion": self._job_version(job, view.inputs, view.outputs),
        }

    def job_node(self, job: JobId) -> JsonObject:
        """Render a job as a node of the lineage graph."""
        run = self._graph.latest_run(job)
        return {**self.job_summary(job), "currentRunUuid": run.id.run if run else None}

    def job_versions(self, job: JobId) -> list[JobVersion]:
        """Return the versions of a job, newest first."""
        return job_versions(self._lineage, self._lineage.jobs[job], self._graph.job_lineages[job])

    def job_version(self, job: JobId, version: JobVersion) -> JsonObject:
        """Render one version of a job with its latest run."""
        record = self._lineage.jobs[job]
        identity = job_version_id(job, version.inputs, version.outputs)
        return {
            "id": identity_json(job),
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
        return job.latest_runs(offset, limit)

    def run(self, run: RunRecord) -> JsonObject:
        """Render one run."""
        outcome = run_outcome(self._lineage, run, self._now)
        inputs, outputs = self._lineage.by_node(run.inputs), self._lineage.by_node(run.outputs)
        started = run.first_start.time if run.first_start else None
        nominal = run.facets.get("nominalTime") or {}
        took = None if started is None or outcome.ended is None else max(0, outcome.ended - started) // 10**6
        return {
            "id": run.id.run,
            **span_times(run.span),
            "nominalStartTime": nominal.get("nominalStartTime"),
            "nominalEndTime": nominal.get("nominalEndTime"),
            "state": outcome.state,
            "startedAt": _optional_time(started),
            "endedAt": _optional_time(outcome.ended),
            "durationMs": took,
            "args": _run_arguments(run.facets.get("executionParameters")),
            "jobVersion": {
                **identity_json(run.id.job),
                "version": self._job_version(run.id.job, frozenset(inputs), frozenset(outputs)),
            },
            "inputDatasetVersions": self._used_versions(inputs, run.span.last),
            "outputDatasetVersions": self._used_versions(outputs, run.span.last),
            "facets": run.facets.values(),
            "closedBecause": outcome.closed_because,
            "stale": is_stale(self._lineage, run, self._now),
            "claimedTime": _optional_time(run.claimed),
        }

    def dataset(self, dataset: DatasetId) -> JsonObject:
        """Render a dataset with facets and column lineage."""
        record = self._lineage.datasets[dataset]
        return {
            **self.dataset_summary(dataset),
            "lastModifiedAt": _optional_time(last_write(self._lineage, self._graph, dataset, self._now)),
            "columnLineage": self._column_lineage(record),
            "facets": self._facets_of_dataset(record),
            "deleted": False,
        }

    def dataset_summary(self, dataset: DatasetId) -> JsonObject:
        """Render a dataset as a node of the lineage graph, without the time of its last write."""
        record = self._lineage.datasets[dataset]
        tags = tags_of_dataset(record)
        stated = record.facet(DATASET_FACET) or {}
        return {
            "id": identity_json(dataset),
            "type": stated.get("type") or ("STREAM" if dataset.namespace.startswith("kafka://") else "DB_TABLE"),
            "name": dataset.name,
            "physicalName": stated.get("physicalName") or dataset.name,
            **span_times(record.span),
            "namespace": dataset.namespace,
            "sourceName": stated.get("sourceName") or dataset.namespace,
            "fields": _described_rows(_field_rows(record.fields(), tags), record.facet(COLUMN_DESCRIPTIONS_FACET)),
            "tags": _tag_names(tags, ""),
            "lastModifiedAt": None,
            "lastLifecycleState": (record.facet("lifecycleStateChange") or {}).get("lifecycleStateChange", ""),
            "description": (record.facet("documentation") or {}).get("description"),
            "currentVersion": self.dataset_versions(dataset).current_id,
        }

    def dataset_versions(self, dataset: DatasetId) -> DatasetVersions:
        """Return the versions of a dataset; this catalog keeps those asked for last."""
        return self._dataset_versions(dataset)

    def dataset_version(self, dataset: DatasetId, version: DatasetVersion) -> JsonObject:
        """Render one version of a dataset. Only the current version has facets: the current ones."""
        versions = self.dataset_versions(dataset)
        identity = versions.id_of(version)
        summary = self.dataset_summary(dataset)
        facets = self._facets_of_dataset(self._lineage.datasets[dataset])
        run = self._lineage.run(version.run.run, version.run.job) if version.run else None
        return {
            **{key: summary[key] for key in ("type", "name", "physicalName", "namespace", "sourceName", "tags")},
            "id": {**identity_json(dataset), "version": identity},
            "createdAt": format_time(version.order.time),
            "version": identity,
            "fields": _field_rows(version.fields, tags_of_dataset(self._lineage.datasets[dataset])),
            "lifecycleState": None,
            "description": summary["description"],
            "currentSchemaVersion": version_id([dataset, version.fields]),
            "createdByRun": self.run(run) if run else None,
            "facets": facets if identity == summary["currentVersion"] else {},
        }

    def _used_versions(self, uses: Uses, until: Order) -> list[JsonObject]:
        return [
            {
                "datasetVersionId": {
                    **identity_json(dataset),
                    "version": self.dataset_versions(dataset).version_id_used(facets, until),
                },
                "facets": facets.transfer.values() if facets.transfer is not None else {},
            }
            for dataset, facets in sorted(uses.items(), key=lambda use: use[0])
        ]

    def _facets_of_dataset(self, record: DatasetRecord) -> JsonObject:
        """Return the facets of a dataset, and the input facets of its readers, as Marquez shows them."""
        return {**input_facets(self._lineage, self._graph, record.id), **self._lineage.facets(record)}

    def field_type(self, column: Column) -> str | None:
        """Return the type of a column, or None if no schema has it."""
        record = self._lineage.datasets.get(column.dataset)
        for field in record.fields() if record else ():
            if field["name"] == column.field:
                found: str | None = field.get("type")
                return found
        return None

    def transformations(self, dataset: DatasetId) -> Transformations:
        """Return the transformations of a dataset's columns; this catalog keeps those asked for last."""
        return self._transformations(dataset)

    def current_version(self, dataset: DatasetId) -> str | None:
        """Return the id of a dataset's current version; None for an unknown dataset."""
        return self.dataset_versions(dataset).current_id if dataset in self._lineage.datasets else None

    def input_fields(self, edges: Iterable[ColumnEdge]) -> list[JsonObject]:
        """Return the distinct sources of one column over all jobs."""
        rows = {
            (edge.source, edge.source_field, edge.subtype or edge.type or ""): {
                "namespace": edge.source.namespace,
                "dataset": edge.source.name,
                "field": edge.source_field,
                **self.transformations(edge.output).of_edge(edge),
            }
            for edge in edges
        }
        return [row for _, row in sorted(rows.items(), key=lambda item: item[0])]

    def _column_lineage(self, record: DatasetRecord) -> list[JsonObject]:
        found: dict[str, set[ColumnEdge]] = {}
        for producer in self._graph.producers.get(record.id, ()):
            for edge in self._graph.job_lineages[producer].columns:
                if edge.output == record.id and edge.field is not None:
                    found.setdefault(edge.field, set()).add(edge)
        transformations = self.transformations(record.id)
        return [
            {"name": name, "inputFields": self.input_fields(edges), **transformations.of_field(name, edges)}
            for name, edges in sorted(found.items())
        ]


def _versions_of(lineage: LineageRecords, dataset: DatasetId) -> DatasetVersions:
    return DatasetVersions(lineage.datasets[dataset])


def _transformations_of(lineage: LineageRecords, dataset: DatasetId) -> Transformations:
    record = lineage.datasets.get(dataset)
    return Transformations(record.facets.get("columnLineage") if record else None)


def _field_rows(fields: Iterable[JsonObject], tags: set[Tag]) -> list[JsonObject]:
    rendered = []
    for field in fields:
        row: JsonObject = {
            "name": field["name"],
            "type": field.get("type"),
            "tags": _tag_names(tags, field["name"]),
            "description": field.get("description"),
        }
        if field.get("fields"):
            row["fields"] = _field_rows(field["fields"], set())
        rendered.append(row)
    return rendered


def _described_rows(rows: list[JsonObject], facet: JsonObject | None) -> list[JsonObject]:
    """Return the columns with the descriptions that users gave them, before those of the schema."""
    texts = column_descriptions(facet or {})
    return [{**row, "description": texts.get(row["name"], row["description"])} for row in rows] if texts else rows


def _tag_names(tags: set[Tag], field: str) -> list[str]:
    return sorted(tag.key for tag in tags if tag.field == field) if tags else []


def _run_arguments(facet: JsonObject | None) -> dict[str, str]:
    """Return the parameters of a run as Marquez's `args`: texts by name."""
    rows = (facet or {}).get("parameters")
    return {
        name: value if isinstance(value := row.get("value"), str) else canonical_json(value).decode()
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict) and isinstance(name := row.get("key"), str)
    }


def _without(name: str, facets: JsonObject) -> JsonObject:
    return {key: facet for key, facet in facets.items() if key != name}


def _optional_time(nanos: int | None) -> str | None:
    return None if nanos is None else format_time(nanos)
