# SPDX-License-Identifier: Apache-2.0
"""Graph export as canonical JSON: the definition of graph equality in tests and in the contract check."""

from collections.abc import Iterable, Iterator, Set

import orjson

from lineage.events.ids import DatasetId, JobId, JsonObject, identity_json
from lineage.events.strict_json import canonical_json
from lineage.graph.adjacency import Graph
from lineage.graph.column_edges import ColumnEdge
from lineage.graph.dataset_record import DatasetRecord
from lineage.graph.export_rows import EXPORT_VERSION, KINDS, ExportRows
from lineage.graph.job_dependencies import JobDependency
from lineage.graph.job_lineage import JobLineage
from lineage.graph.job_record import JobRecord
from lineage.graph.records import LineageRecords
from lineage.graph.run_state import SETTLED, run_outcome

_NODES_PER_STEP = 50
"""Jobs or datasets per step."""


def export_graph(lineage: LineageRecords, graph: Graph) -> JsonObject:
    """Return jobs, datasets and all edges, sorted.

    Free of times, run ids and snapshot versions, so that a second run of the same pipeline exports the same.

    `{"version", "jobs": [{"namespace", "name", "type", "state"}],
    "datasets": [{"namespace", "name", "fields": [{"name", "type"?, "fields"?}], "fieldsOfReaders",
    "symlinks"}],
    "edges": [{"job", "direction": "input" | "output", "dataset"}],
    "flows": [{"job", "input", "output"}],
    "columns": [{"job", "output": {"namespace", "name", "field"}, "input": {...}, "type", "subtype",
    "masking"}],
    "datasetColumns": [the same, `output` without `field`],
    "vanished": [{"job", "direction", "dataset", "reason"}],
    "jobDependencies": [{"upstream", "downstream"}]}`
    """
    export: JsonObject = orjson.loads(export_text(lineage, graph))
    return export


def export_text(lineage: LineageRecords, graph: Graph) -> bytes:
    """Return the canonical JSON of `export_graph`, which takes a tenth of its memory."""
    rows = ExportRows()
    for _ in export_steps(lineage, graph, rows):
        pass
    return b"".join(rows.blocks())


def export_part(lineage: LineageRecords, graph: Graph, jobs: Set[JobId], datasets: Set[DatasetId]) -> JsonObject:
    """Return the rows of `export_graph` of some jobs and datasets; the graph must be refreshed."""
    rows: dict[str, list[JsonObject]] = {kind: [] for kind in KINDS}
    for job in jobs:
        rows["jobs"].append(_job_json(lineage, graph, lineage.jobs[job]))
        for kind, row in _edge_rows(job, graph.job_lineages[job]):
            rows[kind].append(row)
    for dataset in datasets:
        rows["datasets"].append(dataset_json(lineage, lineage.datasets[dataset]))
    for dependency in sorted({found for job in jobs for found in graph.job_lineages[job].dependencies}):
        rows["jobDependencies"].append(_dependency_json(dependency))
    return {"version": EXPORT_VERSION, **{key: sorted(found, key=canonical_json) for key, found in rows.items()}}


def export_steps(lineage: LineageRecords, graph: Graph, rows: ExportRows) -> Iterator[None]:
    """Add the rows of `export_graph`, in steps of some milliseconds.

    They are complete after the last step, and consistent only if no event was applied in between.
    """
    while graph.refresh_some(_NODES_PER_STEP):
        yield
    for count, (job, view) in enumerate(list(graph.job_lineages.items()), start=1):
        # Thousands are read; if all stayed in memory, they would be most of it.
        rows.add("jobs", lineage.job_once(job, lambda record: _job_json(lineage, graph, record)))
        for kind, row in _edge_rows(job, view):
            rows.add(kind, row)
        if count % _NODES_PER_STEP == 0:
            yield
    for count, name in enumerate(list(lineage.datasets), start=1):
        if name in lineage.datasets:
            lineage.dataset_once(name, lambda record: _add_dataset(lineage, record, rows))
        if count % _NODES_PER_STEP == 0:
            yield
    for dependency in graph.job_dependencies:
        rows.add("jobDependencies", _dependency_json(dependency))


def job_lineage_rows(job: JobId, view: JobLineage) -> Iterator[tuple[str, JsonObject]]:
    """Yield the rows of the export that the lineage of a job makes, with the job dependencies that it states."""
    yield from _edge_rows(job, view)
    for dependency in view.dependencies:
        yield "jobDependencies", _dependency_json(dependency)


def _dependency_json(dependency: JobDependency) -> JsonObject:
    return {"upstream": identity_json(dependency.upstream), "downstream": identity_json(dependency.downstream)}


def _add_dataset(lineage: LineageRecords, record: DatasetRecord, rows: ExportRows) -> None:
    if not lineage.catalog.is_deleted_dataset(record):
        rows.add("datasets", dataset_json(lineage, record))


def _job_json(lineage: LineageRecords, graph: Graph, job: JobRecord) -> JsonObject:
    facet, run = job.facets.get("jobType") or {}, graph.latest_run(job.id)
    state = run_outcome(lineage, run, SETTLED).state if run else None
    return {**identity_json(job.id), "type": facet.get("processingType"), "state": state}


def _edge_rows(job: JobId, view: JobLineage) -> Iterator[tuple[str, JsonObject]]:
    """Yield the rows of the edges of a job, each with its kind."""
    for direction, datasets in (("input", view.inputs), ("output", view.outputs)):
        for dataset in datasets:
            yield "edges", {"job": identity_json(job), "direction": direction, "dataset": identity_json(dataset)}
    for flow in view.flows:
        source, output = identity_json(flow.source), identity_json(flow.output)
        yield "flows", {"job": identity_json(job), "input": source, "output": output}
    for edge in view.columns:
        yield "datasetColumns" if edge.field is None else "columns", _column_json(edge)
    for vanished in view.vanished:
        row = {"direction": vanished.direction, "dataset": identity_json(vanished.dataset), "reason": vanished.reason}
        yield "vanished", {"job": identity_json(job), **row}


def _column_json(edge: ColumnEdge) -> JsonObject:
    output = identity_json(edge.output) if edge.field is None else {**identity_json(edge.output), "field": edge.field}
    return {
        "job": identity_json(edge.job),
        "output": output,
        "input": {**identity_json(edge.source), "field": edge.source_field},
        "type": edge.type,
        "subtype": edge.subtype,
        "masking": edge.masking,
    }


def dataset_json(lineage: LineageRecords | None, record: DatasetRecord) -> JsonObject:
    """Return the row of a dataset; `lineage` is None for one whose name is not linked with others."""
    return {
        **identity_json(record.id),
        "fields": _fields_json(record.fields()),
        "fieldsOfReaders": record.has_columns_of_readers,
        "symlinks": [] if lineage is None else lineage.symlinks(record),
    }


def _fields_json(fields: Iterable[JsonObject]) -> list[JsonObject]:
    """Return columns in schema order, which is significant; nested ones below their parents."""
    return [
        {"name": field["name"], "type": field.get("type")}
        | ({"fields": _fields_json(field["fields"])} if field.get("fields") else {})
        for field in fields
    ]
