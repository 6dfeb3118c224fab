# SPDX-License-Identifier: Apache-2.0
"""Impact analysis and origin: transitive dependencies of datasets and columns.

Nodes are columns, and datasets as a whole (their rows). One node depends on another if
- a column edge connects them; an edge without an output column makes the whole output depend on the input column,
- a job's data flow connects two datasets: the rows of the output depend on those of the input. The dependency is
  certain if a column edge connects the two; otherwise the job's use of the input is unknown,
- a job reports no column lineage for an output: the whole output may depend on every column that flows into it,
- a job reports that it does not know a column of an output: it may depend on every column that flows into the output,
- it is a column of the other: a change of rows affects every column.

Impact follows these dependencies downstream and origin follows the same ones upstream: column A is in the origin of
column B if and only if B is in the impact of A.
"""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import NamedTuple

from lineage.events.ids import DatasetId, JobId
from lineage.graph.adjacency import Column, Graph
from lineage.graph.column_edges import ColumnEdge
from lineage.graph.dependencies import Dependencies, empty_steps
from lineage.graph.records import LineageRecords

_NODES_PER_SLICE = 500
"""Nodes and edges visited between two yields of a traversal: up to 10 ms."""


class Step(NamedTuple):
    """One edge of a path. A column whose `field` is None stands for its dataset as a whole.

    `type` is DIRECT or INDIRECT; None if the emitter omits it, and for flows of whole datasets.
    """

    job: JobId
    source: Column
    output: Column
    type: str | None
    subtype: str | None
    masking: bool


_Transition = tuple[JobId, Step | None, Column | None]
"""A job, with the step over it and the node reached; None if the job only reads or only writes."""

_Transitions = Iterator[_Transition | None]
"""Transitions from a node; None is a pause in between, without one."""

_PAUSE = (None,)


class ReachedNode(NamedTuple):
    """Minimum distance in jobs, and the last `steps` of the shortest paths.

    A job is reached over its own steps; it has none if it only reads or only writes. `certain` is true if a path of
    certain dependencies exists, which need not be the shortest.
    """

    distance: int
    certain: bool
    steps: AbstractSet[Step]


class ReachedDataset(NamedTuple):
    """Dataset of which a node was reached; `whole` if its rows, and so all of its columns, were."""

    how: ReachedNode
    whole: bool


class TraversalResult(NamedTuple):
    """Everything reached over at least one job."""

    columns: dict[Column, ReachedNode]
    datasets: dict[DatasetId, ReachedDataset]
    jobs: dict[JobId, ReachedNode]


def traverse(
    lineage: LineageRecords, graph: Graph, start: Column, downstream: bool, depth: int | None = None
) -> TraversalResult:
    """Return the impact or the origin of a column or dataset over at most `depth` jobs. Refresh the graph first."""
    search = Traversal(lineage, graph, start, downstream, depth)
    for _ in search.steps():
        pass
    return search.found


