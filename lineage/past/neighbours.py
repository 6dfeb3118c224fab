# SPDX-License-Identifier: Apache-2.0
"""Expansion of a part of a past graph: what answers about one node are made of is made complete, ring by ring."""

from collections.abc import Collection, Iterable, Iterator
from itertools import count
from typing import Protocol

from lineage.events import DatasetId, JobId
from lineage.graph import Graph, LineageRecords
from lineage.graph.node_names import NodeNames
from lineage.marquez import NodeKind, NodeRef, find_node
from lineage.rules.event_reader import EventReader

_MAX_SPLITS = 2_000
"""Splits of the id of a node that are looked up, as in `find_node`."""


class Part(Protocol):
    """Records and graph of which parts are made complete."""

    lineage: LineageRecords
    graph: Graph

    def need_datasets(self, names: Iterable[DatasetId]) -> None:
        """Make the records of datasets complete, and the lineage of jobs as far as it concerns them."""

    def need_lineages(self, jobs: Collection[JobId]) -> None:
        """Make the lineage of jobs complete, and the datasets that they use."""

    def knows_job(self, job: JobId) -> bool:
        """Return whether an event ever named a job."""

    def knows_dataset(self, name: DatasetId) -> bool:
        """Return whether an event ever named a dataset."""


class WholeGraph:
    """Records and graph that are complete."""

    def __init__(self, lineage: LineageRecords, graph: Graph) -> None:
        self.lineage, self.graph = lineage, graph
        graph.refresh()

    def need_datasets(self, names: Iterable[DatasetId]) -> None:
        """Do nothing."""

    def need_lineages(self, jobs: Collection[JobId]) -> None:
        """Do nothing."""

    def knows_job(self, job: JobId) -> bool:
        """Return whether an event named a job."""
        return job in self.lineage.jobs

    def knows_dataset(self, name: DatasetId) -> bool:
        """Return whether an event named a dataset, or claimed the name for one."""
        return self.lineage.node(name) in self.lineage.datasets


def found_node(part: Part, reader: EventReader, text: str) -> NodeRef | None:
    """Return the node of an id, also by an alias; None if no event until then names it, or if it was deleted."""
    head, _, rest = text.partition(":")
    names = reader.names()
    if head == NodeKind.JOB:
        part.need_lineages({job for split in _splits(rest) if part.knows_job(job := JobId(*split))})
    else:
        splits = [*_splits(rest)]
        if head == NodeKind.FIELD:
            splits += [split for namespace, field in splits for split in _fields_cut(namespace, field)]
        named = [names.dataset(*split) for split in splits[:_MAX_SPLITS]]
        datasets = {name for name in named if part.knows_dataset(name)}
        part.need_datasets(datasets)
        part.graph.refresh()
        part.need_lineages(_users(part, map(part.lineage.node, datasets)))
    part.graph.refresh()
    nodes = NodeNames(part.lineage, reader.names())
    return find_node(part.lineage, part.graph, text, lambda dataset: nodes.dataset(*dataset))


def need_neighbourhood(part: Part, node: NodeRef, depth: int) -> tuple[set[JobId], set[DatasetId]]:
    """Make complete what `lineage.marquez.Neighbourhood` visits; return its jobs and datasets."""
    graph = part.graph
    datasets = {node.column.dataset} if node.column is not None else set()
    part.need_datasets(datasets)
    graph.refresh()
    frontier = {node.job} if node.job is not None else _users(part, datasets)
    jobs: set[JobId] = set()
    for step in range(depth + 1):
        jobs |= frontier
        part.need_lineages(frontier)
        touched: set[DatasetId] = set()
        for job in frontier:
            touched |= graph.lineage_of(job).inputs | graph.lineage_of(job).outputs
        touched -= datasets
        datasets |= touched
        frontier = set() if step == depth else _users(part, touched) - jobs
        if not frontier:
            break
    return jobs, datasets


def need_reach(part: Part, start: DatasetId, downstream: bool, depth: int | None) -> None:
    """Make complete what `lineage.graph.traversal` visits from a dataset and its columns."""
    graph = part.graph
    seen: set[DatasetId] = set()
    frontier = {start}
    for distance in count():
        part.need_datasets(frontier)
        graph.refresh()
        # Any job that uses a dataset may name columns of it.
        part.need_lineages(_users(part, frontier))
        seen |= frontier
        if not frontier or distance == depth:
            return
        frontier = {
            dataset
            for found in map(part.graph.lineage_of, _followed(graph, frontier, downstream))
            for dataset in (
                found.outputs
                if downstream
                else {flow.source for flow in found.flows} | {edge.source for edge in found.columns}
            )
        } - seen


def _followed(graph: Graph, datasets: Iterable[DatasetId], downstream: bool) -> set[JobId]:
    sides = (graph.consumers, graph.referencing_jobs) if downstream else (graph.producers,)
    return {job for dataset in datasets for side in sides for job in side.get(dataset, ())}


def _users(part: Part, datasets: Iterable[DatasetId]) -> set[JobId]:
    graph = part.graph
    return {job for name in datasets for job in graph.jobs_of(name) | graph.referencing_jobs.get(name, set())}


def _splits(text: str) -> Iterator[tuple[str, str]]:
    """Yield the first splits of a text at a colon."""
    places = [at for at, character in enumerate(text) if character == ":"][:_MAX_SPLITS]
    return ((text[:at], text[at + 1 :]) for at in places)


def _fields_cut(namespace: str, rest: str) -> Iterator[tuple[str, str]]:
    """Yield a dataset for each place at which the name of a column may begin."""
    return ((namespace, name) for name, _ in _splits(rest))
