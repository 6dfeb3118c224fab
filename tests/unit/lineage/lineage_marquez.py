# SPDX-License-Identifier: Apache-2.0
"""Comparison of a contract with the lineage that Marquez's read API returns."""

import json
from collections.abc import Iterable
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import urlopen

from lineage.checks.contract import Contract


def missing_from_marquez(url: str, contract: Contract, features: Iterable[str] = ()) -> list[str]:
    """Return the jobs, edges and column sources of a contract that the Marquez at `url` lacks, one line each.

    Reads edges from `/api/v1/lineage` (the source of its page) and columns from `/api/v1/column-lineage`. Skips columns
    that affect a whole dataset and types of transformations, which Marquez does not store.
    """
    on = frozenset(features)
    missing: list[str] = []
    for job in contract.jobs:
        if not job.requires <= on:
            continue
        node = f"job:{contract.namespace}:{job.name}"
        graph = _graph(url, "lineage", node)
        if node not in graph:
            missing.append(f"job {node}")
            continue
        inputs = {edge["origin"] for edge in graph[node]["inEdges"]}
        outputs = {edge["destination"] for edge in graph[node]["outEdges"]}
        for row in job.inputs:
            if row.requires <= on and _dataset(row.dataset) not in inputs:
                missing.append(f"edge {_dataset(row.dataset)} -> {node}")
        for row in job.outputs:
            if row.requires <= on:
                if _dataset(row.dataset) not in outputs:
                    missing.append(f"edge {node} -> {_dataset(row.dataset)}")
                missing += _missing_columns(url, row)
    return missing


def _missing_columns(url, output):
    wanted = {field: sources for field, sources in (output.columns or {}).items() if sources}
    if not wanted:
        return []
    graph = _graph(url, "column-lineage", _dataset(output.dataset))
    missing = []
    for field, sources in wanted.items():
        node = graph.get(f"datasetField:{output.dataset.namespace}:{output.dataset.name}:{field}")
        found = (node or {}).get("data") or {}
        known = {(one["namespace"], one["dataset"], one["field"]) for one in found.get("inputFields") or ()}
        for source in sources:
            if (source.dataset.namespace, source.dataset.name, source.field) not in known:
                missing.append(f"column {source} -> {output.dataset}#{field}")
    return missing


def _graph(url, kind, node):
    """Return the nodes around a node by id; none if Marquez does not have it."""
    try:
        with urlopen(f"{url}/api/v1/{kind}?nodeId={quote(node, safe='')}&depth=2", timeout=30) as response:
            return {found["id"]: found for found in json.load(response)["graph"]}
    except HTTPError as error:
        error.close()
        if error.code == 404:
            return {}
        raise


def _dataset(dataset):
    return f"dataset:{dataset.namespace}:{dataset.name}"
