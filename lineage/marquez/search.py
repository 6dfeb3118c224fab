# SPDX-License-Identifier: Apache-2.0
"""Search by part of a name."""

from collections.abc import Iterator
from typing import NamedTuple

from lineage.events import DatasetId, JobId, JsonObject
from lineage.events.timestamps import format_time
from lineage.graph import LineageRecords
from lineage.graph.record_types import Span
from lineage.marquez.index import Index
from lineage.marquez.node_ids import node_id

_SLICE = 1000
"""Names found, or buckets searched, between two yields."""

_SPARE = 5000
"""Surplus hits kept before the worst are dropped."""


class Query(NamedTuple):
    """Search query: `text` is case-insensitive; `kind` is JOB, DATASET or None for both.

    `after` (inclusive) and `before` (exclusive) bound the time (ns) of the last event, which `by_update` sorts by,
    latest first; else names do.
    """

    text: str
    kind: str | None = None
    namespace: str | None = None
    after: int | None = None
    before: int | None = None
    by_update: bool = False
    limit: int = 10


class _Hit(NamedTuple):
    node: JobId | DatasetId
    span: Span


def search(lineage: LineageRecords, text: str, kind: str | None, by_update: bool, limit: int) -> JsonObject:
    """Search without yielding."""
    index = Index(lineage)
    found = Search(index, Query(text, kind, by_update=by_update, limit=limit))
    for work in (index.steps(), found.steps()):
        for _ in work:
            pass
    return found.result()


class Search:
    """Cooperative search: many names do not block the event loop."""

    def __init__(self, index: Index, query: Query) -> None:
        self._index = index
        self._query = query
        self._best: list[_Hit] = []
        self._total = 0
        self._look_at_all = query.by_update or query.after is not None or query.before is not None

    def steps(self) -> Iterator[None]:
        """Run the search on an updated index; yields after each slice."""
        done = 0
        for identity, namespace, names in self._parts():
            # Names of a part are sorted: where they are all that counts, no more than the first can be wanted.
            looked_at = names if self._look_at_all else names[: self._query.limit]
            hits = [hit for name in looked_at if self._fits(hit := self._hit(identity(namespace, name)))]
            self._total += len(hits) if self._look_at_all else len(names)
            done += 1 + len(names)
            self._best += hits
            if len(self._best) > self._query.limit + _SPARE:
                self._drop()
            if done >= _SLICE:
                done = 0
                yield

    def result(self) -> JsonObject:
        """Return the best hits and the total number."""
        self._drop()
        return {"totalCount": self._total, "results": [_result(hit) for hit in self._best]}

    def _parts(self) -> Iterator[tuple[type[JobId] | type[DatasetId], str, list[str]]]:
        wanted, kind = self._query.text.lower(), self._query.kind
        if kind in (None, "JOB"):
            for namespace, names in self._index.jobs.holding(wanted, self._query.namespace):
                yield JobId, namespace, names
        if kind in (None, "DATASET"):
            for namespace, names in self._index.datasets.holding(wanted, self._query.namespace):
                yield DatasetId, namespace, names

    def _hit(self, node: JobId | DatasetId) -> _Hit:
        lineage = self._index.lineage
        return _Hit(node, (lineage.jobs[node] if isinstance(node, JobId) else lineage.datasets[node]).span)

    def _fits(self, hit: _Hit) -> bool:
        after, before, time = self._query.after, self._query.before, hit.span.last.time
        return (after is None or time >= after) and (before is None or time < before)

    def _drop(self) -> None:
        self._best.sort(key=_by_update if self._query.by_update else _by_name, reverse=self._query.by_update)
        del self._best[self._query.limit :]


def _by_name(hit: _Hit) -> tuple[str, str]:
    return hit.node.name, hit.node.namespace


def _by_update(hit: _Hit) -> tuple[int, bytes]:
    return hit.span.last


def _result(hit: _Hit) -> JsonObject:
    return {
        "type": "JOB" if isinstance(hit.node, JobId) else "DATASET",
        "name": hit.node.name,
        "updatedAt": format_time(hit.span.last.time),
        "namespace": hit.node.namespace,
        "nodeId": node_id(hit.node),
    }
