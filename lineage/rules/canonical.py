# SPDX-License-Identifier: Apache-2.0
"""Application of the naming rules to every dataset name in an event.

A name changed in `inputs` but not in `columnLineage` would disconnect the column graph from the table graph, so the
rules also apply to the facets that name datasets (columnLineage, lineage, lifecycleStateChange, symlinks).
"""

from typing import Protocol

from lineage.events.ids import DatasetId, JsonObject
from lineage.events.validation import check_name, name_fault


class NameSource(Protocol):
    """Names to apply: those of the rules (`lineage.rules.Names`), or nodes of the graph."""

    def dataset(self, namespace: str, name: str) -> DatasetId:
        """Return the name to use for that of a dataset."""

    def symlink(self, namespace: str, name: str) -> DatasetId:
        """Return the name to use for that of an alias."""

    def omits(self, namespace: str, name: str) -> bool:
        """Return whether a dataset or an alias is left out."""


def canonical_event(body: JsonObject, names: NameSource) -> JsonObject:
    """Return a copy of a validated event under canonical names; parts that do not differ are shared with `body`.

    Raises:
        InvalidEvent: a name is empty, too long or contains control characters after all rules.
    """
    event = dict(body)
    if body.get("dataset") is not None:
        event["dataset"] = _canonical_dataset(body["dataset"], names, "dataset")
    for direction in ("inputs", "outputs"):
        if body.get(direction):
            event[direction] = [
                _canonical_dataset(dataset, names, f"{direction}[{i}]")
                for i, dataset in enumerate(body[direction])
                if not _is_omitted(dataset, names)
            ]
    job = body.get("job")
    if job and _is_present("lineage", facets := job.get("facets") or {}):
        path = "job.facets.lineage"
        lineage = _canonical_job_lineage(facets["lineage"], names, path)
        event["job"] = {**job, "facets": {**facets, "lineage": lineage}}
    return event


def _canonical_dataset(dataset: JsonObject, names: NameSource, path: str) -> JsonObject:
    renamed = _canonical_entity(dataset, names, path)
    facets = dict(dataset.get("facets") or {})
    if _is_present("symlinks", facets):
        facets["symlinks"] = _canonical_symlinks(facets["symlinks"], names, f"{path}.facets.symlinks")
    if _is_present("columnLineage", facets):
        facets["columnLineage"] = _canonical_column_lineage(
            facets["columnLineage"], names, f"{path}.facets.columnLineage"
        )
    if _is_present("lineage", facets):
        facets["lineage"] = _canonical_targets(facets["lineage"], names, f"{path}.facets.lineage")
    if _is_present("lifecycleStateChange", facets):
        facets["lifecycleStateChange"] = _canonical_lifecycle(
            facets["lifecycleStateChange"], names, f"{path}.facets.lifecycleStateChange"
        )
    if facets:
        renamed["facets"] = facets
    return renamed


def _is_present(name: str, facets: JsonObject) -> bool:
    """Return whether a facet is present and not a tombstone (`_deleted`), whose content is not validated."""
    return name in facets and facets[name].get("_deleted") is not True


def _is_omitted(entity: JsonObject, names: NameSource) -> bool:
    return names.omits(entity["namespace"], entity["name"])


def _canonical_entity(entity: JsonObject, names: NameSource, path: str) -> JsonObject:
    dataset = names.dataset(entity["namespace"], entity["name"])
    return _with_checked_name(entity, dataset, path)


def _with_checked_name(entity: JsonObject, dataset: DatasetId, path: str) -> JsonObject:
    check_name(dataset.namespace, f"{path}.namespace")
    check_name(dataset.name, f"{path}.name")
    if dataset == (entity["namespace"], entity["name"]):
        return entity
    return {**entity, "namespace": dataset.namespace, "name": dataset.name}


