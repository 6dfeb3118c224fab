# SPDX-License-Identifier: Apache-2.0
"""A job's current lineage, derived from its record: datasets, flows between them, columns, vanished edges."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from sys import intern
from typing import NamedTuple

from lineage.events.ids import DatasetId, JobId, JsonObject
from lineage.graph.column_edges import ColumnEdge, ColumnEdges
from lineage.graph.current_runs import current_runs
from lineage.graph.facet_references import lineage_sources
from lineage.graph.job_dependencies import JobDependency, job_dependencies
from lineage.graph.job_record import JOB_DEPENDENCIES, JobRecord
from lineage.graph.mergeable import Facets, Register
from lineage.graph.run_history import Direction, Edge
from lineage.graph.run_record import RunRecord
from lineage.graph.vanished_edges import VanishedEdge, vanished_edges


class DataFlow(NamedTuple):
    """Data of `source` reaches `output` through a job."""

    source: DatasetId
    output: DatasetId


class JobLineage(NamedTuple):
    """Current lineage of a job.

    `latest_run` is the UUID of its latest run, with or without datasets.
    """

    inputs: frozenset[DatasetId]
    outputs: frozenset[DatasetId]
    flows: frozenset[DataFlow]
    columns: Collection[ColumnEdge]
    vanished: tuple[VanishedEdge, ...]
    latest_run: str | None
    dependencies: frozenset[JobDependency] = frozenset()
    """Dependencies between jobs that the job states, on itself or on others."""
    unknown: frozenset[tuple[DatasetId, str]] = frozenset()
    """Columns of outputs of which the emitter does not know, or not fully, what they are made of."""

    @property
    def masked(self) -> frozenset[tuple[DatasetId, str]]:
        """Return the columns that the job fills with masked values."""
        if isinstance(self.columns, ColumnEdges):
            return self.columns.masked
        return frozenset((edge.output, edge.field) for edge in self.columns if edge.masking and edge.field is not None)


EMPTY_JOB_LINEAGE = JobLineage(
    inputs=frozenset(), outputs=frozenset(), flows=frozenset(), columns=frozenset(), vanished=(), latest_run=None
)
"""Lineage of an unknown job."""


NodeOf = Callable[[DatasetId], DatasetId]
"""Resolution of the name of a dataset to its node."""

DROPPED = "the dataset was dropped"


def same_node(name: DatasetId) -> DatasetId:
    """Return the name: the resolution where every name is a node."""
    return name


def without_dropped(lineage: JobLineage, dropped: Mapping[DatasetId, int]) -> JobLineage:
    """Return the lineage without dropped datasets, given with the time (ns) of the drop; their edges vanished."""
    gone = [
        VanishedEdge(direction, dataset, dropped[dataset], DROPPED, None)
        for direction, datasets in ((Direction.INPUT, lineage.inputs), (Direction.OUTPUT, lineage.outputs))
        for dataset in datasets
        if dataset in dropped
    ]
    return lineage._replace(
        inputs=lineage.inputs.difference(dropped),
        outputs=lineage.outputs.difference(dropped),
        flows=frozenset(flow for flow in lineage.flows if dropped.keys().isdisjoint(flow)),
        columns=frozenset(edge for edge in lineage.columns if dropped.keys().isdisjoint((edge.output, edge.source))),
        unknown=frozenset(column for column in lineage.unknown if column[0] not in dropped),
        vanished=tuple(sorted((*lineage.vanished, *gone))),
    )


class _RunLineage(NamedTuple):
    """Datasets of one run, together with those that a declaration adds, and the stated lineage of each output.

    `names` are the datasets as events name them; `inputs` and `stated` are by node.
    """

    names: dict[Direction, frozenset[DatasetId]]
    inputs: frozenset[DatasetId]
    stated: dict[DatasetId, "_OutputLineage"]


def derive_job_lineage(job: JobRecord, node_of: NodeOf = same_node) -> JobLineage:
    """Derive the current lineage of a job from its current runs (see `current_runs`) and declarations by job events.

    Datasets in it are nodes: the names that events use are resolved by `node_of`.

    A declaration applies together with the runs. An authoritative run that began later takes precedence: in each
    direction in which it names any dataset, datasets that it omits have vanished; in a direction in which it names
    none, the declaration applies. Facets of a declaration stay in effect, except for vanished sources.
    """
    latest, runs = job.history.runs.last(), current_runs(job)
    declared = {direction: _declared_datasets(job, runs.authoritative, direction) for direction in Direction}
    owners: tuple[RunRecord | None, ...] = runs.runs or (None,)
    by_run = [_lineage_of_run(job, run, declared, node_of) for run in owners]
    names = {side: frozenset(name for found in by_run for name in found.names[side]) for side in Direction}
    current = {side: frozenset(map(node_of, names[side])) for side in Direction}
    return JobLineage(
        inputs=current[Direction.INPUT],
        outputs=current[Direction.OUTPUT],
        flows=frozenset(_all_flows(by_run)),
        columns=frozenset(edge for found in by_run for said in found.stated.values() for edge in said.columns),
        unknown=frozenset(
            (output, name) for found in by_run for output, said in found.stated.items() for name in said.unknown
        ),
        vanished=tuple(sorted(_by_node(vanished_edges(job, names), current, node_of))),
        latest_run=latest.run if latest else None,
        dependencies=job_dependencies(job.id, job.control_flow.get(JOB_DEPENDENCIES), job.facets.get("lineage")),
    )


def _declared_datasets(job: JobRecord, run: RunRecord | None, direction: Direction) -> frozenset[DatasetId]:
    """Return the declared datasets that the last authoritative run has not replaced."""
    if job.declared is None or (run is not None and run.uses(direction) and run.place.order > job.declared.order):
        return frozenset()
    return frozenset(job.declared.uses(direction))


def _lineage_of_run(
    job: JobRecord, run: RunRecord | None, declared: dict[Direction, frozenset[DatasetId]], node_of: NodeOf
) -> _RunLineage:
    names = {side: declared[side].union(run.uses(side) if run else ()) for side in Direction}
    inputs = frozenset(map(node_of, names[Direction.INPUT]))
    stated: dict[DatasetId, _OutputLineage] = {}
    for name in names[Direction.OUTPUT]:
        output, said = node_of(name), _lineage_of(job, run, inputs, name, node_of)
        stated[output] = stated[output].merged(said) if output in stated else said
    return _RunLineage(names, inputs, stated)


class _OutputLineage(NamedTuple):
    """Lineage of one output stated by facets. `sources` is None if no facet states which inputs feed it."""

    sources: frozenset[DatasetId] | None
    complete: bool
    columns: list[ColumnEdge]
    unknown: frozenset[str] = frozenset()

    def only(self, inputs: frozenset[DatasetId]) -> "_OutputLineage":
        """Return the part whose sources are among `inputs`; the facet may predate some of these."""
        sources = (self.sources or frozenset()) & inputs
        return _OutputLineage(
            sources or None, False, [edge for edge in self.columns if edge.source in inputs], self.unknown
        )

    def merged(self, other: "_OutputLineage") -> "_OutputLineage":
        """Return both parts, of two names of one output; a name without any stated sources adds nothing."""
        unknown = self.unknown | other.unknown
        if self.sources is None or other.sources is None:
            return (other if self.sources is None else self)._replace(unknown=unknown)
        complete = self.complete and other.complete
        return _OutputLineage(self.sources | other.sources, complete, [*self.columns, *other.columns], unknown)


class _EffectiveFacet(NamedTuple):
    """Effective facet; `outdated` if it was stated before a run, or a complete snapshot of it, named other inputs."""

    facet: JsonObject
    outdated: bool


def _lineage_of(
    job: JobRecord, run: RunRecord | None, inputs: frozenset[DatasetId], output: DatasetId, node_of: NodeOf
) -> _OutputLineage:
    """Return the lineage of one output. The lineage facet, complete for its target, supersedes columnLineage."""
    by_run = run.named_outputs.get(output) if run else None
    declared = job.declared.outputs.get(output) if job.declared else None
    node = node_of(output)
    by_columns = _latest_facet("columnLineage", run, by_run, declared)
    unknown = _unknown_columns(by_columns.facet) if by_columns else frozenset()
    said = _entries_for(job, run, node, node_of) or _latest_facet("lineage", run, by_run, declared)
    if said is not None:
        stated = _from_lineage(job.id, node, said.facet, node_of)
    elif said := by_columns:
        stated = _from_column_lineage(job.id, node, said.facet, node_of)
    else:
        return _OutputLineage(None, False, [])
    return (stated.only(inputs) if said.outdated else stated)._replace(unknown=unknown)


def _unknown_columns(facet: JsonObject) -> frozenset[str]:
    """Return the columns that a columnLineage facet of the lab's emitters lists as unknown."""
    found = facet.get("unknownFields")
    return frozenset(name for name in found if isinstance(name, str)) if isinstance(found, list) else frozenset()


