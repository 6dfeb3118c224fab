# SPDX-License-Identifier: Apache-2.0
"""What is remembered of runs, jobs and datasets: joinable values only, nothing derived."""

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
"""Which terminal event stands where a run has several: Spark sends COMPLETE after FAIL."""


class Register(NamedTuple):
    """A value and the order of the event that said it; the last in total order stands."""

    order: Order
    value: JsonObject


class Facets:
    """Facets of one thing, each a register of its own: an event changes only those that it names."""

    __slots__ = ("_registers", "_spelled")

    def __init__(self) -> None:
        self._registers: dict[str, Register] = {}
        self._spelled: dict[str, tuple[JsonObject, bytes]] = {}

    def join(self, order: Order, facets: JsonObject | None) -> None:
        """Take over every facet that comes later in total order than the one known."""
        for name, value in (facets or {}).items():
            known = self._registers.get(name)
            if known is None or known.order < order:
                self._registers[name] = Register(order, value)

    def share(self, facets: JsonObject) -> JsonObject:
        """`facets` with every value that equals a standing one replaced by it.

        Run after run says the same of a dataset; sharing keeps memory to what is new.
        """
        return {name: self._shared(name, value) for name, value in facets.items()}

    def _shared(self, name: str, value: JsonObject) -> JsonObject:
        known = self._registers.get(name)
        if known is None or known.value != value:
            return value
        # Equality alone would take true for 1; marshal (version 2 has no references) tells types apart, fast.
        spelled = self._spelled.get(name)
        if spelled is None or spelled[0] is not known.value:
            spelled = self._spelled[name] = known.value, dumps(known.value, 2)
        return known.value if spelled[1] == dumps(value, 2) else value

    @classmethod
    def of(cls, registers: dict[str, Register]) -> "Facets":
        """Facets that stand as given."""
        facets = cls()
        facets._registers = registers
        return facets

    def registers(self) -> dict[str, Register]:
        """Every register, those of deleted facets included: the whole state."""
        return self._registers

    def register(self, name: str) -> Register | None:
        """The register of one facet; None where it was never said or was deleted last."""
        register = self._registers.get(name)
        return None if register is None or register.value.get("_deleted") is True else register

    def get(self, name: str) -> JsonObject | None:
        """The standing value of one facet."""
        register = self.register(name)
        return register.value if register else None

    def values(self) -> dict[str, JsonObject]:
        """All standing facets."""
        return {name: register.value for name in self._registers if (register := self.register(name))}


def latest(name: str, *owners: Facets | None) -> JsonObject | None:
    """The facet that is last in total order among several owners of it."""
    found = [register for owner in owners if owner is not None and (register := owner.register(name))]
    return max(found, key=lambda register: register.order).value if found else None


@dataclass(slots=True)
class Span:
    """First and last event of something, in total order."""

    first: Order
    last: Order

    def join(self, order: Order) -> None:
        """Widen the span to hold one more event."""
        if order < self.first:
            self.first = order
        if order > self.last:
            self.last = order


class Parts(NamedTuple):
    """What an event says of its job and datasets; values are shared with what is known of them already."""

    job_facets: JsonObject
    inputs: list[JsonObject]
    outputs: list[JsonObject]


Uses = dict[DatasetId, Facets]
"""Datasets that a run or job names in one direction, with what it says of each."""


def join_uses(uses: Uses, order: Order, datasets: Iterable[JsonObject]) -> None:
    """Add datasets and their facets.

    The direction's own facets (inputFacets, outputFacets) describe a transfer, not a dataset: under a name that
    both have, they must not stand in for the dataset's. Nothing is derived from them; the log keeps them.
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

    def join(self, event: Event, parts: Parts) -> None:
        """Take in one more event of this run."""
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
        """Place among the runs of its job: by first START, or first event where no START is known."""
        return RunPosition(self.first_start or self.span.first, self.id.run)

    def uses(self, direction: Direction) -> Uses:
        """The datasets of one direction."""
        return self.inputs if direction is Direction.INPUT else self.outputs


class Declaration(NamedTuple):
    """The last job event that names any datasets, with what that event alone says of them."""

    order: Order
    inputs: Uses
    outputs: Uses

    def uses(self, direction: Direction) -> Uses:
        """The datasets of one direction."""
        return self.inputs if direction is Direction.INPUT else self.outputs


@dataclass(slots=True)
class JobRecord:
    """One job: its runs and their order, and what job events declare of it.

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
        """Take in one more event of this job or of one of its runs."""
        self.span.join(event.order)
        parts = Parts(self.facets.share(event.body["job"].get("facets") or {}), inputs, outputs)
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
        self._keep_order(run, before, _edges(parts))
        if event.event_type == "START":
            start = (event.order, event.run.run)
            at = bisect_left(self.starts, start)
            if at == len(self.starts) or self.starts[at] != start:
                insort(self.starts, start)

    def restore(self, run: RunRecord, starts: list[Order]) -> None:
        """Put in a run that is known as a whole; `starts` are its START events."""
        self.runs[run.id.run] = run
        edges = [(direction, dataset) for direction in Direction for dataset in run.uses(direction)]
        self.history.add(run.place, edges)
        for order in starts:
            insort(self.starts, (order, run.id.run))

    def _join_declaration(self, order: Order, parts: Parts) -> None:
        self.declared_facets.join(order, parts.job_facets)
        edges = _edges(parts)
        self.ever_declared.update(edges)
        if edges and (self.declared is None or self.declared.order < order):
            self.declared = Declaration(order, {}, {})
            join_uses(self.declared.inputs, order, parts.inputs)
            join_uses(self.declared.outputs, order, parts.outputs)

    def _keep_order(self, run: RunRecord, before: RunPosition, named: set[Edge]) -> None:
        """Note the edges of one more event; all of the run's where the event has moved its beginning."""
        if run.place != before:
            named = {(direction, dataset) for direction in Direction for dataset in run.uses(direction)}
            self.history.discard(before, named)
        self.history.add(run.place, named)


