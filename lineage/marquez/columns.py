# SPDX-License-Identifier: Apache-2.0
"""The column-level lineage graph around a node."""

from collections.abc import Iterator

from lineage.events import DatasetId, JsonObject
from lineage.graph import Graph
from lineage.graph.adjacency import Column
from lineage.marquez.catalog import Catalog
from lineage.marquez.node_ids import NodeRef, node_id

_COLUMNS_PER_SLICE = 1000
"""Columns visited between two yields."""


def column_lineage(catalog: Catalog, graph: Graph, start: NodeRef, depth: int, downstream: bool) -> JsonObject:
    """Return the graph around a node without yielding."""
    found = ColumnNeighbourhood(graph, start, depth, downstream)
    for _ in found.steps():
        pass
    return {"graph": list(found.nodes(catalog))}


class ColumnNeighbourhood:
    """Columns within `depth` steps upstream of the start, and optionally downstream.

    Marquez's shape has columns only: dependencies of a dataset as a whole (filter, join key) are in the graph export
    and in impact and origin. Its edges do not follow the data: every edge of a node has that node as its origin, so
    that the destination of an `inEdge` is a source of the column. Clients rely on that. The search is cooperative.
    """

    def __init__(self, graph: Graph, start: NodeRef, depth: int, downstream: bool) -> None:
        self._graph = graph
        self._depth = depth
        self._downstream = downstream
        self._start = _start_columns(graph, start)
        self._found = set(self._start)

    @property
    def size(self) -> int:
        """Return the number of columns found so far."""
        return len(self._found)

    def steps(self) -> Iterator[None]:
        """Run the search; yields after each slice."""
        yield from self._search_direction(upstream=True)
        if self._downstream:
            yield from self._search_direction(upstream=False)

    def nodes(self, catalog: Catalog) -> Iterator[JsonObject]:
        """Yield the nodes found, sorted by id."""
        return (self._column_node(catalog, column) for column in sorted(self._found, key=node_id))

    def _search_direction(self, upstream: bool) -> Iterator[None]:
        seen = set(self._start)
        frontier = self._start
        for _ in range(self._depth):
            beyond: set[Column] = set()
            for number, column in enumerate(frontier, 1):
                beyond |= _neighbour_columns(self._graph, column, upstream)
                if number % _COLUMNS_PER_SLICE == 0:
                    yield
            frontier = beyond - seen
            if not frontier:
                break
            seen |= frontier
            self._found |= frontier

    def _column_node(self, catalog: Catalog, column: Column) -> JsonObject:
        sources = sorted(_neighbour_columns(self._graph, column, upstream=True) & self._found)
        targets = sorted(_neighbour_columns(self._graph, column, upstream=False) & self._found)
        edges = set(self._graph.edges_into(column))
        return {
            "id": node_id(column),
            "type": "DATASET_FIELD",
            "data": {
                "namespace": column.dataset.namespace,
                "dataset": column.dataset.name,
                "datasetVersion": catalog.current_version(column.dataset),
                "field": column.field,
                "fieldType": catalog.field_type(column),
                **catalog.transformations(column.dataset).of_field(column.field or "", edges),
                "inputFields": _with_versions(catalog, catalog.input_fields(edges)),
            },
            "inEdges": [{"origin": node_id(column), "destination": node_id(source)} for source in sources],
            "outEdges": [{"origin": node_id(column), "destination": node_id(target)} for target in targets],
        }


def _with_versions(catalog: Catalog, rows: list[JsonObject]) -> list[JsonObject]:
    return [
        {**row, "datasetVersion": catalog.current_version(DatasetId(row["namespace"], row["dataset"]))} for row in rows
    ]


def _start_columns(graph: Graph, start: NodeRef) -> set[Column]:
    if start.job is not None:
        edges = graph.job_lineages[start.job].columns
        return {Column(edge.output, edge.field) for edge in edges if edge.field is not None}
    if start.column is None:
        return set()
    return {start.column} if start.column.field is not None else _columns_of(graph, start.column.dataset)


def _columns_of(graph: Graph, dataset: DatasetId) -> set[Column]:
    columns: set[Column] = set()
    for job in graph.jobs_of(dataset):
        for edge in graph.job_lineages[job].columns:
            if edge.field is None:
                continue
            columns |= {
                column
                for column in (Column(edge.output, edge.field), Column(edge.source, edge.source_field))
                if column.dataset == dataset
            }
    return columns


def _neighbour_columns(graph: Graph, column: Column, upstream: bool) -> set[Column]:
    if upstream:
        return {Column(edge.source, edge.source_field) for edge in graph.edges_into(column)}
    edges = graph.edges_from(column)
    return {Column(edge.output, edge.field) for edge in edges if edge.field is not None}
