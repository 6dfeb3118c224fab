# SPDX-License-Identifier: Apache-2.0
"""Which facets are carried along from event to event, and the few that the service states itself."""

from lineage.events import JsonObject

PRODUCER = "urn:lineage-lab:service"
SPEC = "https://openlineage.io/spec"
RUN_EVENT = f"{SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent"

RUN_FACETS = ("parent", "nominalTime")
JOB_FACETS = ("jobType", "documentation", "sourceCodeLocation", "sql")
DATASET_FACETS = (
    "schema",
    "symlinks",
    "dataSource",
    "documentation",
    "ownership",
    "tags",
    "catalog",
    "storage",
    "datasetType",
    "hierarchy",
)
"""Facets that describe a thing as it stands: Marquez unlearns most of them with the first event that leaves them
out. What tells of a moment (statistics, a version, a change of state) is sent where an event says it, once."""

READ_FACETS = frozenset({"schema", "symlinks", "dataSource", "columnLineage", "jobType", "parent", "nominalTime"})
"""Facets whose content consumers read without looking for a tombstone first: those are not sent on."""

BATCH: JsonObject = {
    "_producer": PRODUCER,
    "_schemaURL": f"{SPEC}/facets/2-0-4/JobTypeJobFacet.json#/$defs/JobTypeJobFacet",
    "processingType": "BATCH",
    "integration": "UNKNOWN",
}
"""The jobType of a job of which nobody said any: what the standard takes it for."""


def column_lineage_facet(content: JsonObject) -> JsonObject:
    """A columnLineage facet that the service states."""
    url = f"{SPEC}/facets/1-2-0/ColumnLineageDatasetFacet.json#/$defs/ColumnLineageDatasetFacet"
    return {"_producer": PRODUCER, "_schemaURL": url, **content}


def closed_facet(reason: str) -> JsonObject:
    """A run facet that says why the service closed the run: our own, so it has the base facet's schema."""
    return {"_producer": PRODUCER, "_schemaURL": f"{SPEC}/2-0-2/OpenLineage.json#/$defs/RunFacet", "reason": reason}


def standing(facets: JsonObject, name: str) -> JsonObject | None:
    """A facet that is there and is no tombstone."""
    facet: JsonObject | None = facets.get(name)
    return None if facet is None or facet.get("_deleted") is True else facet
