# SPDX-License-Identifier: Apache-2.0
"""The table-level lineage graph around a node."""

from lineage.events import DatasetId, JobId, JsonObject
from lineage.fold import Graph
from lineage.marquez.catalog import Catalog
from lineage.marquez.node_ids import NodeRef, node_id


def lineage_graph(catalog: Catalog, graph: Graph, start: NodeRef, depth: int) -> JsonObject:
    """All jobs within `depth` job-to-job steps of the start in either direction, and all datasets they touch.

    From a dataset, the jobs that touch it are step 0, as in Marquez.
    """
    datasets: set[DatasetId] = set()
    if start.column is not None:
        datasets.add(start.column.dataset)
        frontier = set(graph.jobs_of(start.column.dataset))
    else:
        frontier = {start.job} if start.job else set()
    jobs: set[JobId] = set(frontier)
    for step in range(depth + 1):
        touched = {dataset for job in frontier for dataset in _datasets_of(graph, job)}
        datasets |= touched
        if step == depth or not frontier:
            break
        frontier = {job for dataset in touched for job in graph.jobs_of(dataset)} - jobs
        jobs |= frontier
    nodes = [_job_node(catalog, graph, job) for job in jobs]
    nodes += [_dataset_node(catalog, graph, dataset, jobs) for dataset in datasets]
    return {"graph": sorted(nodes, key=lambda node: str(node["id"]))}


def _datasets_of(graph: Graph, job: JobId) -> frozenset[DatasetId]:
    view = graph.views[job]
    return view.inputs | view.outputs


def _job_node(catalog: Catalog, graph: Graph, job: JobId) -> JsonObject:
    view = graph.views[job]
    return {
        "id": node_id(job),
        "type": "JOB",
        "data": catalog.job_summary(job),
        "inEdges": [_edge(dataset, job) for dataset in sorted(view.inputs)],
        "outEdges": [_edge(job, dataset) for dataset in sorted(view.outputs)],
    }


def _dataset_node(catalog: Catalog, graph: Graph, dataset: DatasetId, jobs: set[JobId]) -> JsonObject:
    producers = sorted(graph.producers.get(dataset, set()) & jobs)
    consumers = sorted(graph.consumers.get(dataset, set()) & jobs)
    return {
        "id": node_id(dataset),
        "type": "DATASET",
        "data": catalog.dataset_summary(dataset),
        "inEdges": [_edge(job, dataset) for job in producers],
        "outEdges": [_edge(dataset, job) for job in consumers],
    }


def _edge(origin: DatasetId | JobId, destination: DatasetId | JobId) -> JsonObject:
    return {"origin": node_id(origin), "destination": node_id(destination)}
