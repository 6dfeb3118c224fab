# SPDX-License-Identifier: Apache-2.0
"""Facets and events of the OpenLineage standard as this project sends them, with the URLs of their schemas."""

from lineage.events.ids import JsonObject

_SPEC = "https://openlineage.io/spec"
_CORE_VERSION = "2-0-2"
_VERSIONS = {
    "DatasourceDatasetFacet": "1-0-1",
    "DocumentationDatasetFacet": "1-1-0",
    "DocumentationJobFacet": "1-1-0",
    "ExecutionParametersRunFacet": "1-0-0",
    "JobTypeJobFacet": "2-0-4",
    "LifecycleStateChangeDatasetFacet": "1-0-1",
    "NominalTimeRunFacet": "1-0-1",
    "OwnershipDatasetFacet": "1-0-1",
    "OwnershipJobFacet": "1-0-1",
    "SQLJobFacet": "1-1-0",
    "SchemaDatasetFacet": "1-2-0",
    "SourceCodeLocationJobFacet": "1-1-0",
    "TagsDatasetFacet": "1-0-0",
    "TagsJobFacet": "1-0-0",
}


def standard_facet(producer: str, definition: str, **content: object) -> JsonObject:
    """Return a facet of a producer; `definition` is the name of its schema."""
    url = f"{_SPEC}/facets/{_VERSIONS[definition]}/{definition}.json#/$defs/{definition}"
    return {"_producer": producer, "_schemaURL": url, **content}


def event_schema(definition: str) -> str:
    """Return the schema URL of an event: RunEvent, JobEvent or DatasetEvent."""
    return f"{_SPEC}/{_CORE_VERSION}/OpenLineage.json#/$defs/{definition}"
