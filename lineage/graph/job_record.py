# SPDX-License-Identifier: Apache-2.0
"""Records of jobs and their runs: mergeable values only, nothing derived."""

from bisect import bisect_left, insort
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from lineage.events.event import Event, Order
from lineage.events.ids import DatasetId, JobId, JsonObject, RunId
from lineage.graph.mergeable import Facets, Span
from lineage.graph.run_history import Direction, Edge, RunHistory, RunPosition

TERMINAL_RANK = {"COMPLETE": 1, "ABORT": 2, "FAIL": 3}
"""Precedence of terminal events of one run: Spark sends COMPLETE after FAIL."""


JOB_DEPENDENCIES = "jobDependencies"


class EventParts(NamedTuple):
    """Facets and datasets of an event; values are shared with equal known ones."""

    job_facets: JsonObject
    inputs: list[JsonObject]
    outputs: list[JsonObject]


Uses = dict[DatasetId, Facets]
"""Datasets that a run or job names in one direction, with their facets."""


def join_uses(uses: Uses, order: Order, datasets: Iterable[JsonObject]) -> None:
    """Add datasets and their facets.

    inputFacets and outputFacets describe a transfer, not a dataset, and must not replace dataset facets of the same
    name. Nothing is derived from them; the log keeps them.
    """
    for dataset in datasets:
        facets = uses.setdefault(DatasetId(dataset["namespace"], dataset["name"]), Facets())
        facets.join(order, dataset.get("facets"))


@dataclass(slots=True)
class RunRecord:
    """One run. `terminal` is its strongest terminal event: rank, order, event type."""

    id: RunId
    span: Span
    first_start: Order | None = None
    last_start: Order | None = None
    ran: bool = False
    terminal: tuple[int, Order, str] | None = None
    facets: Facets = field(default_factory=Facets)
    job_facets: Facets = field(default_factory=Facets)
    inputs: Uses = field(default_factory=dict)
    outputs: Uses = field(default_factory=dict)

    def join(self, event: Event, parts: EventParts) -> None:
        """Apply one event of this run."""
        order = event.order
        self.span.join(order)
        if event.event_type == "START":
            self.first_start = min(self.first_start or order, order)
            self.last_start = max(self.last_start or order, order)
        self.ran = self.ran or event.event_type in ("START", "RUNNING")
        rank = TERMINAL_RANK.get(event.event_type)
        if rank is not None:
            terminal = (rank, order, event.event_type)
            self.terminal = max(self.terminal or terminal, terminal)
        self.facets.join(order, event.body["run"].get("facets"))
        self.job_facets.join(order, parts.job_facets)
        join_uses(self.inputs, order, parts.inputs)
        join_uses(self.outputs, order, parts.outputs)

    @property
    def place(self) -> RunPosition:
        """Return the position among the job's runs: by first START, or by first event without one."""
        return RunPosition(self.first_start or self.span.first, self.id.run)

    def uses(self, direction: Direction) -> Uses:
        """Return the datasets of one direction."""
        return self.inputs if direction is Direction.INPUT else self.outputs


class Declaration(NamedTuple):
    """Last job event that names any datasets, with its facets."""

    order: Order
    inputs: Uses
    outputs: Uses

    def uses(self, direction: Direction) -> Uses:
        """Return the datasets of one direction."""
        return self.inputs if direction is Direction.INPUT else self.outputs


@dataclass(slots=True)
class JobRecord:
    """One job: its runs in order, and declarations by job events.

    `starts` are all START events, sorted; `ever_declared` are the edges of all job events, `control_flow` has
    the last jobDependencies facet of any run.
    """

    id: JobId
    span: Span
    runs: dict[str, RunRecord] = field(default_factory=dict)
    starts: list[tuple[Order, str]] = field(default_factory=list)
    facets: Facets = field(default_factory=Facets)
    declared: Declaration | None = None
    declared_facets: Facets = field(default_factory=Facets)
    ever_declared: set[Edge] = field(default_factory=set)
    control_flow: Facets = field(default_factory=Facets)
    history: RunHistory = field(default_factory=RunHistory)

    def join(self, event: Event, inputs: list[JsonObject], outputs: list[JsonObject]) -> None:
        """Apply one event of this job or of one of its runs."""
        self.span.join(event.order)
        parts = EventParts(self.facets.share(event.body["job"].get("facets") or {}), inputs, outputs)
        self.facets.join(event.order, parts.job_facets)
        if event.run is None:
            self._join_declaration(event.order, parts)
            return
        if facet := (event.body["run"].get("facets") or {}).get(JOB_DEPENDENCIES):
            self.control_flow.join(event.order, {JOB_DEPENDENCIES: facet})
        run = self.runs.get(event.run.run)
        if run is None:
            run = self.runs[event.run.run] = RunRecord(event.run, Span(event.order, event.order))
            self.history.add(run.place, ())
        before = run.place
        run.join(event, parts)
        self._keep_order(run, before, _edges_of_event(parts))
        if event.event_type == "START":
            start = (event.order, event.run.run)
            at = bisect_left(self.starts, start)
            if at == len(self.starts) or self.starts[at] != start:
                insort(self.starts, start)

    def restore(self, run: RunRecord, starts: list[Order]) -> None:
        """Insert a restored run; `starts` are its START events."""
        self.runs[run.id.run] = run
        edges = [(direction, dataset) for direction in Direction for dataset in run.uses(direction)]
        self.history.add(run.place, edges)
        for order in starts:
            insort(self.starts, (order, run.id.run))

    def _join_declaration(self, order: Order, parts: EventParts) -> None:
        self.declared_facets.join(order, parts.job_facets)
        edges = _edges_of_event(parts)
        self.ever_declared.update(edges)
        if edges and (self.declared is None or self.declared.order < order):
            self.declared = Declaration(order, {}, {})
            join_uses(self.declared.inputs, order, parts.inputs)
            join_uses(self.declared.outputs, order, parts.outputs)

    def _keep_order(self, run: RunRecord, before: RunPosition, named: set[Edge]) -> None:
        """Index the edges of one event, or all of the run's if the event changed its position."""
        if run.place != before:
            named = {(direction, dataset) for direction in Direction for dataset in run.uses(direction)}
            self.history.discard(before, named)
        self.history.add(run.place, named)


def _edges_of_event(parts: EventParts) -> set[Edge]:
    return {
        (direction, DatasetId(dataset["namespace"], dataset["name"]))
        for direction, datasets in ((Direction.INPUT, parts.inputs), (Direction.OUTPUT, parts.outputs))
        for dataset in datasets
    }
