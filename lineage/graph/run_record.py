# SPDX-License-Identifier: Apache-2.0
"""Records of runs: mergeable values only, nothing derived."""

from dataclasses import dataclass, field
from typing import NamedTuple

from lineage.events.event import Event, Order
from lineage.events.ids import DatasetId, JsonObject, RunId
from lineage.events.own_facets import REFUSED_FACET
from lineage.graph.dataset_uses import Uses, join_uses
from lineage.graph.mergeable import Facets, Span
from lineage.graph.processing import states_complete_snapshot, states_streaming
from lineage.graph.run_history import Authority, Direction, RunEntry, RunPosition

TERMINAL_RANK = {"COMPLETE": 1, "ABORT": 2, "FAIL": 3}
"""Precedence of terminal events of one run: Spark sends COMPLETE after FAIL."""


_DIRECTIONS = tuple(Direction)
"""Iterating over the enumeration takes longer."""


class EventParts(NamedTuple):
    """Facets and datasets of an event; values are shared with equal known ones."""

    job_facets: JsonObject
    inputs: list[JsonObject]
    outputs: list[JsonObject]


@dataclass(slots=True)
class RunRecord:
    """One run. `terminal` is its strongest terminal event: rank, order, event type.

    `named_inputs` and `named_outputs` are all datasets that the run ever named; `replaced` is its last complete
    snapshot per direction. `completed` is its last COMPLETE event that does not stand for a refused one. `claimed` is
    the latest event time (ns) that was in the future when it arrived, and so clamped. `stated` is its last event that
    makes a streaming run authoritative: a RUNNING event with datasets, or a complete snapshot.
    """

    id: RunId
    span: Span
    first_start: Order | None = None
    last_start: Order | None = None
    ran: bool = False
    terminal: tuple[int, Order, str] | None = None
    completed: Order | None = None
    claimed: int | None = None
    stated: Order | None = None
    replaced: dict[Direction, Order] = field(default_factory=dict)
    facets: Facets = field(default_factory=Facets)
    job_facets: Facets = field(default_factory=Facets)
    named_inputs: Uses = field(default_factory=dict)
    named_outputs: Uses = field(default_factory=dict)
    entry: RunEntry | None = None

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
        facets = event.body["run"].get("facets")
        if event.event_type == "COMPLETE" and REFUSED_FACET not in (facets or ()):
            self.completed = max(self.completed or order, order)
        if event.clamped:
            self.claimed = max(self.claimed or 0, event.original.time)
        self.facets.join(order, facets)
        self.job_facets.join(order, parts.job_facets)
        join_uses(self.named_inputs, order, Direction.INPUT, parts.inputs)
        join_uses(self.named_outputs, order, Direction.OUTPUT, parts.outputs)
        self._join_statement(event, parts)

    @property
    def place(self) -> RunPosition:
        """Return the position among the job's runs: by first START, or by first event without one."""
        return RunPosition(self.first_start or self.span.first, self.id.run)

    @property
    def is_short(self) -> bool:
        """Return whether the run states that it is a batch run, which has few events."""
        return states_streaming(self.job_facets.get("jobType")) is False

    @property
    def inputs(self) -> Uses:
        """Return the current inputs."""
        return self.uses(Direction.INPUT)

    @property
    def outputs(self) -> Uses:
        """Return the current outputs."""
        return self.uses(Direction.OUTPUT)

    def named(self, direction: Direction) -> Uses:
        """Return all datasets of one direction that the run ever named."""
        return self.named_inputs if direction is Direction.INPUT else self.named_outputs

    def uses(self, direction: Direction) -> Uses:
        """Return the current datasets of one direction: those of the last complete snapshot and named since."""
        named, replaced = self.named(direction), self.replaced.get(direction)
        if replaced is None:
            return named
        return {dataset: use for dataset, use in named.items() if use.last >= replaced}

    def transfer_facets(self, direction: Direction, dataset: DatasetId) -> JsonObject:
        """Return the inputFacets or outputFacets of a dataset, by name; the last one stated of each."""
        use = self.named(direction).get(dataset)
        return {} if use is None or use.transfer is None else use.transfer.values()

    def indexed(self) -> RunEntry:
        """Return the entry of this run in the history of its job."""
        place, before = self.place, self.entry
        size = len(self.named_inputs) + len(self.named_outputs)
        if before is not None and not self.replaced and len(before.edges) == size:
            edges, dropped = before.edges, before.dropped
        else:
            edges = frozenset((side, dataset) for side in _DIRECTIONS for dataset in self.uses(side))
            every = frozenset((side, dataset) for side in _DIRECTIONS for dataset in self.named(side))
            dropped = every - edges
        streaming = states_streaming(self.job_facets.get("jobType"))
        is_open = self.terminal is None and streaming is not False
        return RunEntry(
            place,
            edges,
            dropped,
            self._authority(streaming),
            RunPosition(self.span.last, self.id.run) if is_open else None,
        )

    def _join_statement(self, event: Event, parts: EventParts) -> None:
        """Note a complete statement of datasets.

        A START or a terminal event without datasets replaces nothing, also where the job's facet announces complete
        snapshots: it is not about a window of time.
        """
        order, running = event.order, event.event_type == "RUNNING"
        names_any = bool(parts.inputs or parts.outputs)
        if not (running or names_any):
            return
        complete = states_complete_snapshot(parts.job_facets)
        if complete or (running and names_any):
            self.stated = max(self.stated or order, order)
        if complete:
            for direction, key in ((Direction.INPUT, "inputs"), (Direction.OUTPUT, "outputs")):
                if event.body.get(key) is not None:
                    self.replaced[direction] = max(self.replaced.get(direction, order), order)

    def _authority(self, streaming: bool | None) -> tuple[Authority, ...]:
        """Return the conditions under which this run is authoritative; `streaming` if it states its own type."""
        named = bool(self.named_inputs or self.named_outputs)
        completed = (
            streaming is not True
            and self.terminal is not None
            and self.terminal[2] == "COMPLETE"
            and self.completed is not None
        )
        # A run that has named nothing yet says nothing about edges, also where it announces complete snapshots: queries
        # that have not written yet say RUNNING, too.
        completed, stated = completed and named, streaming is not False and self.stated is not None and named
        if not (completed or stated):
            return ()
        if streaming is not None:
            return (Authority.ALWAYS,)
        found = ((Authority.IN_BATCH_JOB, completed), (Authority.IN_STREAMING_JOB, stated))
        return tuple(authority for authority, holds in found if holds)
