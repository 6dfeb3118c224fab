# SPDX-License-Identifier: Apache-2.0
"""A job's current lineage, derived from its record: datasets, flows between them, columns, vanished edges."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from lineage.events.ids import DatasetId, JobId, JsonObject
from lineage.fold.records import Facets, JobRecord, RunRecord, latest


class ColumnEdge(NamedTuple):
    """A column of `output` (None: the dataset as a whole) depends on a column of `source`.

    `type` is DIRECT or INDIRECT; None where the emitter does not say.
    """

    job: JobId
    output: DatasetId
    field: str | None
    source: DatasetId
    source_field: str
    type: str | None
    subtype: str | None
    masking: bool


class Flow(NamedTuple):
    """Data of `source` reaches `output` through a job."""

    source: DatasetId
    output: DatasetId


class VanishedEdge(NamedTuple):
    """An edge that the job once had. `since` is the time (ns) of what last showed it without the edge."""

    direction: str
    dataset: DatasetId
    since: int
    reason: str


class JobView(NamedTuple):
    """A job as it stands now. `latest_run` is its latest run, whether or not that run named datasets."""

    inputs: frozenset[DatasetId]
    outputs: frozenset[DatasetId]
    flows: frozenset[Flow]
    columns: frozenset[ColumnEdge]
    vanished: tuple[VanishedEdge, ...]
    latest_run: RunRecord | None


def view_of(job: JobRecord) -> JobView:
    """The current lineage of a job: that of its latest run with any datasets, and what job events declare."""
    runs = sorted(job.runs.values(), key=lambda run: run.place)
    with_edges = [run for run in runs if run.has_edges]
    run = with_edges[-1] if with_edges else None
    inputs = frozenset(run.inputs if run else ()) | (job.declared.inputs if job.declared else frozenset())
    outputs = frozenset(run.outputs if run else ()) | (job.declared.outputs if job.declared else frozenset())
    columns: set[ColumnEdge] = set()
    stated: dict[DatasetId, _Stated] = {}
    for output in outputs:
        stated[output] = _lineage_of(job, run, output)
        columns.update(stated[output].columns)
    return JobView(
        inputs,
        outputs,
        frozenset(_flows(inputs, stated)),
        frozenset(columns),
        tuple(_vanished(job, with_edges, inputs, outputs)),
        runs[-1] if runs else None,
    )


class _Stated(NamedTuple):
    """What facets say of one output. `sources` is None where nothing says which inputs feed it."""

    sources: frozenset[DatasetId] | None
    complete: bool
    columns: list[ColumnEdge]


def _lineage_of(job: JobRecord, run: RunRecord | None, output: DatasetId) -> _Stated:
    """The lineage facet, which is complete for its target, supersedes columnLineage."""
    owners = (run.outputs.get(output) if run else None, job.declared_outputs.get(output))
    facet = _lineage_entry(job, run, output) or latest("lineage", *owners)
    if facet is not None:
        return _from_lineage(job.id, output, facet)
    facet = latest("columnLineage", *owners)
    columns = list(_from_column_lineage(job.id, output, facet)) if facet else []
    sources = frozenset(edge.source for edge in columns)
    return _Stated(sources or None, False, columns)


def _lineage_entry(job: JobRecord, run: RunRecord | None, output: DatasetId) -> JsonObject | None:
    owners: tuple[Facets | None, ...] = (run.job_facets if run else None, job.declared_facets)
    for entry in (latest("lineage", *owners) or {}).get("entries") or ():
        if entry["type"] == "DATASET" and (entry["namespace"], entry["name"]) == output:
            found: JsonObject = entry
            return found
    return None


def _from_lineage(job: JobId, output: DatasetId, facet: JsonObject) -> _Stated:
    sources: set[DatasetId] = set()
    columns: list[ColumnEdge] = []
    targets: list[tuple[str | None, Iterable[JsonObject]]] = [(None, facet.get("inputs") or ())]
    targets += [(name, field.get("inputs") or ()) for name, field in (facet.get("fields") or {}).items()]
    for field_name, inputs in targets:
        for source in inputs:
            if source["type"] != "DATASET":
                continue
            sources.add(DatasetId(source["namespace"], source["name"]))
            if source.get("field"):
                columns += _edges(job, output, field_name, source, None)
    return _Stated(frozenset(sources), True, columns)


def _from_column_lineage(job: JobId, output: DatasetId, facet: JsonObject) -> Iterator[ColumnEdge]:
    for name, field in (facet.get("fields") or {}).items():
        for source in field["inputFields"]:
            yield from _edges(job, output, name, source, field.get("transformationType"))
    for source in facet.get("dataset") or ():
        yield from _edges(job, output, None, source, None)


def _edges(
    job: JobId, output: DatasetId, field: str | None, source: JsonObject, deprecated_type: str | None
) -> Iterator[ColumnEdge]:
    origin = DatasetId(source["namespace"], source["name"])
    column: str = source["field"]
    transformations = source.get("transformations") or [_from_deprecated(deprecated_type)]
    for transformation in transformations:
        yield ColumnEdge(
            job,
            output,
            field,
            origin,
            column,
            transformation.get("type"),
            transformation.get("subtype"),
            transformation.get("masking") is True,
        )


def _from_deprecated(transformation_type: str | None) -> JsonObject:
    """Emitters before version 1-1-0 of the facet say IDENTITY or MASKED once per column."""
    match transformation_type:
        case "IDENTITY":
            return {"type": "DIRECT", "subtype": "IDENTITY"}
        case "MASKED":
            return {"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": True}
        case _:
            return {}


def _flows(inputs: frozenset[DatasetId], stated: dict[DatasetId, _Stated]) -> Iterator[Flow]:
    """Which input feeds which output.

    Where facets say it, they are followed; an input that no output's columns speak of (a `count(*)`, a reader
    that the emitter cannot see through) is taken to feed every output that does not have its sources in full.
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
        yield from (Flow(source, output) for source in sources)


def _vanished(
    job: JobRecord, runs: list[RunRecord], inputs: frozenset[DatasetId], outputs: frozenset[DatasetId]
) -> list[VanishedEdge]:
    gone: dict[tuple[str, DatasetId], VanishedEdge] = {}
    for direction, current in (("input", inputs), ("output", outputs)):
        if job.declared is not None:
            uses = job.declared_inputs if direction == "input" else job.declared_outputs
            for dataset in uses.keys() - current:
                since, reason = job.declared.order.time, "a later declaration of the job does not name it"
                gone[direction, dataset] = VanishedEdge(direction, dataset, since, reason)
        for run, following in pairwise(runs):
            for dataset in (run.inputs if direction == "input" else run.outputs).keys() - current:
                since, reason = following.place[0].time, "a later run does not name it"
                gone[direction, dataset] = VanishedEdge(direction, dataset, since, reason)
    return sorted(gone.values())
