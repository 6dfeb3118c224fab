# SPDX-License-Identifier: Apache-2.0
"""Rows of impact and origin as JSON."""

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import TypeVar

from lineage.events.ids import DatasetId, JobId, JsonObject, identity_json
from lineage.events.strict_json import canonical_json
from lineage.graph.adjacency import Column
from lineage.graph.traversal import ReachedDataset, ReachedNode, Step, TraversalResult

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def reach_json(start: Column, found: TraversalResult) -> JsonObject:
    """Return all that was reached, sorted; the shape of `/api/v1/impact`."""
    return {
        "start": column_json(start),
        "columns": _rows(found.columns, reached_column_json, lambda how: how),
        "datasets": _rows(found.datasets, reached_dataset_json, lambda reached: reached.how),
        "jobs": _rows(found.jobs, reached_job_json, lambda how: how),
    }


def reached_column_json(column: Column, how: ReachedNode) -> JsonObject:
    """Return the row of a column without its edges."""
    return column_json(column) | _reach_json(how)


def reached_dataset_json(dataset: DatasetId, reached: ReachedDataset) -> JsonObject:
    """Return the row of a dataset without its edges."""
    return identity_json(dataset) | _reach_json(reached.how) | {"whole": reached.whole}


def reached_job_json(job: JobId, how: ReachedNode) -> JsonObject:
    """Return the row of a job without its edges."""
    return identity_json(job) | _reach_json(how)


def step_json(step: Step) -> JsonObject:
    """Return one edge of a row."""
    return {
        "job": identity_json(step.job),
        "input": column_json(step.source),
        "output": column_json(step.output),
        "type": step.type,
        "subtype": step.subtype,
        "masking": step.masking,
    }


def column_json(column: Column) -> JsonObject:
    """Return the identity of a column, or of a dataset as a whole."""
    return identity_json(column.dataset) | ({} if column.field is None else {"field": column.field})


def _reach_json(how: ReachedNode) -> JsonObject:
    return {"distance": how.distance, "certain": how.certain, "edges": []}


def _rows(
    found: Mapping[_Key, _Value], row: Callable[[_Key, _Value], JsonObject], how: Callable[[_Value], ReachedNode]
) -> list[JsonObject]:
    items = sorted(found.items(), key=itemgetter(0))
    return [
        row(key, value) | {"edges": sorted(map(step_json, how(value).steps), key=canonical_json)}
        for key, value in items
    ]
