# SPDX-License-Identifier: Apache-2.0
"""The lineage of a job in a checkpoint: a start need not derive it again."""

from collections.abc import Callable, Iterable
from typing import Any

from lineage.events.ids import DatasetId, JobId
from lineage.graph.column_edges import ColumnEdges, StoredEdges, UnpackedEdges
from lineage.graph.job_dependencies import JobDependency
from lineage.graph.job_lineage import DataFlow, JobLineage
from lineage.graph.packing import pack, unpack
from lineage.graph.run_history import Direction
from lineage.graph.vanished_edges import VanishedEdge


def pack_lineage(lineage: JobLineage) -> bytes:
    """Return the lineage of a job packed; of its runs only their UUIDs."""
    edges = lineage.columns
    assert isinstance(edges, ColumnEdges), "the lineage is that of a graph"
    return pack(
        (
            _plain(lineage.inputs),
            _plain(lineage.outputs),
            [(*flow.source, *flow.output) for flow in lineage.flows],
            _stored(edges),
            [(edge.direction.value, *edge.dataset, *edge[2:]) for edge in lineage.vanished],
            [(*dependency.upstream, *dependency.downstream) for dependency in lineage.dependencies],
            lineage.latest_run,
            [(*dataset, name) for dataset, name in lineage.unknown],
        )
    )


def unpack_lineage(
    job: JobId, packed: bytes, known: Callable[[DatasetId], DatasetId], unpacked: UnpackedEdges
) -> JobLineage:
    """Return the lineage of a job.

    `known` returns one object for equal identities, which saves memory. `unpacked` are the edges of the graph.
    """
    inputs, outputs, flows, edges, vanished, dependencies, latest, unknown = unpack(packed)
    return JobLineage(
        inputs=_datasets(inputs, known),
        outputs=_datasets(outputs, known),
        flows=frozenset(DataFlow(known(DatasetId(*row[:2])), known(DatasetId(*row[2:]))) for row in flows),
        columns=ColumnEdges.of_bytes(job, _restored(edges, known), unpacked),
        vanished=tuple(_vanished(*row) for row in vanished),
        latest_run=latest,
        unknown=frozenset((known(DatasetId(*row[:2])), row[2]) for row in unknown),
        dependencies=frozenset(JobDependency(JobId(*row[:2]), JobId(*row[2:])) for row in dependencies),
    )


def _plain(datasets: Iterable[DatasetId]) -> list[tuple[str, ...]]:
    return [tuple(dataset) for dataset in datasets]


def _datasets(rows: Iterable[tuple[str, str]], known: Callable[[DatasetId], DatasetId]) -> frozenset[DatasetId]:
    return frozenset(known(DatasetId(*row)) for row in rows)


def _stored(edges: ColumnEdges) -> tuple[object, ...]:
    size, sources, masked, packed = edges.stored
    return size, _plain(sources), [(*dataset, field) for dataset, field in masked], packed


def _restored(row: tuple[Any, ...], known: Callable[[DatasetId], DatasetId]) -> StoredEdges:
    size, sources, masked, packed = row
    columns = frozenset((known(DatasetId(namespace, name)), field) for namespace, name, field in masked)
    return StoredEdges(size, _datasets(sources, known), columns, packed)


def _vanished(direction: str, namespace: str, name: str, since: int, reason: str, run: str | None) -> VanishedEdge:
    return VanishedEdge(Direction(direction), DatasetId(namespace, name), since, reason, run)
