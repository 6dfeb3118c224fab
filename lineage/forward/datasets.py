# SPDX-License-Identifier: Apache-2.0
"""Datasets of an event to send: all that its run or job has named, each with its full state."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from lineage.events import DatasetId, JsonObject
from lineage.forward.column_lineage import Columns, add_columns, facet_of_edges, with_columns, with_deprecated_keys
from lineage.forward.facets import DATASET_FACETS, READ_FACETS
from lineage.graph import ColumnEdge, JobLineage, LineageRecords
from lineage.graph.job_record import JobRecord, RunRecord, Uses
from lineage.graph.mergeable import Facets, effective_facet
from lineage.graph.run_history import Direction


class EventOwner(NamedTuple):
    """Sender of an event: a job, or (`run` set) one of its runs.

    `settled`: the run has ended, so that its latest facets take precedence over those of the event.
    """

    job: JobRecord
    run: RunRecord | None
    view: JobLineage
    settled: bool
    starting: bool

    def uses(self, direction: Direction) -> Uses:
        """Return the datasets that this job or run has named so far."""
        owner = self.run or self.job.declared
        return owner.uses(direction) if owner else {}


def datasets_of(lineage: LineageRecords, owner: EventOwner, body: JsonObject) -> dict[str, list[JsonObject]]:
    """Return `inputs` and `outputs` of the event to send, possibly empty."""
    columns: Columns = {}
    edges: dict[DatasetId, list[ColumnEdge]] = {}
    for edge in owner.view.columns:
        edges.setdefault(edge.output, []).append(edge)
    outputs = _complete_all(lineage, owner, Direction.OUTPUT, body.get("outputs") or [])
    for output in outputs:
        _add_column_lineage(output, owner, edges)
        if facet := output["facets"].get("columnLineage"):
            add_columns(columns, _dataset_id(output), facet)
    inputs = _complete_all(lineage, owner, Direction.INPUT, body.get("inputs") or [])
    for dataset in (*inputs, *outputs):
        _widen_schema(lineage, dataset, columns.get(_dataset_id(dataset), ()))
    return {"inputs": inputs, "outputs": outputs}


def enriched_dataset(lineage: LineageRecords, dataset: JsonObject) -> JsonObject:
    """Return the enriched dataset of a dataset event."""
    completed = _complete_dataset(lineage, dataset, None, settled=False)
    facet = completed["facets"].get("columnLineage")
    if facet is not None:
        completed["facets"]["columnLineage"] = with_deprecated_keys(facet)
    return completed


def carry_facets(
    names: Iterable[str], facets: JsonObject, settled: bool, *known: Callable[[str], JsonObject | None]
) -> None:
    """Add facets that an event left out to `facets`, each from the first of `known` that has it.

    With `settled`, the first of `known` takes precedence over the event. Tombstones that a backend cannot read are
    removed.
    """
    for name in names:
        latest = known[0](name) if settled else None
        value = (
            latest
            or effective_facet(facets, name)
            or next((found for source in known if (found := source(name))), None)
        )
        if value is not None:
            facets[name] = value
        elif name in READ_FACETS:
            facets.pop(name, None)


def _complete_all(
    lineage: LineageRecords, owner: EventOwner, direction: Direction, named: list[JsonObject]
) -> list[JsonObject]:
    uses = owner.uses(direction)
    rows = [_complete_dataset(lineage, dataset, uses.get(_dataset_id(dataset)), owner.settled) for dataset in named]
    known = {_dataset_id(dataset) for dataset in named}
    # A declaration is complete; events of a run accumulate.
    rest: Mapping[DatasetId, Facets | None] = {}
    if owner.run is not None:
        rest = {dataset: facets for dataset, facets in uses.items() if dataset not in known}
    if not named and not rest:
        rest = _current_datasets(owner, direction)
    for dataset in sorted(rest):
        row = {"namespace": dataset.namespace, "name": dataset.name}
        rows.append(_complete_dataset(lineage, row, rest[dataset], owner.settled))
    return rows


def _current_datasets(owner: EventOwner, direction: Direction) -> Mapping[DatasetId, Facets | None]:
    """Return the job's current datasets of a direction in which a run (or job event) names none.

    A START that names only inputs has removed the outputs from the job's lineage, although they may follow: until then
    those of the last run are sent, because Marquez does not restore edges that it has dropped.
    """
    datasets = owner.view.inputs if direction is Direction.INPUT else owner.view.outputs
    if datasets or not owner.starting:
        return dict.fromkeys(datasets)
    places = owner.job.history.by_direction.get(direction)
    last = places.last() if places else None
    return dict(owner.job.runs[last.run].uses(direction)) if last else {}


def _complete_dataset(lineage: LineageRecords, dataset: JsonObject, stated: Facets | None, settled: bool) -> JsonObject:
    facets = dict(dataset.get("facets") or {})
    record = lineage.datasets.get(_dataset_id(dataset))
    everywhere = record.all_facets() if record else {}
    carry_facets(DATASET_FACETS, facets, settled, stated.get if stated else _no_facet, everywhere.get)
    carry_facets(["columnLineage"], facets, settled, stated.get if stated else _no_facet)
    return {**dataset, "facets": facets}


def _add_column_lineage(output: JsonObject, owner: EventOwner, edges: dict[DatasetId, list[ColumnEdge]]) -> None:
    """Add the emitter's facet, or one built from the job's column edges, if the event has none."""
    facets = output["facets"]
    facet = facets.get("columnLineage")
    if facet is None and (found := edges.get(_dataset_id(output))):
        facet = facet_of_edges(found)
    if facet is not None:
        facets["columnLineage"] = with_deprecated_keys(facet)


def _widen_schema(lineage: LineageRecords, dataset: JsonObject, columns: Iterable[str]) -> None:
    """Add columns that columnLineage names to a known schema."""
    schema = dataset["facets"].get("schema")
    if schema is not None:
        record = lineage.datasets.get(_dataset_id(dataset))
        dataset["facets"]["schema"] = with_columns(schema, columns, record.fields() if record else ())


def _no_facet(_name: str) -> None:
    return None


def _dataset_id(dataset: JsonObject) -> DatasetId:
    return DatasetId(dataset["namespace"], dataset["name"])
