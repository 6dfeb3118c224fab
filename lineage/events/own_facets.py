# SPDX-License-Identifier: Apache-2.0
"""Facets of the service's own events, which express what no facet of the standard does.

Their JSON schemas are in `own_facets.json`. Namespaces, sources and tags are no entities of the standard: dataset
events of `CATALOG_NAMESPACE` describe them, and create no dataset.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from lineage.events.event import Event
from lineage.events.ids import DatasetId, JsonObject

SCHEMA_ID = "urn:lineage-lab:facets:1-0-0"
PRODUCER = "urn:lineage-lab:service"
"""Producer of facets that this service adds."""

CATALOG_NAMESPACE = "urn:lineage-lab:catalog"
CATALOG_FACET = "lineageLab_catalog"
DELETED_FACET = "lineageLab_deleted"
"""Facet of a job: the job is deleted until its next event."""

REMOVED_TAGS_FACET = "lineageLab_removedTags"
"""Facet of a job or dataset: the tags that requests removed, whichever producer states them."""

DATASET_FACET = "lineageLab_dataset"
"""Facet of a dataset: type, physical name, source and schema location as Marquez's API states them."""

REFUSED_FACET = "lineageLab_refused"
"""Facet of a run: its terminal event was refused, and the event with this facet stored in its place."""

COLUMN_DESCRIPTIONS_FACET = "lineageLab_columnDescriptions"
"""Facet of a dataset: descriptions of its columns by somebody who does not state the schema."""

_SCHEMAS = {
    CATALOG_FACET: "LineageLabCatalogDatasetFacet",
    DELETED_FACET: "LineageLabDeletedJobFacet",
    REMOVED_TAGS_FACET: "LineageLabRemovedTagsFacet",
    DATASET_FACET: "LineageLabDatasetFacet",
    REFUSED_FACET: "LineageLabRefusedRunFacet",
    COLUMN_DESCRIPTIONS_FACET: "LineageLabColumnDescriptionsDatasetFacet",
}


class EntryKind(StrEnum):
    """Kind of a catalog entry."""

    NAMESPACE = "NAMESPACE"
    SOURCE = "SOURCE"
    TAG = "TAG"
    TABLE = "TABLE"
    """Table of an Iceberg catalog: where it lies, by the catalog's answer."""


class CatalogKey(NamedTuple):
    """Identity of a catalog entry."""

    kind: EntryKind
    name: str


class CatalogStatement(NamedTuple):
    """Content of a catalog entry that one event states; `deleted` if the event deletes the entry."""

    key: CatalogKey
    content: JsonObject
    deleted: bool


class TableLocation(NamedTuple):
    """Dataset that is a table's location, by the name of the table."""

    table: DatasetId
    location: DatasetId


def table_location(statement: CatalogStatement) -> TableLocation | None:
    """Return the location that an entry of a table states; None if a part of it is missing."""
    keys = ("tableNamespace", "locationNamespace", "locationName")
    namespace, location_namespace, location_name = (statement.content.get(key) for key in keys)
    if not namespace or not location_namespace or not location_name:
        return None
    return TableLocation(DatasetId(namespace, statement.key.name), DatasetId(location_namespace, location_name))


def location_content(table: DatasetId, location: DatasetId) -> JsonObject:
    """Return the content of an entry that states the location of a table."""
    return {
        "tableNamespace": table.namespace,
        "locationNamespace": location.namespace,
        "locationName": location.name,
    }


def column_descriptions(facet: Mapping[str, Any]) -> dict[str, str]:
    """Return column -> description of a facet `COLUMN_DESCRIPTIONS_FACET`, whose content any emitter can have sent."""
    rows = facet.get("fields")
    found = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    texts = ((row.get("name"), row.get("description")) for row in found)
    return {name: text for name, text in texts if isinstance(name, str) and isinstance(text, str) and text}


def own_facet_schema(name: str) -> str:
    """Return the schema URL of one of these facets."""
    return f"{SCHEMA_ID}#/$defs/{_SCHEMAS[name]}"


def catalog_statement(event: Event) -> CatalogStatement | None:
    """Return the catalog entry that an event describes; None for every other event."""
    if event.dataset is None or event.dataset.namespace != CATALOG_NAMESPACE:
        return None
    facet = (event.body["dataset"].get("facets") or {}).get(CATALOG_FACET) or {}
    kind, name = facet.get("kind"), facet.get("name")
    if kind not in frozenset(EntryKind) or not isinstance(name, str) or not name:
        return None
    content = {key: value for key, value in facet.items() if not key.startswith("_") and isinstance(value, str)}
    return CatalogStatement(CatalogKey(EntryKind(kind), name), content, facet.get("deleted") is True)


def is_internal(event: Event) -> bool:
    """Return whether other services have no use for an event: it describes a catalog entry, or deletes a job."""
    if event.job is not None and event.run is None:
        return DELETED_FACET in (event.body["job"].get("facets") or {})
    return catalog_statement(event) is not None