def _canonical_symlinks(facet: JsonObject, names: NameSource, path: str) -> JsonObject:
    identifiers = [
        _with_checked_name(
            identifier, names.symlink(identifier["namespace"], identifier["name"]), f"{path}.identifiers[{i}]"
        )
        for i, identifier in enumerate(facet.get("identifiers") or [])
        if not _is_omitted(identifier, names)
    ]
    return {**facet, "identifiers": identifiers}


def _canonical_lifecycle(facet: JsonObject, names: NameSource, path: str) -> JsonObject:
    previous = facet.get("previousIdentifier")
    if previous is None:
        return facet
    if _is_omitted(previous, names):
        return {key: value for key, value in facet.items() if key != "previousIdentifier"}
    return {**facet, "previousIdentifier": _canonical_entity(previous, names, f"{path}.previousIdentifier")}


def _canonical_column_lineage(facet: JsonObject, names: NameSource, path: str) -> JsonObject:
    # Nearly all of an event's names are here, mostly of few datasets, and mostly canonical.
    if all(_is_canonical(dataset, names) for dataset in _named_datasets(facet)):
        return facet
    renamed = dict(facet)
    renamed["fields"] = {
        name: {
            **field,
            "inputFields": _canonical_entities(field["inputFields"], names, f"{path}.fields.{name}.inputFields"),
        }
        for name, field in (facet.get("fields") or {}).items()
    }
    if facet.get("dataset"):
        renamed["dataset"] = _canonical_entities(facet["dataset"], names, f"{path}.dataset")
    return renamed


def _named_datasets(column_lineage: JsonObject) -> set[DatasetId]:
    """Return the datasets that a columnLineage facet names."""
    sources = [field["inputFields"] for field in (column_lineage.get("fields") or {}).values()]
    sources.append(column_lineage.get("dataset") or [])
    pairs = {(source["namespace"], source["name"]) for found in sources for source in found}
    return {DatasetId(*pair) for pair in pairs}


def _is_canonical(dataset: DatasetId, names: NameSource) -> bool:
    """Return whether the name of a dataset is valid, and the one to use for it."""
    return (
        not names.omits(*dataset)
        and names.dataset(*dataset) == dataset
        and name_fault(dataset.namespace) is None
        and name_fault(dataset.name) is None
    )


def _canonical_entities(entities: list[JsonObject], names: NameSource, path: str) -> list[JsonObject]:
    return [
        _canonical_entity(entity, names, f"{path}[{i}]")
        for i, entity in enumerate(entities)
        if not _is_omitted(entity, names)
    ]


def _canonical_job_lineage(facet: JsonObject, names: NameSource, path: str) -> JsonObject:
    entries = []
    for i, entry in enumerate(facet.get("entries") or []):
        if entry["type"] == "DATASET" and _is_omitted(entry, names):
            continue
        where = f"{path}.entries[{i}]"
        target = _canonical_targets(entry, names, where)
        entries.append(_canonical_entity(target, names, where) if entry["type"] == "DATASET" else target)
    return {**facet, "entries": entries}


def _canonical_targets(owner: JsonObject, names: NameSource, path: str) -> JsonObject:
    renamed = dict(owner)
    if owner.get("inputs"):
        renamed["inputs"] = _canonical_lineage_inputs(owner["inputs"], names, f"{path}.inputs")
    if owner.get("fields"):
        renamed["fields"] = {
            name: {
                **field,
                "inputs": _canonical_lineage_inputs(field.get("inputs") or [], names, f"{path}.fields.{name}.inputs"),
            }
            for name, field in owner["fields"].items()
        }
    return renamed


def _canonical_lineage_inputs(inputs: list[JsonObject], names: NameSource, path: str) -> list[JsonObject]:
    return [
        _canonical_entity(source, names, f"{path}[{i}]") if source["type"] == "DATASET" else source
        for i, source in enumerate(inputs)
        if source["type"] != "DATASET" or not _is_omitted(source, names)
    ]
