# SPDX-License-Identifier: Apache-2.0
"""Namespaces, sources and tags in Marquez's shapes."""

from lineage.events import JsonObject
from lineage.events.own_facets import CatalogKey, EntryKind
from lineage.events.timestamps import format_time
from lineage.graph import LineageRecords
from lineage.graph.mergeable import Span

_OWNER = "anonymous"
"""Owner of a namespace that no request has described; Marquez's default."""


def namespace_json(lineage: LineageRecords, name: str) -> JsonObject:
    """Render an existing namespace."""
    described = lineage.catalog.content(EntryKind.NAMESPACE, name)
    return {
        "name": name,
        **span_times(lineage.namespaces[name]),
        "ownerName": described.get("ownerName", _OWNER),
        "description": described.get("description"),
        "isHidden": is_hidden_namespace(lineage, name),
    }


def is_hidden_namespace(lineage: LineageRecords, name: str) -> bool:
    """Return whether an existing namespace was deleted and no event names it since."""
    return lineage.catalog.is_deleted_with_namespace(name, lineage.namespaces[name].last)


def source_json(lineage: LineageRecords, name: str) -> JsonObject:
    """Render a source: a namespace of datasets (`kafka://host:port`, `s3://bucket`), or one that a request made."""
    entry = lineage.catalog.get(CatalogKey(EntryKind.SOURCE, name))
    described = entry.content if entry else {}
    return {
        "type": described.get("type", name.partition("://")[0].upper() if "://" in name else ""),
        "name": name,
        **span_times(entry.span if entry else lineage.namespaces[name]),
        "connectionUrl": described.get("connectionUrl", name),
        "description": described.get("description"),
    }


def names_of_kind(lineage: LineageRecords, kind: EntryKind) -> set[str]:
    """Return the names of all catalog entries of one kind."""
    return {key.name for key in lineage.catalog if key.kind is kind}


def tag_json(lineage: LineageRecords, name: str) -> JsonObject:
    """Render a tag."""
    return {"name": name, "description": lineage.catalog.content(EntryKind.TAG, name).get("description")}


def span_times(span: Span) -> JsonObject:
    """Return times of first and last event."""
    return {"createdAt": format_time(span.first.time), "updatedAt": format_time(span.last.time)}
