# SPDX-License-Identifier: Apache-2.0
"""Tags of jobs, datasets and columns: those of `tags` facets, and those that requests added and removed."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from lineage.events import JsonObject
from lineage.events.own_facets import TAGS_FACET


class Tag(NamedTuple):
    """Tag of a job or dataset; `field` is the column, or empty."""

    key: str
    field: str = ""


class RequestedTags(NamedTuple):
    """Tags that requests added to a node, and those that they removed from it."""

    added: frozenset[Tag] = frozenset()
    removed: frozenset[Tag] = frozenset()

    def with_added(self, tags: frozenset[Tag]) -> "RequestedTags":
        """Return the state after tags were added."""
        return RequestedTags(self.added | tags, self.removed - tags)

    def with_removed(self, tag: Tag) -> "RequestedTags":
        """Return the state after one tag was removed."""
        return RequestedTags(self.added - {tag}, self.removed | {tag})

    def content(self) -> JsonObject:
        """Return the content of the facet that stores this state."""
        return {
            "added": [_tag_json(tag) for tag in sorted(self.added)],
            "removed": [*map(_tag_json, sorted(self.removed))],
        }


def requested_tags(facets: Mapping[str, JsonObject]) -> RequestedTags:
    """Return the state that the facets of a node hold."""
    facet = facets.get(TAGS_FACET) or {}
    return RequestedTags(frozenset(_tags(facet.get("added"))), frozenset(_tags(facet.get("removed"))))


def tags_of_facets(facets: Mapping[str, JsonObject]) -> set[Tag]:
    """Return the tags of a job or dataset and of its columns."""
    found = set(_tags((facets.get("tags") or {}).get("tags")))
    if TAGS_FACET not in facets:
        return found
    requested = requested_tags(facets)
    return (found - requested.removed) | requested.added


def _tags(rows: object) -> Iterator[Tag]:
    for row in rows if isinstance(rows, list) else ():
        key, field = (row.get("key"), row.get("field") or "") if isinstance(row, dict) else (None, "")
        if isinstance(key, str) and isinstance(field, str):
            yield Tag(key, field)


def _tag_json(tag: Tag) -> JsonObject:
    return {"key": tag.key, "field": tag.field} if tag.field else {"key": tag.key}
