# SPDX-License-Identifier: Apache-2.0
"""Metadata as OpenLineage events: a dataset or job event for each node, of a producer of their own."""

from lineage.checks.metadata.model import Described, Metadata
from lineage.events import DatasetId, JsonObject

PRODUCER = "urn:lineage-lab:metadata"
"""Producer of the events: its facets replace those of the last file, and no others."""

_SPEC = "https://openlineage.io/spec"
_CORE = f"{_SPEC}/2-0-2/OpenLineage.json"
_FACETS = {
    ("dataset", "documentation"): "1-1-0/DocumentationDatasetFacet.json",
    ("dataset", "ownership"): "1-0-1/OwnershipDatasetFacet.json",
    ("dataset", "tags"): "1-0-0/TagsDatasetFacet.json",
    ("job", "documentation"): "1-1-0/DocumentationJobFacet.json",
    ("job", "ownership"): "1-0-1/OwnershipJobFacet.json",
    ("job", "tags"): "1-0-0/TagsJobFacet.json",
}


def metadata_events(metadata: Metadata, at: str) -> list[JsonObject]:
    """Return one event for each dataset and job of a metadata file.

    What the file does not say about a node that it names, is deleted if an earlier file said it.

    Args:
        metadata: the file.
        at: time of the events (RFC 3339).
    """
    return [_event(found, at) for found in metadata.described]


def _event(found: Described, at: str) -> JsonObject:
    kind = "dataset" if isinstance(found.node, DatasetId) else "job"
    owners = [{"name": owner.name, "type": owner.type} for owner in found.owners]
    tags = [
        {"key": tag.key, "value": tag.value, "source": "METADATA", **({"field": tag.field} if tag.field else {})}
        for tag in found.tags
    ]
    facets = {
        "documentation": _facet(kind, "documentation", {"description": found.description}, not found.description),
        "ownership": _facet(kind, "ownership", {"owners": owners}, not owners),
        "tags": _facet(kind, "tags", {"tags": tags}, not tags),
    }
    return {
        "eventTime": at,
        "producer": PRODUCER,
        "schemaURL": f"{_CORE}#/$defs/{kind.capitalize()}Event",
        kind: {"namespace": found.node.namespace, "name": found.node.name, "facets": facets},
    }


def _facet(kind: str, name: str, content: JsonObject, is_empty: bool) -> JsonObject:
    """Return a facet; an empty one is a tombstone, which has the keys that the standard requires."""
    path = _FACETS[kind, name]
    definition = path.partition("/")[2].removesuffix(".json")
    url = f"{_SPEC}/facets/{path}#/$defs/{definition}"
    return {"_producer": PRODUCER, "_schemaURL": url, **content, **({"_deleted": True} if is_empty else {})}
