# SPDX-License-Identifier: Apache-2.0
"""Summaries of jobs and datasets for lists and the graph drawing.

With column lineage a tenth of the export's size, because columns are only counted.
"""

from collections.abc import Iterable, Mapping

from lineage.events.ids import DatasetId, JsonObject, identity_json
from lineage.events.timestamps import format_time
from lineage.graph.adjacency import Graph
from lineage.graph.dataset_record import DatasetRecord
from lineage.graph.job_record import JobRecord
from lineage.graph.records import LineageRecords
from lineage.graph.run_state import is_stale, run_outcome


def job_summary(
    lineage: LineageRecords, graph: Graph, record: JobRecord, places: Mapping[DatasetId, int], now: int
) -> JsonObject:
    """Return `{"namespace", "name", "engine", "processing", "state", "stale", "runs", "startedAt", "endedAt",
    "endedBecause", "updatedAt", "tags", "owners", "description", "inputs", "outputs", "upstreamJobs",
    "downstreamJobs"}`.

    Times are RFC 3339, `now` (ns) determines `stale`, inputs and outputs are indexes from `places`. `endedBecause` is
    the reason of an inferred end, null if the emitter reported the end.
    """
    view = graph.job_lineages[record.id]
    run = graph.latest_run(record.id)
    outcome = run_outcome(lineage, run, now) if run else None
    facets = record.facets.values()
    job_type = _object_or_empty(facets.get("jobType"))
    engine = _text_or_none(job_type.get("integration")) or (
        _text_or_none(_object_or_empty(run.facets.get("processing_engine")).get("name")) if run else None
    )
    started = run.first_start.time if run and run.first_start else None
    return {
        "namespace": record.id.namespace,
        "name": record.id.name,
        "engine": engine,
        "processing": _text_or_none(job_type.get("processingType")),
        "state": outcome.state if outcome else None,
        "stale": run is not None and is_stale(lineage, run, now),
        "runs": len(record.runs),
        "startedAt": None if started is None else format_time(started),
        "endedAt": format_time(outcome.ended) if outcome and outcome.ended is not None else None,
        "endedBecause": outcome.closed_because if outcome else None,
        "updatedAt": format_time(record.span.last.time),
        "inputs": sorted(places[dataset] for dataset in view.inputs if dataset in places),
        "outputs": sorted(places[dataset] for dataset in view.outputs if dataset in places),
        "upstreamJobs": [identity_json(job) for job in sorted(graph.upstream_jobs(record.id))],
        "downstreamJobs": [identity_json(job) for job in sorted(graph.downstream_jobs(record.id))],
        **_tags_and_owners(facets),
    }


def dataset_summary(lineage: LineageRecords, record: DatasetRecord, masked: Iterable[str]) -> JsonObject:
    """Return `{"namespace", "name", "updatedAt", "tags", "columnTags", "owners", "description", "columns", "masked",
    "storage", "droppedAt", "symlinks"}`.

    `columnTags` is column -> tags, `columns` how many there are, `masked` the columns that a job fills with masked
    values, `storage` the layer of the `storage` facet. `droppedAt` is null for a dataset that exists.
    """
    facets = record.all_facets()
    dropped = lineage.dropped_at([record.id]).get(record.id)
    columns: dict[str, list[str]] = {}
    for tag in _object_rows(_object_or_empty(facets.get("tags")).get("tags")):
        if isinstance(tag.get("field"), str) and isinstance(tag.get("key"), str):
            columns.setdefault(tag["field"], []).append(tag["key"])
    return {
        "namespace": record.id.namespace,
        "name": record.id.name,
        "updatedAt": format_time(record.span.last.time),
        "columnTags": {column: sorted(set(tags)) for column, tags in columns.items()},
        "columns": len(record.fields()),
        "masked": sorted(masked),
        "storage": _text_or_none(_object_or_empty(facets.get("storage")).get("storageLayer")),
        "droppedAt": None if dropped is None else format_time(dropped),
        "symlinks": lineage.symlinks(record),
        **_tags_and_owners(facets),
    }


def _tags_and_owners(facets: dict[str, JsonObject]) -> JsonObject:
    tags = _object_rows(_object_or_empty(facets.get("tags")).get("tags"))
    owners = _object_rows(_object_or_empty(facets.get("ownership")).get("owners"))
    return {
        "tags": sorted({tag["key"] for tag in tags if tag.get("field") is None and isinstance(tag.get("key"), str)}),
        "owners": sorted({owner["name"] for owner in owners if isinstance(owner.get("name"), str)}),
        "description": _text_or_none(_object_or_empty(facets.get("documentation")).get("description")),
    }


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _object_or_empty(value: object) -> JsonObject:
    """Return an object, or an empty one: the content of facets is not validated."""
    return value if isinstance(value, dict) else {}


def _object_rows(value: object) -> list[JsonObject]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
