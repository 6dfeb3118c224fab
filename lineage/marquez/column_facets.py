# SPDX-License-Identifier: Apache-2.0
"""Descriptions of transformations, which `columnLineage` facets hold and the graph does not."""

from collections.abc import Iterable

from lineage.events import JsonObject
from lineage.graph.column_edges import ColumnEdge


class Transformations:
    """Types and descriptions of the transformations of one dataset's columns."""

    def __init__(self, facet: JsonObject | None) -> None:
        fields = (facet or {}).get("fields")
        self._fields: JsonObject = fields if isinstance(fields, dict) else {}
        self._described: dict[str, dict[tuple[str, str, str], str]] = {}

    def of_field(self, field: str, edges: Iterable[ColumnEdge]) -> JsonObject:
        """Return type and description of a column: as the facet states them, else the type common to its edges."""
        stated = self._fields.get(field) or {}
        kinds = {_kind(edge) for edge in edges}
        common = kinds.pop() if len(kinds) == 1 else ""
        return _keys(stated.get("transformationDescription"), stated.get("transformationType") or common)

    def of_edge(self, edge: ColumnEdge) -> JsonObject:
        """Return type and description of one dependency."""
        field = edge.field or ""
        described = self._descriptions(field).get((*edge.source, edge.source_field))
        stated = self._fields.get(field) or {}
        return _keys(described or stated.get("transformationDescription"), _kind(edge))

    def _descriptions(self, field: str) -> dict[tuple[str, str, str], str]:
        """Return the description of each source of a column; cached, because a column may have many sources."""
        found = self._described.get(field)
        if found is None:
            found = self._described[field] = {}
            for source in (self._fields.get(field) or {}).get("inputFields") or ():
                steps = source.get("transformations") or ()
                texts = [text for step in steps if isinstance(text := step.get("description"), str) and text]
                if texts:
                    found[source["namespace"], source["name"], source["field"]] = "; ".join(dict.fromkeys(texts))
        return found


def _kind(edge: ColumnEdge) -> str:
    return edge.subtype or edge.type or ""


def _keys(described: object, kind: object) -> JsonObject:
    return {
        "transformationDescription": described if isinstance(described, str) and described else None,
        "transformationType": kind if isinstance(kind, str) and kind else None,
    }
