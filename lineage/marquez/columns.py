# SPDX-License-Identifier: Apache-2.0
"""The column-level lineage graph around a node."""

from lineage.events import DatasetId, JsonObject
from lineage.fold import Graph
from lineage.fold.graph import Column
from lineage.marquez.catalog import Catalog, input_fields
from lineage.marquez.node_ids import NodeRef, node_id


def column_lineage(catalog: Catalog, graph: Graph, start: NodeRef, depth: int, downstream: bool) -> JsonObject:
    """Columns within `depth` steps upstream of the start, and downstream too where asked.

    Marquez's shape knows columns only: what a column does to a dataset as a whole (filter, join key) is in
    the graph export. Nor does Marquez turn an edge with the data: every edge of a node has that node as its
    origin, so that the destination of an `inEdge` is a source of the column. Its clients count on that.
    """
    columns = _start_columns(graph, start)
    found = set(columns)
    _walk(graph, columns, depth, found, upstream=True)
    if downstream:
        _walk(graph, columns, depth, found, upstream=False)
    nodes = [_node(catalog, graph, column, found) for column in found]
    return {"graph": sorted(nodes, key=lambda node: str(node["id"]))}


def _start_columns(graph: Graph, start: NodeRef) -> set[Column]:
    if start.job is not None:
        edges = graph.views[start.job].columns
        return {Column(edge.output, edge.field) for edge in edges if edge.field is not None}
    if start.column is None:
        return set()
    return {start.column} if start.column.field is not None else _columns_of(graph, start.column.dataset)


def _columns_of(graph: Graph, dataset: DatasetId) -> set[Column]:
    columns: set[Column] = set()
    for job in graph.jobs_of(dataset):
        for edge in graph.views[job].columns:
            if edge.field is None:
                continue
            columns |= {
                column
                for column in (Column(edge.output, edge.field), Column(edge.source, edge.source_field))
                if column.dataset == dataset
            }
    return columns


def _walk(graph: Graph, start: set[Column], depth: int, found: set[Column], upstream: bool) -> None:
    seen = set(start)
    frontier = start
    for _ in range(depth):
        frontier = {neighbour for column in frontier for neighbour in _neighbours(graph, column, upstream)} - seen
        if not frontier:
            break
        seen |= frontier
    found |= seen


def _neighbours(graph: Graph, column: Column, upstream: bool) -> set[Column]:
    if upstream:
        return {Column(edge.source, edge.source_field) for edge in graph.columns_into.get(column, ())}
    edges = graph.columns_from.get(column, ())
    return {Column(edge.output, edge.field) for edge in edges if edge.field is not None}


def _node(catalog: Catalog, graph: Graph, column: Column, found: set[Column]) -> JsonObject:
    edges = graph.columns_into.get(column, set())
    sources = sorted(_neighbours(graph, column, upstream=True) & found)
    targets = sorted(_neighbours(graph, column, upstream=False) & found)
    return {
        "id": node_id(column),
        "type": "DATASET_FIELD",
        "data": {
            "namespace": column.dataset.namespace,
            "dataset": column.dataset.name,
            "datasetVersion": None,
            "field": column.field,
            "fieldType": catalog.field_type(column),
            "transformationDescription": None,
            "transformationType": None,
            "inputFields": input_fields(edges),
        },
        "inEdges": [{"origin": node_id(column), "destination": node_id(source)} for source in sources],
        "outEdges": [{"origin": node_id(column), "destination": node_id(target)} for target in targets],
    }
