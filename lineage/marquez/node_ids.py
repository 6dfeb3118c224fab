# SPDX-License-Identifier: Apache-2.0
"""Marquez's node ids: `dataset:{namespace}:{name}`, `job:...`, `datasetField:{namespace}:{name}:{field}`."""

from collections.abc import Callable, Container, Iterator
from enum import StrEnum
from itertools import islice
from typing import NamedTuple

from lineage.events import DatasetId, JobId
from lineage.graph import Graph, LineageRecords
from lineage.graph.adjacency import Column

MAX_RESOLVED = 2_000
"""Splits of an id that are looked up as aliases, 10 us each: all of an id with 60 colons, which aliases do not have."""


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
    split an id unambiguously. The split that names a known node is used. `resolve` maps an alias to its dataset; it is
    applied to the first `MAX_RESOLVED` splits.
    """
    head, _, rest = text.partition(":")
    if head == NodeKind.JOB:
        jobs = (JobId(*split) for split in _colon_splits(rest))
        return next((NodeRef(NodeKind.JOB, job=job) for job in jobs if job in graph.job_lineages), None)
    if head not in (NodeKind.DATASET, NodeKind.FIELD):
        return None
    kind = NodeKind(head)
    if resolve is None:
        columns = _columns_of_id(kind, rest, lineage.namespaces)
    else:
        columns = islice(_columns_of_id(kind, rest), MAX_RESOLVED)
    for named in columns:
        dataset = _known_dataset(lineage, named.dataset, resolve)
        if dataset is None:
            continue
        column = Column(dataset, named.field)
        if kind is NodeKind.DATASET or _has_field(lineage, graph, column):
            return NodeRef(kind, column=column)
    return None


def _columns_of_id(kind: NodeKind, text: str, namespaces: Container[str] | None = None) -> Iterator[Column]:
    """Yield the columns, or datasets without a field, that an id may name; only in `namespaces` if given."""
    for namespace, rest in _colon_splits(text):
        if namespaces is not None and namespace not in namespaces:
            continue
        if kind is NodeKind.DATASET:
            yield Column(DatasetId(namespace, rest), None)
        else:
            yield from (Column(DatasetId(namespace, name), field) for name, field in _colon_splits(rest))


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


def _has_field(lineage: LineageRecords, graph: Graph, column: Column) -> bool:
    if any(graph.edges_into(column)) or any(graph.edges_from(column)):
        return True
    fields = lineage.datasets[column.dataset].fields()
    return any(field["name"] == column.field for field in fields)
