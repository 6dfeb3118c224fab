# SPDX-License-Identifier: Apache-2.0
"""Datasets of an event to send: all that its run or job has named, each with its full state."""

from typing import NamedTuple
from urllib.parse import quote

from lineage.events import DatasetId, JsonObject
from lineage.forward.column_lineage import Columns, add_columns, facet_of_edges, with_columns, with_deprecated_keys
from lineage.forward.facets import DATASET_FACETS, merged_facets, service_facet
from lineage.graph import JobLineage, LineageRecords
from lineage.graph.job_record import Declaration
from lineage.graph.mergeable import Facets
from lineage.graph.run_history import Direction
from lineage.graph.run_record import RunRecord

_URI_CHARACTERS = ":/?@!$&'()*+,;="


class EventOwner(NamedTuple):
    """Run, or declaration of a job, that an event is a part of, and the current lineage of the job."""

    owner: RunRecord | Declaration | None
    lineage: JobLineage


def datasets_of(lineage: LineageRecords, owner: EventOwner, body: JsonObject) -> dict[str, list[JsonObject]]:
    """Return `inputs` and `outputs` of the event to send, possibly empty."""
    outputs = _complete_all(lineage, owner, Direction.OUTPUT, body.get("outputs") or [])
    columns: Columns = {}
    for output in outputs:
        _add_column_lineage(output, owner.lineage)
        if facet := output["facets"].get("columnLineage"):
            add_columns(columns, _dataset_id(output), facet)
    inputs = _complete_all(lineage, owner, Direction.INPUT, body.get("inputs") or [])
    for dataset in (*inputs, *outputs):
        # Marquez has no edge of a column that the schema in the event lacks.
        if names := columns.get(_dataset_id(dataset)):
            dataset["facets"]["schema"] = with_columns(dataset["facets"].get("schema"), names)
    return {"inputs": inputs, "outputs": outputs}


def enriched_dataset(lineage: LineageRecords, dataset: JsonObject) -> JsonObject:
    """Return the enriched dataset of a dataset event."""
    completed = _complete_dataset(lineage, dataset, Direction.OUTPUT, None)
    if facet := completed["facets"].get("columnLineage"):
        completed["facets"]["columnLineage"] = with_deprecated_keys(facet)
    return completed


def _complete_all(
    lineage: LineageRecords, owner: EventOwner, direction: Direction, named: list[JsonObject]
) -> list[JsonObject]:
    """Return the datasets of the event and of its run; those of the job if there are none in this direction."""
    uses = lineage.by_node(owner.owner.uses(direction)) if owner.owner is not None else {}
    known = {_dataset_id(dataset) for dataset in named}
    # A declaration is complete; events of a run accumulate.
    rest = uses.keys() - known if isinstance(owner.owner, RunRecord) else set()
    if not named and not rest:
        rest = set(owner.lineage.inputs if direction is Direction.INPUT else owner.lineage.outputs)
    rows = [*named, *({"namespace": dataset.namespace, "name": dataset.name} for dataset in sorted(rest))]
    return [_complete_dataset(lineage, row, direction, uses.get(_dataset_id(row))) for row in rows]


def _complete_dataset(
    lineage: LineageRecords, dataset: JsonObject, direction: Direction, stated: Facets | None
) -> JsonObject:
    """Return a dataset with its current facets; `stated` are those that the run has stated.

    The service's own facets describe an input: each reader's spelling of its columns would become a field of it.
    """
    record = lineage.datasets.get(_dataset_id(dataset))
    own, by_run = (record.all_facets() if record else {}).get, stated.get if stated else _no_facet
    known = (own, by_run) if direction is Direction.INPUT else (by_run, own)
    facets = merged_facets(dataset, DATASET_FACETS, *known)
    if (column_lineage := by_run("columnLineage")) is not None:
        facets["columnLineage"] = column_lineage
    # Names are canonical already: Marquez counts the alternative ones as datasets.
    facets.pop("symlinks", None)
    facets["dataSource"] = _data_source(dataset["namespace"])
    return {**dataset, "facets": facets}


def _add_column_lineage(output: JsonObject, lineage: JobLineage) -> None:
    """Complete the emitter's facet, or add one built from the job's column edges."""
    facet = output["facets"].get("columnLineage")
    if facet is None:
        edges = [edge for edge in lineage.columns if edge.output == _dataset_id(output)]
        facet = facet_of_edges(edges) if edges else None
    if facet is not None:
        output["facets"]["columnLineage"] = with_deprecated_keys(facet)


def _data_source(namespace: str) -> JsonObject:
    """Return the dataSource facet of a namespace. Marquez fails to list a source whose URI it cannot parse."""
    return service_facet("dataSource", {"name": namespace, "uri": quote(namespace, safe=_URI_CHARACTERS)})


def _no_facet(_name: str) -> None:
    return None


def _dataset_id(dataset: JsonObject) -> DatasetId:
    return DatasetId(dataset["namespace"], dataset["name"])
