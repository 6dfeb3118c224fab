# SPDX-License-Identifier: Apache-2.0
"""columnLineage facets for Marquez: built from edges, with deprecated keys, under schemas that contain the columns.

Marquez silently drops a column edge if the schema in the event lacks the column, and it stores only those
transformation keys that version 1-1-0 of the facet has deprecated.
"""

from collections.abc import Iterable

from lineage.events import DatasetId, JsonObject
from lineage.forward.facets import service_facet
from lineage.graph import ColumnEdge

MAX_TYPE = 255
"""Characters of a transformationType in Marquez's database; it rejects an event with a longer one."""

Columns = dict[DatasetId, dict[str, None]]
"""Names of columns by dataset, each once, in the order of mention."""


def facet_of_edges(edges: Iterable[ColumnEdge]) -> JsonObject:
    """Return the columnLineage facet of one output from its edges."""
    fields: dict[str, dict[tuple[DatasetId, str], list[JsonObject]]] = {}
    whole: dict[tuple[DatasetId, str], list[JsonObject]] = {}
    for edge in sorted(edges, key=lambda edge: tuple(map(str, edge))):
        target = whole if edge.field is None else fields.setdefault(edge.field, {})
        known = target.setdefault((edge.source, edge.source_field), [])
        if edge.type is not None:
            known.append(_transformation_of_edge(edge))
    content: JsonObject = {"fields": {name: {"inputFields": _input_fields(found)} for name, found in fields.items()}}
    if whole:
        content["dataset"] = _input_fields(whole)
    return service_facet("columnLineage", content)


def with_deprecated_keys(facet: JsonObject) -> JsonObject:
    """Return the facet with inputFields, transformationType and transformationDescription in every column."""
    return {
        **facet,
        "fields": {name: _column_with_deprecated_keys(field) for name, field in (facet.get("fields") or {}).items()},
    }


def add_columns(columns: Columns, output: DatasetId, facet: JsonObject) -> None:
    """Collect the columns that the facet of an output names, on either side."""
    for name, field in facet["fields"].items():
        columns.setdefault(output, {})[name] = None
        for source in field["inputFields"]:
            columns.setdefault(DatasetId(source["namespace"], source["name"]), {})[source["field"]] = None


def with_columns(schema: JsonObject | None, names: Iterable[str]) -> JsonObject:
    """Return the schema facet with missing named columns added; one of these columns alone if there is none."""
    fields = (schema or {}).get("fields") or []
    held = {field["name"] for field in fields}
    missing = [{"name": name} for name in names if name not in held]
    return {**(schema or service_facet("schema", {})), "fields": [*fields, *missing]}


def _column_with_deprecated_keys(field: JsonObject) -> JsonObject:
    sources = field.get("inputFields") or []
    completed = {**field, "inputFields": sources}
    said = [transformation for source in sources for transformation in source.get("transformations") or ()]
    # INDIRECT transformations count only where no DIRECT one is stated.
    kinds = [one for one in said if one["type"] == "DIRECT"] or said
    if kinds:
        completed.setdefault("transformationType", _deprecated_type(kinds))
        completed.setdefault("transformationDescription", _deprecated_description(said))
    return completed


def _deprecated_type(kinds: list[JsonObject]) -> str:
    if all(kind.get("masking") is True for kind in kinds):
        return "MASKED"
    return ", ".join(sorted({kind.get("subtype") or kind["type"] for kind in kinds}))[:MAX_TYPE]


def _deprecated_description(said: list[JsonObject]) -> str:
    """Return the emitter's descriptions, or else the types of the transformations."""
    words = {one.get("description") or " ".join(filter(None, (one["type"], one.get("subtype")))) for one in said}
    return "; ".join(sorted(words))


def _transformation_of_edge(edge: ColumnEdge) -> JsonObject:
    found: JsonObject = {"type": edge.type, "masking": edge.masking}
    return found if edge.subtype is None else {**found, "subtype": edge.subtype}


def _input_fields(found: dict[tuple[DatasetId, str], list[JsonObject]]) -> list[JsonObject]:
    return [
        {"namespace": source.namespace, "name": source.name, "field": field}
        | ({"transformations": transformations} if transformations else {})
        for (source, field), transformations in found.items()
    ]
