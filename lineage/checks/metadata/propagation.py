# SPDX-License-Identifier: Apache-2.0
"""Tags that follow column edges downstream."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from lineage.events import DatasetId, JobId


class TaggedColumn(NamedTuple):
    """Column that an event tags."""

    dataset: DatasetId
    field: str
    tag: str


class CarriedTag(NamedTuple):
    """Tag that a column has because of another one.

    Attributes:
        dataset, field: the column.
        tag: key of the tag.
        origin: the column that an event tags.
        distance: jobs between the two.
        aggregated: True if each path aggregates values, such as a sum: single values cannot be read from the column.
        job: the last job on the shortest path.
    """

    dataset: DatasetId
    field: str
    tag: str
    origin: TaggedColumn
    distance: int
    aggregated: bool
    job: JobId


class _Edge(NamedTuple):
    dataset: DatasetId
    field: str
    aggregates: bool
    job: JobId


_Column = tuple[DatasetId, str]


def carried_tags(tagged: Iterable[TaggedColumn], edges: Iterable[Mapping[str, Any]]) -> list[CarriedTag]:
    """Return the tags that columns get from others, by column, tag and origin.

    A tag follows edges that carry values: DIRECT ones, or those without a type. It ends where values are masked, and at
    INDIRECT edges: a filter or join key decides on rows and is not read from them. An aggregation weakens it.

    Args:
        tagged: columns with tags of their own.
        edges: column edges of a graph export (`columns`).
    """
    below: dict[_Column, list[_Edge]] = defaultdict(list)
    for row in edges:
        if row["type"] == "INDIRECT" or row["masking"]:
            continue
        source, output, job = row["input"], row["output"], row["job"]
        if "field" in source and "field" in output:
            target = DatasetId(output["namespace"], output["name"])
            edge = _Edge(target, output["field"], row["subtype"] == "AGGREGATION", JobId(job["namespace"], job["name"]))
            below[DatasetId(source["namespace"], source["name"]), source["field"]].append(edge)
    found = [carried for origin in sorted(set(tagged)) for carried in _carried_from(origin, below)]
    return sorted(found, key=lambda each: (each.dataset, each.field, each.tag, each.origin))


def tagged_columns(summaries: Mapping[str, Any], tag: str | None = None) -> list[TaggedColumn]:
    """Return the columns that events tag, sorted; only with one tag if it is given, in upper or lower case.

    Args:
        summaries: response of `/api/v1/summaries`.
        tag: key of a tag.
    """
    return sorted(
        TaggedColumn(DatasetId(row["namespace"], row["name"]), column, key)
        for row in summaries["datasets"]
        for column, keys in row["columnTags"].items()
        for key in keys
        if tag is None or key.lower() == tag.lower()
    )


def with_carried_tags(summaries: Mapping[str, Any], edges: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return summaries whose columns also have the tags that they get from others."""
    more: dict[DatasetId, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for each in carried_tags(tagged_columns(summaries), edges):
        more[each.dataset][each.field].add(each.tag)

    def tags(row: Mapping[str, Any]) -> dict[str, list[str]]:
        own, added = row["columnTags"], more.get(DatasetId(row["namespace"], row["name"]), {})
        return {column: sorted({*own.get(column, ()), *added.get(column, ())}) for column in {**own, **added}}

    return {**summaries, "datasets": [{**row, "columnTags": tags(row)} for row in summaries["datasets"]]}


def _carried_from(origin: TaggedColumn, below: Mapping[_Column, list[_Edge]]) -> list[CarriedTag]:
    """Follow one tag breadth first; a column is visited again if a longer path reaches it without aggregation."""
    start = (origin.dataset, origin.field)
    reached: dict[_Column, CarriedTag] = {}
    pending: list[tuple[_Column, int, bool]] = [(start, 0, False)]
    for column, distance, aggregated in pending:
        for edge in below.get(column, ()):
            target, weak = (edge.dataset, edge.field), aggregated or edge.aggregates
            known = reached.get(target)
            if target == start or (known is not None and (weak or not known.aggregated)):
                continue
            reached[target] = CarriedTag(*target, origin.tag, origin, distance + 1, weak, edge.job)
            pending.append((target, distance + 1, weak))
    return list(reached.values())