def _latest_facet(
    name: str, run: RunRecord | None, by_run: Facets | None, declared: Facets | None
) -> _EffectiveFacet | None:
    """Return the later, in total order, of the run's facet and the declared one."""
    from_run = by_run.register(name) if by_run else None
    return _later_facet(run, from_run, declared.register(name) if declared else None)


def _later_facet(run: RunRecord | None, from_run: Register | None, declared: Register | None) -> _EffectiveFacet | None:
    if run is not None and from_run is not None and (declared is None or declared.order < from_run.order):
        replaced = run.replaced.get(Direction.INPUT)
        return _EffectiveFacet(from_run.value, outdated=replaced is not None and from_run.order < replaced)
    if declared is None:
        return None
    outdated = run is not None and bool(run.inputs) and run.place.order > declared.order
    return _EffectiveFacet(declared.value, outdated)


def _entries_for(job: JobRecord, run: RunRecord | None, output: DatasetId, node_of: NodeOf) -> _EffectiveFacet | None:
    """Merge all entries of the job's lineage facet for one target."""
    declared = job.declared_facets.register("lineage")
    if declared is not None and job.declared is not None and declared.order < job.declared.order:
        declared = None
    said = _later_facet(run, run.job_facets.register("lineage") if run else None, declared)
    entries = [
        entry
        for entry in (said.facet.get("entries") if said else None) or ()
        if entry["type"] == "DATASET" and node_of(DatasetId(entry["namespace"], entry["name"])) == output
    ]
    return _EffectiveFacet(_merge_entries(entries), said.outdated) if said and entries else None


