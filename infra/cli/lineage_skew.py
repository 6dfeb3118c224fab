# SPDX-License-Identifier: Apache-2.0
"""`lab lineage skew`: columns in which one value has a large share of the rows, from the last profile of each table."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from infra.cli.lineage_client import GRAPH_PATH, dataset_path, find_node, get_json
from infra.errors import LabError
from lineage.checks.node_lookup import Node

PROFILE = "profile."
"""Beginning of the names of jobs that profile a table."""

METRICS, SHARES = "dataQualityMetrics", "lineageLab_keyShares"

UNEVEN = 2.0
"""Least ratio of a share to that of evenly distributed values: half of the rows is no skew if there are two values."""

NULL = "null"


@dataclass(frozen=True)
class Skew:
    """Value with a large share of a column's rows; `value` is None if the profile does not name it."""

    dataset: str
    column: str
    value: str | None
    share: float
    rows: int
    distinct: int | None


def skewed(service: str, name: str | None, share: float) -> list[Skew]:
    """Return the skewed columns of a dataset, or of all that were profiled, largest share first.

    Raises:
        LabError: the dataset is unknown or was never profiled, or the service does not respond.
    """
    datasets = [find_node(service, name)] if name else _profiled(get_json(service, GRAPH_PATH))
    found: list[Skew] = []
    for dataset in datasets:
        facets = get_json(service, dataset_path(dataset.namespace, dataset.name))["facets"]
        if SHARES in facets:
            found += columns_of(str(dataset), facets, share)
        elif name:
            raise LabError(f"{dataset} was not profiled; run: bin/lab profile TABLE")
    return sorted(found, key=lambda skew: (-skew.share, skew.dataset, skew.column))


def columns_of(dataset: str, facets: Mapping[str, Any], share: float) -> Iterator[Skew]:
    """Yield the skewed columns of a profile, nulls included. A column without any value is not skewed."""
    metrics = facets.get(METRICS) or {}
    rows, columns = metrics.get("rowCount") or 0, metrics.get("columnMetrics") or {}
    shares = facets[SHARES].get("columns") or {}
    for name, counted in columns.items():
        distinct = counted.get("distinctCount")
        nulls = counted.get("nullCount") or 0
        if name in shares:
            top = shares[name]
            if top["share"] >= share and (distinct is None or top["share"] * distinct >= UNEVEN):
                yield Skew(dataset, name, top.get("value"), top["share"], top["rows"], distinct)
        if rows and share <= nulls / rows < 1:
            yield Skew(dataset, name, NULL, nulls / rows, nulls, distinct)


def skew_text(found: list[Skew]) -> str:
    """Return one line for each column."""
    lines = [
        f"{100 * each.share:5.1f} %  {each.dataset}#{each.column} = "
        f"{'(not named)' if each.value is None else each.value}  ({each.rows} rows; "
        f"{'many' if each.distinct is None else each.distinct} distinct values)\n"
        for each in found
    ]
    return "".join(lines) or "no column is skewed\n"


def skew_json(found: list[Skew]) -> dict[str, Any]:
    """Return `{"skew": [{"dataset", "column", "value", "share", "rows", "distinct"}]}`."""
    return {"skew": [asdict(each) for each in found]}


def _profiled(graph: Mapping[str, Any]) -> list[Node]:
    edges = (edge for edge in graph["edges"] if edge["job"]["name"].startswith(PROFILE))
    return sorted({Node(edge["dataset"]["namespace"], edge["dataset"]["name"]) for edge in edges})
