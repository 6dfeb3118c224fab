# SPDX-License-Identifier: Apache-2.0
"""Records of runs, jobs and datasets: mergeable values only, nothing derived."""

from bisect import bisect_left, insort
from collections.abc import Iterable
from dataclasses import dataclass, field
from marshal import dumps
from typing import NamedTuple

from lineage.events.event import Event, Order
from lineage.events.ids import DatasetId, JobId, JsonObject, RunId
from lineage.events.strict_json import canonical_json
from lineage.graph.run_history import Direction, Edge, RunHistory, RunPosition

TERMINAL_RANK = {"COMPLETE": 1, "ABORT": 2, "FAIL": 3}
"""Precedence of terminal events of one run: Spark sends COMPLETE after FAIL."""


class Register(NamedTuple):
    """Last-writer-wins register: a value and the order of its event."""

    order: Order
    value: JsonObject


class Facets:
    """Facets of one job, run or dataset, each in its own register: an event changes only those that it carries."""

    __slots__ = ("_registers", "_spelled")

    def __init__(self) -> None:
        self._registers: dict[str, Register] = {}
        self._spelled: dict[str, tuple[JsonObject, bytes]] = {}

    def join(self, order: Order, facets: JsonObject | None) -> None:
        """Merge facets: the later one in total order wins."""
        for name, value in (facets or {}).items():
            known = self._registers.get(name)
            if known is None or known.order < order:
                self._registers[name] = Register(order, value)

    def share(self, facets: JsonObject) -> JsonObject:
        """Return `facets` with every value that equals the current one replaced by that object.

        Runs repeat the same facets; sharing them saves memory.
        """
        return {name: self._shared_value(name, value) for name, value in facets.items()}

    def _shared_value(self, name: str, value: JsonObject) -> JsonObject:
        known = self._registers.get(name)
        if known is None or known.value != value:
            return value
        # `==` treats True and 1 as equal; marshal (version 2 has no references) distinguishes types, fast.
        spelled = self._spelled.get(name)
        if spelled is None or spelled[0] is not known.value:
            spelled = self._spelled[name] = known.value, dumps(known.value, 2)
        return known.value if spelled[1] == dumps(value, 2) else value

    @classmethod
    def of(cls, registers: dict[str, Register]) -> "Facets":
        """Create facets from registers."""
        facets = cls()
        facets._registers = registers
        return facets

    def registers(self) -> dict[str, Register]:
        """Return every register, including those of deleted facets."""
        return self._registers

    def register(self, name: str) -> Register | None:
        """Return the register of one facet; None if it is unknown or deleted."""
        register = self._registers.get(name)
        return None if register is None or register.value.get("_deleted") is True else register

    def get(self, name: str) -> JsonObject | None:
        """Return the current value of one facet, or None."""
        register = self.register(name)
        return register.value if register else None

    def values(self) -> dict[str, JsonObject]:
        """Return all current facets."""
        return {name: register.value for name in self._registers if (register := self.register(name))}


def latest(name: str, *owners: Facets | None) -> JsonObject | None:
    """Return the last facet, in total order, of several owners."""
    found = [register for owner in owners if owner is not None and (register := owner.register(name))]
    return max(found, key=lambda register: register.order).value if found else None


