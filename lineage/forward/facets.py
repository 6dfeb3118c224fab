# SPDX-License-Identifier: Apache-2.0
"""Facets that are repeated in every sent event, and facets that the service creates."""

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
"""Facets that describe the current state: Marquez drops most of them with the first event that leaves them
out. Facets about a moment (statistics, version, state change) are sent once, with the event that has them."""

READ_FACETS = frozenset({"schema", "symlinks", "dataSource", "columnLineage", "jobType", "parent", "nominalTime"})
"""Facets that backends read without checking for a tombstone: tombstones of these are not sent."""

BATCH: JsonObject = {
    "_producer": PRODUCER,
    "_schemaURL": f"{SPEC}/facets/2-0-4/JobTypeJobFacet.json#/$defs/JobTypeJobFacet",
    "processingType": "BATCH",
    "integration": "UNKNOWN",
}
"""The jobType of a job without one: the default of the standard."""


def column_lineage_facet(content: JsonObject) -> JsonObject:
    """Return a columnLineage facet created by the service."""
    url = f"{SPEC}/facets/1-2-0/ColumnLineageDatasetFacet.json#/$defs/ColumnLineageDatasetFacet"
    return {"_producer": PRODUCER, "_schemaURL": url, **content}


def closed_facet(reason: str) -> JsonObject:
    """Return a custom run facet with the cause for which the service closed the run."""
    return {"_producer": PRODUCER, "_schemaURL": f"{SPEC}/2-0-2/OpenLineage.json#/$defs/RunFacet", "reason": reason}
