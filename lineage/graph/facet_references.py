# SPDX-License-Identifier: Apache-2.0
"""Datasets that an event names only in facets; they are nodes of the graph too."""

from collections.abc import Iterable, Iterator

from lineage.events.ids import DatasetId, JsonObject
from lineage.graph.mergeable import effective_facet


def referenced_datasets(body: JsonObject) -> set[DatasetId]:
    """Return the datasets that lineage facets of an event name as sources or targets."""
    found: set[DatasetId] = set()
    for dataset in (*(body.get("inputs") or ()), *(body.get("outputs") or ()), body.get("dataset") or {}):
        facets = dataset.get("facets") or {}
        if facet := effective_facet(facets, "columnLineage"):
            found.update(_dataset_ids(_column_sources(facet)))
        if facet := effective_facet(facets, "lineage"):
            found.update(_dataset_ids(lineage_sources(facet)))
    job_facets = (body.get("job") or {}).get("facets") or {}
    for entry in (effective_facet(job_facets, "lineage") or {}).get("entries") or ():
        found.update(_dataset_ids([entry] if entry["type"] == "DATASET" else []))
        found.update(_dataset_ids(lineage_sources(entry)))
    return found


def lineage_sources(target: JsonObject) -> Iterator[JsonObject]:
    """Yield the source datasets of one target of a lineage facet, including those of its fields."""
    for owner in (target, *(target.get("fields") or {}).values()):
        yield from (source for source in owner.get("inputs") or () if source["type"] == "DATASET")


def _column_sources(facet: JsonObject) -> Iterator[JsonObject]:
    for field in (facet.get("fields") or {}).values():
        yield from field["inputFields"]
    yield from facet.get("dataset") or ()


def _dataset_ids(entities: Iterable[JsonObject]) -> Iterator[DatasetId]:
    return (DatasetId(entity["namespace"], entity["name"]) for entity in entities)