class Traversal:
    """Cooperative traversal: a large graph does not block the event loop.

    If the graph changes between two steps, the remaining steps use the changed graph. `found` is complete after the
    last step.
    """

    def __init__(
        self, lineage: LineageRecords, graph: Graph, start: Column, downstream: bool, depth: int | None
    ) -> None:
        self._dependencies = dependencies = Dependencies(lineage, graph)
        self._all = _BreadthFirstSearch(dependencies, start, downstream, depth, certain=False)
        self._certain = _BreadthFirstSearch(dependencies, start, downstream, depth, certain=True)
        self.found = TraversalResult({}, {}, {})

    @property
    def size(self) -> int:
        """Return the number of nodes and jobs found so far, counting certain ones twice."""
        return sum(len(walk.found) + len(walk.jobs) for walk in (self._all, self._certain))

    def steps(self) -> Iterator[None]:
        """Run the traversal; yields after each slice."""
        yield from self._certain.steps()
        yield from self._all.steps()
        yield from self._derive_datasets()

    def free(self) -> Iterator[None]:
        """Free everything found in steps; nothing else may use it."""
        for found in self.found:
            yield from empty_steps(found)
        for walk in (self._all, self._certain):
            yield from empty_steps(walk.found)
            yield from empty_steps(walk.jobs)
        yield from self._dependencies.free()

    def _derive_datasets(self) -> Iterator[None]:
        """Derive datasets: each has the distance of its nearest node and the steps of all nodes at that distance."""
        nearest: dict[DatasetId, _ShortestPaths] = {}
        for number, (thing, last) in enumerate(self._all.found.items(), 1):
            if thing.field is not None:
                self.found.columns[thing] = ReachedNode(last.distance, thing in self._certain.found, last.steps)
            known = nearest.get(thing.dataset)
            if known is None or last.distance < known.distance:
                nearest[thing.dataset] = _ShortestPaths(last.distance, set(last.steps))
            elif last.distance == known.distance:
                known.steps.update(last.steps)
            if number % _NODES_PER_SLICE == 0:
                yield
        certain: set[DatasetId] = set()
        for number, thing in enumerate(self._certain.found, 1):
            certain.add(thing.dataset)
            if number % _NODES_PER_SLICE == 0:
                yield
        for number, (dataset, last) in enumerate(nearest.items(), 1):
            how = ReachedNode(last.distance, dataset in certain, last.steps)
            self.found.datasets[dataset] = ReachedDataset(how, Column(dataset, None) in self._all.found)
            if number % _NODES_PER_SLICE == 0:
                yield
        for number, (job, last) in enumerate(self._all.jobs.items(), 1):
            self.found.jobs[job] = ReachedNode(last.distance, job in self._certain.jobs, last.steps)
            if number % _NODES_PER_SLICE == 0:
                yield
        yield from empty_steps(nearest)


class _ShortestPaths(NamedTuple):
    """Distance of a node, and the last steps of the shortest paths to it."""

    distance: int
    steps: set[Step]