def _edges(parts: Parts) -> set[Edge]:
    return {
        (direction, DatasetId(dataset["namespace"], dataset["name"]))
        for direction, datasets in ((Direction.INPUT, parts.inputs), (Direction.OUTPUT, parts.outputs))
        for dataset in datasets
    }


class DatasetVersion(NamedTuple):
    """A state of a dataset that an emitter told apart: by its columns, or by the `version` facet's datasetVersion.

    `order` is the first event that said it, `run` the run that sent it (None: a dataset event).
    """

    order: Order
    run: RunId | None
    fields: list[JsonObject]
    version: str | None


class DatasetStatement(NamedTuple):
    """What one event says of a dataset's state; None where it does not speak of columns or version."""

    order: Order
    run: RunId | None
    read: bool
    fields: list[JsonObject] | None
    version: str | None

    @property
    def key(self) -> bytes:
        """Equal for sayings that say the same."""
        return canonical_json([self.read, self.fields, self.version])


@dataclass(slots=True)
class DatasetRecord:
    """One dataset: what all events together say of it.

    A schema said by a writer (or by a dataset event) stands before one said by a reader, who may see a part.
    `statements` holds the first of equal ones.
    """

    id: DatasetId
    span: Span
    facets: Facets = field(default_factory=Facets)
    read_facets: Facets = field(default_factory=Facets)
    statements: dict[bytes, DatasetStatement] = field(default_factory=dict)
    _versions: list[DatasetVersion] | None = None
    _last_statement: tuple[JsonObject | None, JsonObject | None, bool, Order] | None = None

    def join(self, order: Order, dataset: JsonObject, read: bool, run: RunId | None) -> JsonObject:
        """Take in what one event (of `run`, if any) says of this dataset; `read` where it is an input.

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
        """All standing facets, the reader's schema included where no writer gave one."""
        return {**self.read_facets.values(), **self.facets.values()}

    def fields(self) -> list[JsonObject]:
        """The schema's columns as the facet has them; empty where the schema is unknown."""
        fields: list[JsonObject] = self.all_facets().get("schema", {}).get("fields") or []
        return fields

    def versions(self) -> list[DatasetVersion]:
        """The dataset's versions, oldest first; readers are heard where no writer says anything.

        What an event leaves out (columns, version) is as it was before. Not to be changed.
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
                versions.append(DatasetVersion(saying.order, saying.run, fields, version))
        return versions

    def _join_statement(self, order: Order, run: RunId | None, read: bool, facets: JsonObject) -> None:
        words = facets.get("schema"), facets.get("version")
        last = self._last_statement
        # Equal facets are shared, so that run after run says it with the very same objects.
        if last and last[0] is words[0] and last[1] is words[1] and last[2] is read and last[3] < order:
            return
        self._last_statement = (*words, read, order)
        fields = (_standing(facets, "schema") or {}).get("fields")
        version = (_standing(facets, "version") or {}).get("datasetVersion")
        if fields is None and not isinstance(version, str):
            return
        saying = DatasetStatement(order, run, read, fields, version if isinstance(version, str) else None)
        key = saying.key
        known = self.statements.get(key)
        if known is None or saying.order < known.order:
            self.statements[key] = saying
            self._versions = None


def _standing(facets: JsonObject, name: str) -> JsonObject | None:
    facet: JsonObject | None = facets.get(name)
    return None if facet is None or facet.get("_deleted") is True else facet
