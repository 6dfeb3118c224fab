# SPDX-License-Identifier: Apache-2.0
"""Facets that are repeated in every sent event, and facets that the service creates."""

from collections.abc import Callable, Iterable

from lineage.events import JsonObject
from lineage.events.own_facets import PRODUCER

RUN_FACETS = ("parent", "nominalTime")
JOB_FACETS = ("jobType", "documentation", "sourceCodeLocation", "sql")
DATASET_FACETS = ("schema", "documentation", "ownership", "tags", "catalog", "storage", "datasetType", "hierarchy")
"""Facets that describe the current state: Marquez drops most of them with the first event that leaves them
out. Facets about a moment (statistics, version, state change) are sent once, with the event that has them."""

DEFAULT_JOB_TYPE: JsonObject = {"processingType": "BATCH", "integration": "UNKNOWN", "jobType": "JOB"}
"""Fields that Marquez 0.46 to 0.51 requires in every job: it answers 422 to an event without one."""

_SCHEMAS = {
    "jobType": "2-0-4/JobTypeJobFacet",
    "schema": "1-2-0/SchemaDatasetFacet",
    "dataSource": "1-0-1/DatasourceDatasetFacet",
    "columnLineage": "1-2-0/ColumnLineageDatasetFacet",
}


def service_facet(name: str, content: JsonObject) -> JsonObject:
    """Return a facet created by the service."""
    version, definition = _SCHEMAS[name].split("/")
    url = f"https://openlineage.io/spec/facets/{version}/{definition}.json#/$defs/{definition}"
    return {"_producer": PRODUCER, "_schemaURL": url, **content}


def merged_facets(
    owner: JsonObject, names: Iterable[str], *known: Callable[[str], JsonObject | None]
) -> dict[str, JsonObject]:
    """Return the facets of an event's run, job or dataset, with each of `names` from the first of `known` that has it.

    What is known takes precedence over the event, which is a part of it: otherwise the state of a backend would flap
    between what a run's events state. Tombstones are left out: Marquez answers 422 to those of some facets.
    """
    facets = {name: facet for name, facet in (owner.get("facets") or {}).items() if facet.get("_deleted") is not True}
    for name in names:
        value = next((facet for source in known if (facet := source(name)) is not None), None)
        if value is not None:
            facets[name] = value
    return facets