class _BreadthFirstSearch:
    """Breadth-first search over all dependencies, or over certain ones only.

    `found` and `jobs` hold distance and last steps of everything reached over at least one job.
    """

    def __init__(
        self, dependencies: Dependencies, start: Column, downstream: bool, depth: int | None, certain: bool
    ) -> None:
        self.found: dict[Column, _ShortestPaths] = {}
        self.jobs: dict[JobId, _ShortestPaths] = {}
        self._dependencies = dependencies
        self._downstream = downstream
        self._depth = depth
        self._certain = certain
        self._touched: set[DatasetId] = set()
        self._start = {start} if downstream else {start, Column(start.dataset, None)}
        self._whole = start.dataset if start.field is None else None

    def steps(self) -> Iterator[None]:
        """Run the search; yields after each slice."""
        if self._whole is not None:
            yield from self._dependencies.column_steps(self._whole)
            self._start |= {Column(self._whole, field) for field in self._dependencies.columns(self._whole)}
        frontier: Iterable[Column] = self._start
        distance = 0
        visited = 0
        while frontier and distance != self._depth:
            distance += 1
            level: dict[Column, set[Step]] = {}
            # One dataset may have as many jobs as there are.
            for transition in chain.from_iterable(chain(self._transitions(thing), _PAUSE) for thing in frontier):
                visited += 1
                if visited % _NODES_PER_SLICE == 0:
                    yield
                if transition is not None:
                    self._follow(transition, distance, level)
            yield from self._add_implied_nodes(level)
            for number, (thing, steps) in enumerate(level.items(), 1):
                self.found[thing] = _ShortestPaths(distance, steps)
                if number % _NODES_PER_SLICE == 0:
                    yield
            frontier = level

    def _follow(self, transition: _Transition, distance: int, level: dict[Column, set[Step]]) -> None:
        """Add the job of a transition, and to `level` the node beyond it."""
        job, step, onward = transition
        self._reach_job(job, distance, step)
        if step is not None and onward is not None and self._is_new(onward):
            level.setdefault(onward, set()).add(step)

    def _is_new(self, thing: Column) -> bool:
        return thing not in self.found and thing not in self._start

    def _reach_job(self, job: JobId, distance: int, step: Step | None) -> None:
        last = self.jobs.setdefault(job, _ShortestPaths(distance, set()))
        if step is not None and last.distance == distance:
            last.steps.add(step)

    def _add_implied_nodes(self, level: dict[Column, set[Step]]) -> Iterator[None]:
        """Add the columns of whole datasets downstream, and the rows of a column's dataset upstream, in steps."""
        for number, (thing, steps) in enumerate(list(level.items()), 1):
            if number % _NODES_PER_SLICE == 0:
                yield
            if self._downstream and thing.field is None:
                yield from self._dependencies.column_steps(thing.dataset)
                others = [Column(thing.dataset, field) for field in self._dependencies.columns(thing.dataset)]
            elif not self._downstream and thing.field is not None:
                others = [Column(thing.dataset, None)]
            else:
                continue
            for other in others:
                if self._is_new(other):
                    level.setdefault(other, set()).update(steps)

    def _transitions(self, thing: Column) -> _Transitions:
        if not self._downstream:
            return self._transitions_to_sources(thing)
        return self._transitions_of_rows(thing.dataset) if thing.field is None else self._transitions_of_column(thing)

    def _transitions_of_column(self, column: Column) -> _Transitions:
        for edge in self._dependencies.edges_from(column):
            if edge is None:
                yield None
                continue
            output = Column(edge.output, edge.field)
            yield _edge_transition(edge, column, output, onward=output)
        if self._certain or column.dataset in self._touched:
            return
        self._touched.add(column.dataset)
        for job in self._dependencies.readers(column.dataset):
            links = self._dependencies.links(job)
            outputs = links.from_source.get(column.dataset, ())
            if not outputs:
                yield job, None, None
            for output_id in outputs:
                if output_id not in links.with_columns:
                    yield _flow_transition(job, column.dataset, output_id, onward=Column(output_id, None))
                for field in links.unknown.get(output_id, ()):
                    yield _flow_transition(job, column.dataset, output_id, onward=Column(output_id, field))

    def _transitions_of_rows(self, dataset: DatasetId) -> _Transitions:
        for job in self._dependencies.readers(dataset):
            yield job, None, None
            links = self._dependencies.links(job)
            for output in links.from_source.get(dataset, ()):
                if not self._certain or (dataset, output) in links.connected:
                    yield _flow_transition(job, dataset, output, onward=Column(output, None))

    def _transitions_to_sources(self, thing: Column) -> _Transitions:
        for edge in self._dependencies.edges_into(thing):
            if edge is None:
                yield None
                continue
            source = Column(edge.source, edge.source_field)
            yield _edge_transition(edge, source, thing, onward=source)
        if thing.field is not None:
            if not self._certain:
                yield from self._transitions_of_unknown(thing.dataset, thing.field)
            return
        for job in self._dependencies.writers(thing.dataset):
            yield job, None, None
            links = self._dependencies.links(job)
            for source_id in links.into_output.get(thing.dataset, ()):
                if self._certain and (source_id, thing.dataset) not in links.connected:
                    continue
                yield _flow_transition(job, source_id, thing.dataset, onward=Column(source_id, None))
                if thing.dataset not in links.with_columns:
                    yield from self._from_all_columns(job, source_id, thing.dataset)

    def _transitions_of_unknown(self, output: DatasetId, field: str) -> _Transitions:
        """Yield the transitions to all that a column may be made of, by jobs that do not know that."""
        for job in self._dependencies.writers(output):
            links = self._dependencies.links(job)
            if field in links.unknown.get(output, ()):
                for source in links.into_output.get(output, ()):
                    yield from self._from_all_columns(job, source, output)

    def _from_all_columns(self, job: JobId, source: DatasetId, output: DatasetId) -> _Transitions:
        yield from self._dependencies.column_steps(source)
        for field in self._dependencies.columns(source):
            yield _flow_transition(job, source, output, onward=Column(source, field))


def _edge_transition(edge: ColumnEdge, source: Column, output: Column, onward: Column) -> _Transition:
    return (
        edge.job,
        Step(
            job=edge.job,
            source=source,
            output=output,
            type=edge.type,
            subtype=edge.subtype,
            masking=edge.masking,
        ),
        onward,
    )


def _flow_transition(job: JobId, source: DatasetId, output: DatasetId, onward: Column) -> _Transition:
    return (
        job,
        Step(job=job, source=Column(source, None), output=Column(output, None), type=None, subtype=None, masking=False),
        onward,
    )
