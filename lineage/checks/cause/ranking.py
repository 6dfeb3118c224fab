# SPDX-License-Identifier: Apache-2.0
"""Ranking of changes: which of them explains a wrong number best."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from lineage.checks.cause.change import SYMPTOMS, Change, ChangeKind
from lineage.checks.cause.detection import detect
from lineage.checks.cause.facts import facts_of
from lineage.checks.cause.flow import Flow
from lineage.checks.cause.upstream import Upstream
from lineage.events import DatasetId, JobId

BLAME = 0.3
"""Score from which a change counts as the cause. Below it are changes without a path to the number."""

_SCORES = {
    ChangeKind.SCHEMA: 0.95,
    ChangeKind.DEFINITION: 0.9,
    ChangeKind.EDGES: 0.9,
    ChangeKind.FAILURE: 0.8,
    ChangeKind.MISSING_RUN: 0.6,
    ChangeKind.VOLUME: 0.5,
    ChangeKind.QUALITY: 0.5,
    ChangeKind.TAGS: 0.15,
}
"""Score of a change on the column path, by kind."""

_ADDED_COLUMN = 0.8
"""Factor for a column that was added to a dataset on the path: values may have moved to it."""

_OTHER_COLUMN = 0.2
"""Factor for a change of columns that do not contribute to the number."""

_ROW_COLUMN = 0.35
"""Factor for a change of columns that only decide on the rows: possible, but behind all that is on the path."""

_ROWS_ONLY = 0.7
"""Factor for a dataset that only decides on the rows, as by a join or a filter."""

_SYMPTOM = 0.6
"""Factor for a symptom of which another change is the likely cause."""


@dataclass(frozen=True)
class Cause:
    """A change, rated.

    Attributes:
        change: the change where it is farthest upstream.
        score: 0 to 1; from `BLAME` on it explains the number.
        distance: jobs between the change and the number.
        carried: datasets that the same change reached later, nearest to its origin first.
        explains: symptoms downstream of it.
    """

    change: Change
    score: float
    distance: int
    carried: tuple[DatasetId | JobId, ...] = ()
    explains: tuple[Change, ...] = ()


@dataclass(frozen=True)
class Finding:
    """Result of a search.

    Attributes:
        upstream: what the number is derived from.
        since, until: ns since 1970.
        causes: all changes, best explanation first.
        events: number of events that were examined.
    """

    upstream: Upstream
    since: int
    until: int
    causes: tuple[Cause, ...]
    events: int

    @property
    def cause(self) -> Cause | None:
        """The best explanation; None if no change explains the number: then the data themselves changed."""
        return self.causes[0] if self.causes and self.causes[0].score >= BLAME else None


def find_cause(
    origins: Sequence[Mapping[str, Any]], events: Iterable[Mapping[str, Any]], since: int, until: int
) -> Finding:
    """Return what changed upstream of a dataset or column between two times, best explanation first.

    Args:
        origins: responses of `/api/v1/origin` for the dataset or column, at one time or several.
        events: run events with canonical names, in any order. Those before `since` are the baseline.
        since, until: ns since 1970; the number was right at `since`.

    Raises:
        KeyError, ValueError: a response or an event is not valid.
    """
    facts = [facts_of(event) for event in events]
    upstream = reduce(Upstream.merged, map(Upstream.of_origin, origins)).path(facts)
    changes, flow = detect(facts, upstream, since, until), Flow(facts)
    causes = _without_explained(_merged(changes, upstream, flow), flow)
    return Finding(upstream, since, until, tuple(causes), len(facts))


def _merged(changes: Sequence[Change], upstream: Upstream, flow: Flow) -> list[Cause]:
    """Return rated changes. Equal changes of several datasets are one, at the dataset that is farthest upstream."""
    groups: dict[tuple[object, ...], list[Change]] = {}
    for change in changes:
        # A column of the same name beside the path is another one.
        place = _score(change, upstream) >= BLAME if change.kind is ChangeKind.SCHEMA else change.node
        key = (*change.signature, place)
        groups.setdefault(key, []).append(change)
    causes = []
    for group in groups.values():
        members = {change.node for change in group}
        above = {node: sum(flow.is_upstream(other, node) for other in members) for node in members}
        group.sort(key=lambda change: (above[change.node], -_distance(change, upstream), change.at))
        first = group[0]
        score = max(_score(change, upstream) for change in group)
        others = dict.fromkeys(change.node for change in group if change.node != first.node)
        causes.append(Cause(first, score, _distance(first, upstream), tuple(others)))
    return causes


def _without_explained(causes: Sequence[Cause], flow: Flow) -> list[Cause]:
    """Rate symptoms lower that a change or a symptom upstream of them explains. Sort by score."""
    rated = []
    roots = [cause for cause in causes if cause.change.kind not in SYMPTOMS and cause.score >= BLAME]
    symptoms = [cause for cause in causes if cause.change.kind in SYMPTOMS]
    for cause in causes:
        if cause.change.kind in SYMPTOMS:
            explained = any(_explains(root, cause, flow) for root in roots) or any(
                flow.is_upstream(other.change.node, cause.change.node) for other in symptoms
            )
            rated.append(_scaled(cause, _SYMPTOM) if explained else cause)
        else:
            found = tuple(symptom.change for symptom in symptoms if _explains(cause, symptom, flow))
            rated.append(Cause(cause.change, cause.score, cause.distance, cause.carried, found))
    return sorted(rated, key=lambda cause: (-cause.score, -cause.distance, cause.change.at))


def _explains(root: Cause, symptom: Cause, flow: Flow) -> bool:
    """Return True if a change precedes a symptom in time, and is upstream of it or of what its job reads and writes."""
    one, other = root.change, symptom.change
    upstream = one.node == other.node or flow.is_upstream(one.node, other.node) or one.job == other.job
    return upstream and one.at <= other.at


def _scaled(cause: Cause, factor: float) -> Cause:
    return Cause(cause.change, cause.score * factor, cause.distance, cause.carried, cause.explains)


def _distance(change: Change, upstream: Upstream) -> int:
    if change.kind in {ChangeKind.DEFINITION, ChangeKind.FAILURE, ChangeKind.MISSING_RUN, ChangeKind.EDGES}:
        return upstream.jobs.get(change.job, 0)
    assert isinstance(change.node, DatasetId)
    return upstream.datasets.get(change.node, 0)


def _score(change: Change, upstream: Upstream) -> float:
    score = _SCORES[change.kind]
    if not isinstance(change.node, DatasetId):
        return score
    if not upstream.has_column_of(change.node, change.removed) and upstream.decides_on_rows(
        change.node, change.removed
    ):
        return score * _ROW_COLUMN
    if not upstream.contributes(change.node):
        score *= _ROWS_ONLY
    match change.kind:
        case ChangeKind.SCHEMA:
            if upstream.has_column_of(change.node, change.removed):
                return score
            return score * (_ADDED_COLUMN if change.added else _OTHER_COLUMN)
        case ChangeKind.EDGES:
            affected = "" in change.removed or upstream.has_column_of(change.node, change.removed)
            return score if affected else score * _OTHER_COLUMN
        case ChangeKind.QUALITY:
            affected = not change.removed or upstream.has_column_of(change.node, change.removed)
            return score if affected else score * _OTHER_COLUMN
        case _:
            return score
