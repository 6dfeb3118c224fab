# SPDX-License-Identifier: Apache-2.0
"""Search by part of a name."""

from collections.abc import Iterator
from operator import attrgetter
from typing import Any, NamedTuple

from lineage.events import DatasetId, JobId, JsonObject
from lineage.events.timestamps import format_time
from lineage.graph import LineageRecords
from lineage.graph.mergeable import Span
from lineage.graph.records_by_name import READS_PER_PART, RecordsByName
from lineage.marquez.index import Index
from lineage.marquez.node_ids import node_id

_NAMES_PER_SLICE = 1000
"""Names found, or buckets searched, between two yields."""

_SURPLUS_HITS = 5000
"""Surplus hits kept before the worst are dropped."""


class Query(NamedTuple):
    """Search query: `text` is case-insensitive; `kind` is JOB, DATASET or None for both.

    `after` (inclusive) and `before` (exclusive) bound the time (ns) of the last event. `by_update` sorts by that time,
    latest first, instead of by name.
    """

    text: str
    kind: str | None = None
    namespace: str | None = None
    after: int | None = None
    before: int | None = None
    by_update: bool = False
    limit: int = 10


class _SearchHit(NamedTuple):
    node: JobId | DatasetId
    span: Span


_by_name = attrgetter("node.name", "node.namespace")
_by_update = attrgetter("span.last")


def search(lineage: LineageRecords, text: str, kind: str | None, by_update: bool, limit: int) -> JsonObject:
    """Search without yielding."""
    index = Index(lineage)
    found = Search(index, Query(text, kind, by_update=by_update, limit=limit))
    for work in (index.steps(), found.steps()):
        for _ in work:
            pass
    return {"totalCount": found.total, "results": list(found.rows())}


class Search:
    """Cooperative search: many names do not block the event loop."""

    def __init__(self, index: Index, query: Query) -> None:
        self._index = index
        self._query = query
        self._best: list[_SearchHit] = []
        self._total = 0
        self._examine_all = query.by_update or query.after is not None or query.before is not None

    def steps(self) -> Iterator[None]:
        """Run the search on an updated index; yields after each slice."""
        done = reads = 0
        for identity, namespace, names in self._matching_names():
            # Names of a bucket are sorted: when ranked by name, only the first `limit` of them can be results.
            examined = list(names) if self._examine_all else names[: self._query.limit]
            self._total += 0 if self._examine_all else len(names)
            done += 1 + len(names)
            lineage = self._index.lineage
            records: RecordsByName[Any, Any] = lineage.jobs if identity is JobId else lineage.datasets
            for name in examined:
                node = identity(namespace, name)
                reads += records.in_memory(node) is None
                record = records.get(node)
                # It may have been removed since the last slice.
                if record is not None and self._is_in_time_range(hit := _SearchHit(node, record.span)):
                    self._total += self._examine_all
                    self._best.append(hit)
                if reads >= READS_PER_PART:
                    reads = 0
                    yield
            if len(self._best) > self._query.limit + _SURPLUS_HITS:
                self._drop_worst()
            if done >= _NAMES_PER_SLICE:
                done = reads = 0
                yield

    @property
    def total(self) -> int:
        """Return the number of hits."""
        return self._total

    def rows(self) -> Iterator[JsonObject]:
        """Return the best hits, best first."""
        self._drop_worst()
        return map(_result_json, self._best)

    def _matching_names(self) -> Iterator[tuple[type[JobId] | type[DatasetId], str, list[str]]]:
        wanted, kind = self._query.text.lower(), self._query.kind
        if kind in (None, "JOB"):
            for namespace, names in self._index.jobs.containing(wanted, self._query.namespace):
                yield JobId, namespace, names
        if kind in (None, "DATASET"):
            for namespace, names in self._index.datasets.containing(wanted, self._query.namespace):
                yield DatasetId, namespace, names

    def _is_in_time_range(self, hit: _SearchHit) -> bool:
        after, before, time = self._query.after, self._query.before, hit.span.last.time
        return (after is None or time >= after) and (before is None or time < before)

    def _drop_worst(self) -> None:
        self._best.sort(key=_by_update if self._query.by_update else _by_name, reverse=self._query.by_update)
        del self._best[self._query.limit :]


def _result_json(hit: _SearchHit) -> JsonObject:
    return {
        "type": "JOB" if isinstance(hit.node, JobId) else "DATASET",
        "name": hit.node.name,
        "updatedAt": format_time(hit.span.last.time),
        "namespace": hit.node.namespace,
        "nodeId": node_id(hit.node),
    }
