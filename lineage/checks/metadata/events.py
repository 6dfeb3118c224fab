# SPDX-License-Identifier: Apache-2.0
"""Metadata as OpenLineage events: a dataset or job event for each node, of a producer of their own."""

from collections.abc import Sequence

from lineage.checks.metadata.model import Described, Metadata
from lineage.events import DatasetId, JsonObject, identity_json
from lineage.events.own_facets import COLUMN_DESCRIPTIONS_FACET, own_facet_schema
from lineage.events.standard_facets import event_schema, standard_facet

PRODUCER = "urn:lineage-lab:metadata"
"""Producer of the events: its facets replace those of the last file, and no others."""


def metadata_events(metadata: Metadata, at: str) -> list[JsonObject]:
    """Return one event for each dataset and job of a metadata file.

    What the file does not say about a node that it names, is deleted if an earlier file said it.

    Args:
        metadata: the file.
        at: time of the events (RFC 3339).
    """
    return [_event(found, at) for found in metadata.described]


def _event(found: Described, at: str) -> JsonObject:
    kind = "Dataset" if isinstance(found.node, DatasetId) else "Job"
    owners = [{"name": owner.name, "type": owner.type} for owner in found.owners]
    tags = [
        {"key": tag.key, "value": tag.value, "source": "METADATA", **({"field": tag.field} if tag.field else {})}
        for tag in found.tags
    ]
    facets = {
        "documentation": _facet(f"Documentation{kind}Facet", not found.description, description=found.description),
        "ownership": _facet(f"Ownership{kind}Facet", not owners, owners=owners),
        "tags": _facet(f"Tags{kind}Facet", not tags, tags=tags),
    }
    if isinstance(found.node, DatasetId):
        facets[COLUMN_DESCRIPTIONS_FACET] = _column_descriptions(found.columns)
    return {
        "eventTime": at,
        "producer": PRODUCER,
        "schemaURL": event_schema(f"{kind}Event"),
        kind.lower(): {**identity_json(found.node), "facets": facets},
    }


def _column_descriptions(columns: Sequence[tuple[str, str]]) -> JsonObject:
    return {
        "_producer": PRODUCER,
        "_schemaURL": own_facet_schema(COLUMN_DESCRIPTIONS_FACET),
        "fields": [{"name": name, "description": text} for name, text in columns],
        **({} if columns else {"_deleted": True}),
    }


def _facet(definition: str, is_empty: bool, **content: object) -> JsonObject:
    """Return a facet; an empty one is a tombstone, which has the keys that the standard requires."""
    return standard_facet(PRODUCER, definition, **content, **({"_deleted": True} if is_empty else {}))
