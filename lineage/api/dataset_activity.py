# SPDX-License-Identifier: Apache-2.0
"""Writes to a dataset and data quality checks, collected from events.

They are read from the log: the graph keeps only the latest statistics of a run, not their course over time.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from lineage.events import DatasetId, JsonObject


def transfers(names: frozenset[DatasetId], events: Iterable[JsonObject], limit: int) -> JsonObject:
    """Return `writes` and `quality` (see `/activity`) of the dataset with these names, at most `limit` each.

    They are in the order of `events`.
    """
    writes: list[JsonObject] = []
    quality: list[JsonObject] = []
    for event in events:
        source = {"job": event["job"]["name"], "run": event["run"]["runId"], "eventTime": event["eventTime"]}
        for output in _entries_of_dataset(names, event.get("outputs")):
            statistics = _facet_or_empty(output, "outputFacets", "outputStatistics")
            if statistics:
                counts = {key: statistics.get(key) for key in ("rowCount", "size", "fileCount")}
                writes.append({**source, **counts})
        for used in (
            *_entries_of_dataset(names, event.get("inputs")),
            *_entries_of_dataset(names, event.get("outputs")),
        ):
            quality += ({**source, **row} for row in _quality_assertions(used))
    return {"writes": writes[:limit], "quality": quality[:limit]}


def _entries_of_dataset(names: frozenset[DatasetId], uses: list[JsonObject] | None) -> Iterator[JsonObject]:
    return (use for use in uses or () if DatasetId(use["namespace"], use["name"]) in names)


def _quality_assertions(use: JsonObject) -> Iterator[JsonObject]:
    for group in ("inputFacets", "outputFacets", "facets"):
        rows = _facet_or_empty(use, group, "dataQualityAssertions").get("assertions")
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, dict):
                yield {key: row.get(key) for key in ("assertion", "column", "success")}


def _facet_or_empty(use: JsonObject, group: str, name: str) -> dict[str, Any]:
    facets = use.get(group)
    found = facets.get(name) if isinstance(facets, dict) else None
    return found if isinstance(found, dict) else {}