@dataclass(slots=True)
class Span:
    """First and last event of a record, in total order."""

    first: Order
    last: Order

    def join(self, order: Order) -> None:
        """Extend the span by one event."""
        if order < self.first:
            self.first = order
        if order > self.last:
            self.last = order


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

    `starts` are all START events, sorted; `ever_declared` are the edges of all job events.
    """

    id: JobId
    span: Span
    runs: dict[str, RunRecord] = field(default_factory=dict)
    starts: list[tuple[Order, str]] = field(default_factory=list)
    facets: Facets = field(default_factory=Facets)
    declared: Declaration | None = None
    declared_facets: Facets = field(default_factory=Facets)
    ever_declared: set[Edge] = field(default_factory=set)
    history: RunHistory = field(default_factory=RunHistory)

    def join(self, event: Event, inputs: list[JsonObject], outputs: list[JsonObject]) -> None:
        """Apply one event of this job or of one of its runs."""
        self.span.join(event.order)
        parts = EventParts(self.facets.share(event.body["job"].get("facets") or {}), inputs, outputs)
        self.facets.join(event.order, parts.job_facets)
        if event.run is None:
            self._join_declaration(event.order, parts)
            return
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


class DatasetVersion(NamedTuple):
    """State of a dataset, identified by its columns or by the `version` facet's datasetVersion.

    `order` is the first event with it, `run` the run that sent it (None: a dataset event).
    """

    order: Order
    run: RunId | None
    fields: list[JsonObject]
    version: str | None


class DatasetStatement(NamedTuple):
    """Columns and version of a dataset that one event states; None if it omits them."""

    order: Order
    run: RunId | None
    read: bool
    fields: list[JsonObject] | None
    version: str | None

    @property
    def key(self) -> bytes:
        """Return a key that is equal for equal statements."""
        return canonical_json([self.read, self.fields, self.version])


@dataclass(slots=True, kw_only=True)
class DatasetRecord:
    """One dataset: state merged from all events.

    A schema of a writer (or dataset event) takes precedence over a reader's, which may be partial.
    `statements` holds the first of equal statements.
    """

    id: DatasetId
    span: Span
    facets: Facets = field(default_factory=Facets)
    read_facets: Facets = field(default_factory=Facets)
    statements: dict[bytes, DatasetStatement] = field(default_factory=dict)
    _versions: list[DatasetVersion] | None = None
    _last_statement: tuple[JsonObject | None, JsonObject | None, bool, Order] | None = None

    def join(self, order: Order, dataset: JsonObject, read: bool, run: RunId | None) -> JsonObject:
        """Apply the facets of one event (of `run`, if any); `read` if the dataset is an input.

        Returns `dataset` with facets shared.
        """
        self.span.join(order)
        facets = self.facets.share(self.read_facets.share(dataset.get("facets") or {}))
        if not facets:
            return {**dataset, "facets": facets}
        if read and "schema" in facets:
            self.read_facets.join(order, {"schema": facets["schema"]})
            self.facets.join(order, {name: facet for name, facet in facets.items() if name != "schema"})
        else:
            self.facets.join(order, facets)
        self._join_statement(order, run, read, facets)
        return {**dataset, "facets": facets}

    def all_facets(self) -> dict[str, JsonObject]:
        """Return all current facets, with a reader's schema if no writer stated one."""
        return {**self.read_facets.values(), **self.facets.values()}

    def fields(self) -> list[JsonObject]:
        """Return the schema's columns; empty if unknown."""
        fields: list[JsonObject] = self.all_facets().get("schema", {}).get("fields") or []
        return fields

    def versions(self) -> list[DatasetVersion]:
        """Return the dataset's versions, oldest first; statements of readers count only if no writer made one.

        Columns or version that an event omits are unchanged. The list must not be modified.
        """
        if self._versions is None:
            self._versions = self._derived_versions()
        return self._versions

    def _derived_versions(self) -> list[DatasetVersion]:
        statements = [said for _, said in sorted(self.statements.items(), key=lambda item: (item[1].order, item[0]))]
        versions: list[DatasetVersion] = []
        fields: list[JsonObject] = []
        version: str | None = None
        for saying in [saying for saying in statements if not saying.read] or statements:
            fields = fields if saying.fields is None else saying.fields
            version = saying.version or version
            if not versions or (versions[-1].fields, versions[-1].version) != (fields, version):
                versions.append(DatasetVersion(order=saying.order, run=saying.run, fields=fields, version=version))
        return versions

    def _join_statement(self, order: Order, run: RunId | None, read: bool, facets: JsonObject) -> None:
        words = facets.get("schema"), facets.get("version")
        last = self._last_statement
        # Equal facets are shared: repeated statements carry identical objects.
        if last and last[0] is words[0] and last[1] is words[1] and last[2] is read and last[3] < order:
            return
        self._last_statement = (*words, read, order)
        fields = (_facet_if_present(facets, "schema") or {}).get("fields")
        version = (_facet_if_present(facets, "version") or {}).get("datasetVersion")
        if fields is None and not isinstance(version, str):
            return
        saying = DatasetStatement(
            order=order, run=run, read=read, fields=fields, version=version if isinstance(version, str) else None
        )
        key = saying.key
        known = self.statements.get(key)
        if known is None or saying.order < known.order:
            self.statements[key] = saying
            self._versions = None


def _facet_if_present(facets: JsonObject, name: str) -> JsonObject | None:
    facet: JsonObject | None = facets.get(name)
    return None if facet is None or facet.get("_deleted") is True else facet