def _merge_entries(entries: Iterable[JsonObject]) -> JsonObject:
    inputs: list[JsonObject] = []
    fields: dict[str, JsonObject] = {}
    for entry in entries:
        inputs += entry.get("inputs") or ()
        for name, field in (entry.get("fields") or {}).items():
            known = fields.setdefault(name, {"inputs": []})
            known["inputs"] += field.get("inputs") or ()
    return {"inputs": inputs, "fields": fields}


def _from_lineage(job: JobId, output: DatasetId, facet: JsonObject, node_of: NodeOf) -> _OutputLineage:
    sources = frozenset(node_of(DatasetId(source["namespace"], source["name"])) for source in lineage_sources(facet))
    columns: list[ColumnEdge] = []
    targets: list[tuple[str | None, Iterable[JsonObject]]] = [(None, facet.get("inputs") or ())]
    targets += [(name, field.get("inputs") or ()) for name, field in (facet.get("fields") or {}).items()]
    for field_name, inputs in targets:
        for source in inputs:
            if source["type"] == "DATASET" and source.get("field"):
                columns += _column_edges(job, output, field_name, source, None, node_of)
    return _OutputLineage(sources, True, columns)


def _from_column_lineage(job: JobId, output: DatasetId, facet: JsonObject, node_of: NodeOf) -> _OutputLineage:
    columns: list[ColumnEdge] = []
    for name, field in (facet.get("fields") or {}).items():
        for source in field["inputFields"]:
            columns += _column_edges(job, output, name, source, field.get("transformationType"), node_of)
    for source in facet.get("dataset") or ():
        columns += _column_edges(job, output, None, source, None, node_of)
    return _OutputLineage(frozenset(edge.source for edge in columns) or None, False, columns)


