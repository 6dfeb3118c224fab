# SPDX-License-Identifier: Apache-2.0
"""The table-level lineage graph around a node."""

from collections.abc import Iterator

from lineage.events import DatasetId, JobId, JsonObject
from lineage.graph import Graph
from lineage.marquez.catalog import Catalog
from lineage.marquez.node_ids import NodeRef, node_id

_NODES_PER_SLICE = 1000
"""Nodes visited between two yields."""


def lineage_graph(catalog: Catalog, graph: Graph, start: NodeRef, depth: int) -> JsonObject:
    """Return the graph around a node without yielding."""
    found = Neighbourhood(graph, start, depth)
    for _ in found.steps():
        pass
    return {"graph": list(found.nodes(catalog))}


class Neighbourhood:
    """All jobs within `depth` job-to-job steps of the start in either direction, and all datasets they touch.

    From a dataset, the jobs that read or write it are step 0, as in Marquez. The search is cooperative.
    """

    def __init__(self, graph: Graph, start: NodeRef, depth: int) -> None:
        self._graph = graph
        self._depth = depth
        self._datasets: set[DatasetId] = set()
        if start.column is not None:
            self._datasets.add(start.column.dataset)
            self._jobs = set(graph.jobs_of(start.column.dataset))
        else:
            self._jobs = {start.job} if start.job else set()

    @property
    def size(self) -> int:
        """Return the number of nodes found so far."""
        return len(self._jobs) + len(self._datasets)

    def steps(self) -> Iterator[None]:
        """Run the search; yields after each slice."""
        frontier = set(self._jobs)
        for step in range(self._depth + 1):
            touched: set[DatasetId] = set()
            for number, job in enumerate(frontier, 1):
                touched |= _datasets_of(self._graph, job)
                if number % _NODES_PER_SLICE == 0:
                    yield
            touched -= self._datasets
            self._datasets |= touched
            if step == self._depth or not frontier:
                break
            frontier = set()
            for number, dataset in enumerate(touched, 1):
                frontier |= self._graph.jobs_of(dataset) - self._jobs
                if number % _NODES_PER_SLICE == 0:
                    yield
            self._jobs |= frontier

    def nodes(self, catalog: Catalog) -> Iterator[JsonObject]:
        """Yield the nodes found, sorted by id."""
        found: list[JobId | DatasetId] = [*self._jobs, *self._datasets]
        for node in sorted(found, key=node_id):
            yield self._job_node(catalog, node) if isinstance(node, JobId) else self._dataset_node(catalog, node)

    def _job_node(self, catalog: Catalog, job: JobId) -> JsonObject:
        view = self._graph.job_lineages[job]
        return {
            "id": node_id(job),
            "type": "JOB",
            "data": catalog.job_node(job),
            "inEdges": [_edge_json(dataset, job) for dataset in sorted(view.inputs)],
            "outEdges": [_edge_json(job, dataset) for dataset in sorted(view.outputs)],
        }

    def _dataset_node(self, catalog: Catalog, dataset: DatasetId) -> JsonObject:
        producers = sorted(self._graph.producers.get(dataset, set()) & self._jobs)
        consumers = sorted(self._graph.consumers.get(dataset, set()) & self._jobs)
        return {
            "id": node_id(dataset),
            "type": "DATASET",
            "data": catalog.dataset_summary(dataset),
            "inEdges": [_edge_json(job, dataset) for job in producers],
            "outEdges": [_edge_json(dataset, job) for job in consumers],
        }


def _datasets_of(graph: Graph, job: JobId) -> frozenset[DatasetId]:
    view = graph.job_lineages[job]
    return view.inputs | view.outputs


def _edge_json(origin: DatasetId | JobId, destination: DatasetId | JobId) -> JsonObject:
    return {"origin": node_id(origin), "destination": node_id(destination)}
