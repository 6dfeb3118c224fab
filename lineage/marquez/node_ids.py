# SPDX-License-Identifier: Apache-2.0
"""Marquez's node ids: `dataset:{namespace}:{name}`, `job:...`, `datasetField:{namespace}:{name}:{field}`."""

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple

from lineage.events import DatasetId, JobId
from lineage.graph import Graph, LineageRecords
from lineage.graph.adjacency import Column


class NodeKind(StrEnum):
    """Kind of a node."""

    DATASET = "dataset"
    FIELD = "datasetField"
    JOB = "job"


class NodeRef(NamedTuple):
    """A node that exists in the graph."""

    kind: NodeKind
    job: JobId | None = None
    column: Column | None = None
    """The dataset, with its field where the node is one."""


def node_id(node: DatasetId | JobId | Column) -> str:
    """Return the id of a node; a column must have a field."""
    if isinstance(node, Column):
        return ":".join((NodeKind.FIELD, *node.dataset, node.field or ""))
    kind = NodeKind.JOB if isinstance(node, JobId) else NodeKind.DATASET
    return ":".join((kind, *node))


def find_node(
    lineage: LineageRecords, graph: Graph, text: str, resolve: Callable[[DatasetId], DatasetId] | None = None
) -> NodeRef | None:
    """Return the node of an id, or None; deleted jobs and datasets are not found.

    Namespaces and names contain colons themselves (`dataset:kafka://kafka:9092:orders`), so no pattern can
    split an id unambiguously. The split that names a known node is used. `resolve` maps an alias to its dataset.
    """
    head, _, rest = text.partition(":")
    for namespace, name in _colon_splits(rest):
        if resolve is None and namespace not in lineage.namespaces:
            continue
        if head == NodeKind.JOB and (job := JobId(namespace, name)) in graph.job_lineages:
            return NodeRef(NodeKind.JOB, job=job)
        if head == NodeKind.DATASET and (dataset := _known_dataset(lineage, DatasetId(namespace, name), resolve)):
            return NodeRef(NodeKind.DATASET, column=Column(dataset, None))
        if head == NodeKind.FIELD and (column := _find_column(lineage, graph, namespace, name, resolve)):
            return NodeRef(NodeKind.FIELD, column=column)
    return None


def _known_dataset(
    lineage: LineageRecords, dataset: DatasetId, resolve: Callable[[DatasetId], DatasetId] | None
) -> DatasetId | None:
    found = resolve(dataset) if resolve else dataset
    record = lineage.datasets.get(found)
    return None if record is None or lineage.catalog.is_deleted_dataset(record) else found


def _colon_splits(text: str) -> Iterator[tuple[str, str]]:
    """Yield all splits of a text at a colon."""
    for i, character in enumerate(text):
        if character == ":":
            yield text[:i], text[i + 1 :]


def _find_column(
    lineage: LineageRecords,
    graph: Graph,
    namespace: str,
    text: str,
    resolve: Callable[[DatasetId], DatasetId] | None,
) -> Column | None:
    for name, field in _colon_splits(text):
        dataset = _known_dataset(lineage, DatasetId(namespace, name), resolve)
        if dataset is not None and _has_field(lineage, graph, column := Column(dataset, field)):
            return column
    return None


def _has_field(lineage: LineageRecords, graph: Graph, column: Column) -> bool:
    if any(graph.edges_into(column)) or any(graph.edges_from(column)):
        return True
    fields = lineage.datasets[column.dataset].fields()
    return any(field["name"] == column.field for field in fields)