def _column_edges(
    job: JobId,
    output: DatasetId,
    field: str | None,
    source: JsonObject,
    deprecated_type: str | None,
    node_of: NodeOf,
) -> Iterator[ColumnEdge]:
    origin = node_of(_dataset_id(source["namespace"], source["name"]))
    transformations = source.get("transformations") or [_from_deprecated(deprecated_type)]
    for transformation in transformations:
        yield ColumnEdge(
            job=job,
            output=output,
            field=_interned(field),
            source=origin,
            source_field=intern(source["field"]),
            type=_interned(transformation.get("type")),
            subtype=_interned(transformation.get("subtype")),
            masking=transformation.get("masking") is True,
        )


_dataset_id = lru_cache(1024)(DatasetId)
"""Returns one object for equal identities, which repeat in many edges."""


def _interned(text: str | None) -> str | None:
    """Return one object for equal strings, which repeat in many edges; any other value unchanged."""
    return intern(text) if isinstance(text, str) else text


def _from_deprecated(transformation_type: str | None) -> JsonObject:
    """Map the transformationType of facets before version 1-1-0: IDENTITY or MASKED per column."""
    match transformation_type:
        case "IDENTITY":
            return {"type": "DIRECT", "subtype": "IDENTITY"}
        case "MASKED":
            return {"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": True}
        case _:
            return {}


def _all_flows(by_run: list[_RunLineage]) -> Iterator[DataFlow]:
    if len(by_run) == 1:
        yield from _data_flows(by_run[0].inputs, by_run[0].stated)
        return
    told_inputs: dict[DatasetId, set[DatasetId]] = {}
    for found in by_run:
        for output, said in found.stated.items():
            if said.sources is not None:
                told_inputs.setdefault(output, set()).update(found.inputs)
    for found in by_run:
        stated = {output: _without_told(found, output, said, told_inputs) for output, said in found.stated.items()}
        yield from _data_flows(found.inputs, stated)


def _without_told(
    found: _RunLineage, output: DatasetId, said: _OutputLineage, told_inputs: dict[DatasetId, set[DatasetId]]
) -> _OutputLineage:
    """Return the stated lineage of an output; without any, what other runs do not state about the same inputs.

    A run that has just started has often no facets yet: it must not connect every input to every output while another
    run states the edges.
    """
    if said.sources is not None or output not in told_inputs:
        return said
    return _OutputLineage(found.inputs - told_inputs[output], True, [])


def _data_flows(inputs: frozenset[DatasetId], stated: dict[DatasetId, _OutputLineage]) -> Iterator[DataFlow]:
    """Yield which input feeds which output.

    Facets take precedence. An input that no output's columns name (a `count(*)`, an opaque reader) is assumed to feed
    every output whose sources are not complete.
    """
    spoken_of: set[DatasetId] = set()
    for said in stated.values():
        spoken_of.update(said.sources or ())
    for output, said in stated.items():
        if said.complete:
            sources = said.sources or frozenset()
        elif said.sources is None:
            sources = inputs
        else:
            sources = said.sources | (inputs - spoken_of)
        yield from (DataFlow(source, output) for source in sources)


def _by_node(
    vanished: Iterable[VanishedEdge], current: dict[Direction, frozenset[DatasetId]], node_of: NodeOf
) -> Iterable[VanishedEdge]:
    """Return the last removal of each edge to a node; an edge that is current under another name has not vanished."""
    found: dict[Edge, VanishedEdge] = {}
    for edge in vanished:
        key = (edge.direction, node_of(edge.dataset))
        if key[1] in current[edge.direction]:
            continue
        known = found.get(key)
        if known is None or (known.since, known.reason) < (edge.since, edge.reason):
            found[key] = edge._replace(dataset=key[1])
    return found.values()
