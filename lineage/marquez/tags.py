# SPDX-License-Identifier: Apache-2.0
"""Tags of jobs, datasets and columns: those of `tags` facets, without those that requests removed.

Requests are one producer of the standard facet among others. It cannot state that another producer's tag is removed;
that is a facet of the service's own.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from lineage.events import JsonObject
from lineage.events.own_facets import REMOVED_TAGS_FACET
from lineage.graph.dataset_record import DatasetRecord
from lineage.graph.descriptive_facets import DescriptiveFacets

PRODUCER = "urn:lineage-lab:marquez-api"
"""Producer of the events that writes of Marquez's API become."""

_VALUE = "true"
"""Value of a tag that a request added; the standard requires one, and Marquez's API has none."""


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

    def added_rows(self) -> list[JsonObject]:
        """Return the rows of the `tags` facet that states the added tags."""
        return [{**_tag_json(tag), "value": _VALUE, "source": "USER"} for tag in sorted(self.added)]

    def removed_rows(self) -> list[JsonObject]:
        """Return the rows of the facet that states the removed tags."""
        return [*map(_tag_json, sorted(self.removed))]


def requested_tags(facets: DescriptiveFacets) -> RequestedTags:
    """Return the tags that the requests about a node added and removed."""
    stated = (register.value for register in facets.producer_registers("tags"))
    added = next((value.get("tags") for value in stated if value.get("_producer") == PRODUCER), None)
    return RequestedTags(frozenset(_tags(added)), frozenset(_removed(facets.get(REMOVED_TAGS_FACET))))


def tags_of_facets(facets: Mapping[str, JsonObject]) -> set[Tag]:
    """Return the tags of a job or dataset and of its columns."""
    return _current(facets.get("tags"), facets.get(REMOVED_TAGS_FACET))


def tags_of_dataset(record: DatasetRecord) -> set[Tag]:
    """Return the tags of a dataset and its columns, whether writers or readers state them."""
    return _current(record.facet("tags"), record.facet(REMOVED_TAGS_FACET))


def _current(stated: JsonObject | None, removed: JsonObject | None) -> set[Tag]:
    return set(_tags((stated or {}).get("tags"))) - set(_removed(removed))


def _removed(facet: JsonObject | None) -> Iterator[Tag]:
    return _tags((facet or {}).get("tags"))


def _tags(rows: object) -> Iterator[Tag]:
    for row in rows if isinstance(rows, list) else ():
        key, field = (row.get("key"), row.get("field") or "") if isinstance(row, dict) else (None, "")
        if isinstance(key, str) and isinstance(field, str):
            yield Tag(key, field)


def _tag_json(tag: Tag) -> JsonObject:
    return {"key": tag.key, "field": tag.field} if tag.field else {"key": tag.key}
