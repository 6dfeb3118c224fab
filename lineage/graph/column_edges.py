# SPDX-License-Identifier: Apache-2.0
"""Column edges of the jobs of a graph: packed, except for those that were derived or read last."""

from collections.abc import Collection, Iterable, Iterator
from sys import intern
from typing import NamedTuple

from lineage.events.ids import DatasetId, JobId
from lineage.graph.packing import pack, unpack

MAX_UNPACKED = 200_000
"""Column edges of a graph that are not packed: about 50 MB. Reading others takes a tenth of a millisecond per job."""


class ColumnEdge(NamedTuple):
    """A column of `output` (None: the dataset as a whole) depends on a column of `source`.

    `type` is DIRECT or INDIRECT; None if the emitter omits it.
    """

    job: JobId
    output: DatasetId
    field: str | None
    source: DatasetId
    source_field: str
    type: str | None
    subtype: str | None
    masking: bool


class StoredEdges(NamedTuple):
    """Column edges of one job as they are stored: their number, sources and masked columns, and all of them packed."""

    size: int
    sources: frozenset[DatasetId]
    masked: frozenset[tuple[DatasetId, str]]
    packed: bytes


class UnpackedEdges:
    """Which column edges of a graph are not packed. Not thread-safe."""

    def __init__(self, limit: int = MAX_UNPACKED) -> None:
        self._limit = limit
        self._total = 0
        self._last_used: dict[ColumnEdges, None] = {}

    def use(self, edges: "ColumnEdges") -> None:
        """Note that edges are read; pack those of other jobs that were not read for the longest time."""
        if edges in self._last_used:
            del self._last_used[edges]
        else:
            self._total += len(edges)
        self._last_used[edges] = None
        while self._total > self._limit and len(self._last_used) > 1:
            oldest = next(iter(self._last_used))
            self.discard(oldest)
            oldest.pack()

    def discard(self, edges: "ColumnEdges") -> None:
        """Forget edges that the graph no longer has."""
        if edges in self._last_used:
            del self._last_used[edges]
            self._total -= len(edges)


class ColumnEdges(Collection[ColumnEdge]):
    """Column edges of one job, without duplicates, unpacked when they are read.

    `sources` are the datasets that they come from, `masked` the columns that they fill with masked values.
    """

    __slots__ = ("_job", "_packed", "_size", "_unpacked", "_used", "masked", "sources")

    def __init__(self, job: JobId, edges: Iterable[ColumnEdge], used: UnpackedEdges) -> None:
        """Take the edges of a job, unpacked as yet; `used` are those of its graph."""
        found = frozenset(edges)
        self._job, self._used, self._size = job, used, len(found)
        self._packed: bytes | None = None
        self._unpacked: frozenset[ColumnEdge] | None = found
        self.sources = frozenset(edge.source for edge in found)
        self.masked = frozenset((edge.output, edge.field) for edge in found if edge.masking and edge.field is not None)
        used.use(self)

    @classmethod
    def of_bytes(cls, job: JobId, stored: StoredEdges, used: UnpackedEdges) -> "ColumnEdges":
        """Return the edges that `stored` had, which only the same version of Python reads."""
        edges = cls.__new__(cls)
        edges._job, edges._used, edges._size = job, used, stored.size
        edges._packed, edges._unpacked = stored.packed, None
        edges.sources, edges.masked = stored.sources, stored.masked
        return edges

    @property
    def stored(self) -> StoredEdges:
        """Return the edges as they are stored."""
        return StoredEdges(self._size, self.sources, self.masked, bytes(self))

    def __bytes__(self) -> bytes:
        if self._packed is None:
            self._packed = _packed(self._unpacked or frozenset())
        return self._packed

    def __iter__(self) -> Iterator[ColumnEdge]:
        return iter(self._edges())

    def __contains__(self, edge: object) -> bool:
        return edge in self._edges()

    def __len__(self) -> int:
        return self._size

    def pack(self) -> None:
        """Keep the packed edges only."""
        self._packed, self._unpacked = bytes(self), None

    def _edges(self) -> frozenset[ColumnEdge]:
        if self._unpacked is None:
            self._unpacked = frozenset(_edges(self._job, bytes(self)))
        self._used.use(self)
        return self._unpacked


def _packed(edges: Iterable[ColumnEdge]) -> bytes:
    ordered = sorted(edges, key=lambda edge: (edge.output, edge.field or "", edge.source, edge.source_field))
    numbers: dict[DatasetId, int] = {}
    rows = [
        (numbers.setdefault(edge.output, len(numbers)), numbers.setdefault(edge.source, len(numbers)), edge)
        for edge in ordered
    ]
    columns = [(output, edge.field, source, *edge[4:]) for output, source, edge in rows]
    return pack(([tuple(dataset) for dataset in numbers], columns))


def _edges(job: JobId, packed: bytes) -> Iterator[ColumnEdge]:
    names, rows = unpack(packed)
    datasets = [DatasetId(intern(namespace), name) for namespace, name in names]
    for output, field, source, *rest in rows:
        yield ColumnEdge(job, datasets[output], field, datasets[source], *rest)
