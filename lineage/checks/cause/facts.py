# SPDX-License-Identifier: Apache-2.0
"""Facts of OpenLineage run events: schemas, definitions of jobs, column edges, rows, assertions, tags."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lineage.events import DatasetId, JobId
from lineage.events.schema_fields import column_types
from lineage.events.timestamps import parse_time

_DESCRIPTIVE_FACETS = frozenset({"jobType", "lineage", "ownership", "documentation", "tags", "jobDependencies"})
"""Facets of a job that do not define what it computes."""

Edge = tuple[str, DatasetId, str]
"""Output column (empty: the rows), input dataset and input column."""


@dataclass(frozen=True)
class Assertion:
    """A failed data quality assertion, on a column or on the dataset (empty column)."""

    name: str
    column: str


@dataclass(frozen=True)
class DatasetFacts:
    """Facts of one event about one of its datasets. Attributes without information are None.

    Attributes:
        schema: type by path of the column.
        rows: rows read or written.
        edges: column edges of an output.
        failed: failed assertions; empty if there were assertions and all passed.
        tags: tags of dataset and columns.
    """

    dataset: DatasetId
    is_output: bool
    schema: Mapping[str, str] | None
    rows: int | None
    edges: frozenset[Edge] | None
    failed: frozenset[Assertion] | None
    tags: frozenset[str] | None


@dataclass(frozen=True)
class RunFacts:
    """Facts of one run event.

    Attributes:
        at: event time, ns since 1970.
        state: type of the event.
        definition: content by name of each facet that defines what the job computes.
        error: message of a failure.
        is_streaming: True for a run without an end of its own.
    """

    job: JobId
    run: str
    at: int
    state: str
    definition: Mapping[str, str]
    error: str
    is_streaming: bool
    datasets: tuple[DatasetFacts, ...]


def facts_of(event: Mapping[str, Any]) -> RunFacts:
    """Return the facts of a run event with canonical names.

    Raises:
        KeyError, ValueError: it is not a valid run event.
    """
    job_facets, run_facets = event["job"].get("facets") or {}, event["run"].get("facets") or {}
    job = JobId(event["job"]["namespace"], event["job"]["name"])
    entries = _entries(job_facets.get("lineage"))
    return RunFacts(
        job=job,
        run=event["run"]["runId"],
        at=parse_time(event["eventTime"]),
        state=event.get("eventType") or "OTHER",
        definition={
            name: _content(facet) for name, facet in job_facets.items() if name not in _DESCRIPTIVE_FACETS and facet
        },
        error=(run_facets.get("errorMessage") or {}).get("message", ""),
        is_streaming=(job_facets.get("jobType") or {}).get("processingType") == "STREAMING",
        datasets=(
            *(_dataset_facts(dataset, False, entries) for dataset in event.get("inputs") or ()),
            *(_dataset_facts(dataset, True, entries) for dataset in event.get("outputs") or ()),
        ),
    )


def _dataset_facts(body: Mapping[str, Any], is_output: bool, entries: Mapping[DatasetId, Any]) -> DatasetFacts:
    dataset, facets = DatasetId(body["namespace"], body["name"]), body.get("facets") or {}
    own = body.get("outputFacets" if is_output else "inputFacets") or {}
    statistics = own.get("outputStatistics" if is_output else "inputStatistics") or {}
    assertions = own.get("dataQualityAssertions") or facets.get("dataQualityAssertions")
    column_lineage = entries.get(dataset) or facets.get("columnLineage")
    return DatasetFacts(
        dataset,
        is_output,
        column_types(facets["schema"].get("fields") or ()) if facets.get("schema") else None,
        statistics.get("rowCount"),
        frozenset(_edges(column_lineage)) if column_lineage and is_output else None,
        None if assertions is None else _failed(assertions),
        frozenset(_tags(facets["tags"])) if facets.get("tags") else None,
    )


def _entries(facet: Mapping[str, Any] | None) -> dict[DatasetId, Any]:
    """Return the entries of a `lineage` facet by output dataset; it is exact where `columnLineage` has no pairs."""
    entries = (facet or {}).get("entries") or ()
    return {
        DatasetId(entry["namespace"], entry["name"]): entry
        for entry in entries
        if entry.get("type", "DATASET") != "JOB"
    }


def _edges(facet: Mapping[str, Any]) -> Iterator[Edge]:
    for output, found in (facet.get("fields") or {}).items():
        for source in found.get("inputFields") or found.get("inputs") or ():
            yield output, DatasetId(source["namespace"], source["name"]), source.get("field") or ""
    for source in facet.get("dataset") or ():
        yield "", DatasetId(source["namespace"], source["name"]), source.get("field") or ""


def _failed(facet: Mapping[str, Any]) -> frozenset[Assertion]:
    return frozenset(
        Assertion(str(one.get("assertion") or ""), one.get("column") or "")
        for one in facet.get("assertions") or ()
        if one.get("success") is False
    )


def _tags(facet: Mapping[str, Any]) -> Iterator[str]:
    for tag in facet.get("tags") or ():
        field = f"{tag['field']}: " if tag.get("field") else ""
        yield f"{field}{tag['key']}={tag.get('value') or ''}"


def _content(facet: Any) -> str:  # noqa: ANN401
    """Return a facet as canonical JSON, without the URLs that change with the emitter's version."""
    body = {key: value for key, value in facet.items() if not key.startswith("_")} if isinstance(facet, dict) else facet
    return json.dumps(body, sort_keys=True)
