# SPDX-License-Identifier: Apache-2.0
"""Summaries of jobs and datasets for lists and the graph drawing.

With column lineage a tenth of the export's size, because columns are only counted.
"""

from collections.abc import Iterator

from lineage.events.ids import JsonObject, identity_json
from lineage.events.timestamps import format_time
from lineage.graph.dataset_record import DatasetRecord
from lineage.graph.job_record import JobRecord
from lineage.graph.records import LineageRecords
from lineage.graph.run_record import RunRecord
from lineage.graph.run_state import run_outcome

_SUMMARIZED = ("documentation", "jobType", "ownership", "storage", "tags")


def job_description(lineage: LineageRecords, record: JobRecord, run: RunRecord | None) -> JsonObject:
    """Return `{"namespace", "name", "engine", "processing", "runs", "run", "parent", "failedChecks", "updatedAt",
    "tags", "owners", "description"}`.

    `run` is the latest run; its facets name the engine if those of the job do not. `"run"` is its id and `"parent"` the
    run that it belongs to, `{"namespace", "name", "run"}`; each null if there is none.
    `"failedChecks"` are the data quality assertions about its inputs that failed in it, `{"namespace", "name",
    "assertion", "column"}`.
    """
    facets = {name: found for name in _SUMMARIZED if (found := record.facets.get(name)) is not None}
    job_type = _object_or_empty(facets.get("jobType"))
    engine = _text_or_none(job_type.get("integration")) or (
        _text_or_none(_object_or_empty(run.facets.get("processing_engine")).get("name")) if run else None
    )
    return {
        "namespace": record.id.namespace,
        "name": record.id.name,
        "engine": engine,
        "processing": _text_or_none(job_type.get("processingType")),
        "runs": len(record.runs),
        "run": run.id.run if run else None,
        "parent": _parent(run) if run else None,
        "failedChecks": list(failed_checks(lineage, run)) if run else [],
        "updatedAt": format_time(record.span.last.time),
        **_tags_and_owners(facets),
    }


def run_summary(lineage: LineageRecords, run: RunRecord | None, now: int) -> JsonObject:
    """Return `{"state", "startedAt", "endedAt", "endedBecause"}` of the latest run of a job at `now` (ns).

    Times are RFC 3339. `endedBecause` is the reason of an inferred end, null if the emitter reported the end. All are
    null without a run.
    """
    outcome = run_outcome(lineage, run, now) if run else None
    started = run.first_start.time if run and run.first_start else None
    return {
        "state": outcome.state if outcome else None,
        "startedAt": None if started is None else format_time(started),
        "endedAt": format_time(outcome.ended) if outcome and outcome.ended is not None else None,
        "endedBecause": outcome.closed_because if outcome else None,
    }


def failed_checks(lineage: LineageRecords, run: RunRecord) -> Iterator[JsonObject]:
    """Yield the data quality assertions about inputs that failed in a run.

    `{"namespace", "name", "assertion", "column"}`, the last two null if the facet does not name them.
    """
    for dataset, use in sorted(lineage.by_node(run.inputs).items()):
        facet = use.transfer.get("dataQualityAssertions") if use.transfer is not None else None
        for row in _object_rows(_object_or_empty(facet).get("assertions")):
            if row.get("success") is False:
                texts = {key: _text_or_none(row.get(key)) for key in ("assertion", "column")}
                yield {**identity_json(dataset), **texts}


def dataset_summary(lineage: LineageRecords, record: DatasetRecord) -> JsonObject:
    """Return `{"namespace", "name", "updatedAt", "tags", "columnTags", "owners", "description", "columns", "storage",
    "symlinks"}`.

    `columnTags` is column -> tags, `columns` how many there are, `storage` the layer of the `storage` facet.
    """
    # Others are large, and have to be unpacked.
    facets = {name: found for name in _SUMMARIZED if (found := record.facet(name)) is not None}
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
        "storage": _text_or_none(_object_or_empty(facets.get("storage")).get("storageLayer")),
        "symlinks": lineage.symlinks(record),
        **_tags_and_owners(facets),
    }


def _parent(run: RunRecord) -> JsonObject | None:
    facet = run.facets.get("parent")
    if facet is None:
        return None
    return {"namespace": facet["job"]["namespace"], "name": facet["job"]["name"], "run": facet["run"]["runId"]}


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
