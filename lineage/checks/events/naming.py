# SPDX-License-Identifier: Apache-2.0
"""Naming of jobs and datasets in one event, by the naming conventions of the standard."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from lineage.checks.events.check_rules import (
    COLUMN_NOT_IN_SCHEMA,
    JOB_NAME_PER_RUN,
    LEADING_SLASH,
    NAME_EMPTY,
    NAME_UNUSABLE,
    NAMESPACE_CHARACTERS,
    NAMESPACE_HOSTS,
    NAMESPACE_PORT,
    S3_SCHEME,
)
from lineage.checks.events.problem import Problem
from lineage.events import DatasetId, InvalidEvent, JsonObject
from lineage.events.validation import check_name

OBJECT_STORES = frozenset({"s3", "s3a", "s3n", "gs", "abfss", "wasbs"})
"""Schemes whose names are object keys; with others (`file`, `hdfs`) a name may be an absolute path."""

_RUN_SPECIFIC = (
    ("a UUID", re.compile(r"[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}")),
    ("a date", re.compile(r"(?<!\d)(?:19|20)\d\d([-_./]?)(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])(?!\d)")),
    ("a timestamp", re.compile(r"(?<!\d)1[5-9]\d{8}(?:\d{3})?(?!\d)")),
)


class DatasetReference(NamedTuple):
    """A dataset that an event describes or has as a source of columns, and the path of it."""

    id: DatasetId
    path: str


def naming_problems(event: JsonObject) -> Iterator[Problem]:
    """Return the problems of the names in an event; the event may be invalid otherwise."""
    job = event.get("job")
    if isinstance(job, dict):
        yield from _unusable_names(job, "job")
        if isinstance(name := job.get("name"), str):
            yield from _run_specific(name)
    for owner, path in datasets_of(event):
        yield from _unusable_names(owner, path)
        for i, identifier in enumerate(_object_items(_facet_or_empty(owner, "symlinks").get("identifiers"))):
            yield from _unusable_names(identifier, f"{path}.facets.symlinks.identifiers[{i}]")
        for source, where in column_sources(owner, path):
            yield from _unusable_names(source, where)
    yield from _dataset_problems(event)
    for i, output in enumerate(_object_items(event.get("outputs"))):
        yield from _column_problems(output, f"outputs[{i}]")


def datasets_of(event: JsonObject) -> Iterator[tuple[JsonObject, str]]:
    """Return the datasets that an event describes, each with its path."""
    for direction in ("inputs", "outputs"):
        for i, dataset in enumerate(_object_items(event.get(direction))):
            yield dataset, f"{direction}[{i}]"
    described = event.get("dataset")
    if isinstance(described, dict):
        yield described, "dataset"


def referenced_datasets(event: JsonObject) -> Iterator[DatasetReference]:
    """Return the datasets of an event whose namespace and name are strings."""
    for owner, path in datasets_of(event):
        yield from _dataset_reference(owner, path)
        for source, where in column_sources(owner, path):
            yield from _dataset_reference(source, where)


def column_sources(dataset: JsonObject, path: str) -> Iterator[tuple[JsonObject, str]]:
    """Return the source columns that a dataset's columnLineage and lineage facets name, each with its path."""
    facet, where = _facet_or_empty(dataset, "columnLineage"), f"{path}.facets.columnLineage"
    for name, field in _object_entries(facet.get("fields")):
        for i, source in enumerate(_object_items(field.get("inputFields"))):
            yield source, f"{where}.fields.{name}.inputFields[{i}]"
    for i, source in enumerate(_object_items(facet.get("dataset"))):
        yield source, f"{where}.dataset[{i}]"
    yield from lineage_sources(_facet_or_empty(dataset, "lineage"), f"{path}.facets.lineage")


def lineage_sources(target: JsonObject, path: str) -> Iterator[tuple[JsonObject, str]]:
    """Return the source datasets that one target of a lineage facet names, each with its path."""
    owners = [
        (target, path),
        *((field, f"{path}.fields.{name}") for name, field in _object_entries(target.get("fields"))),
    ]
    for owner, where in owners:
        for i, source in enumerate(_object_items(owner.get("inputs"))):
            if source.get("type") == "DATASET":
                yield source, f"{where}.inputs[{i}]"


def lineage_entries(event: JsonObject) -> Iterator[tuple[JsonObject, str]]:
    """Return the entries of a job's lineage facet, each with its path."""
    job = event.get("job")
    facet = _facet_or_empty(job, "lineage") if isinstance(job, dict) else {}
    for i, entry in enumerate(_object_items(facet.get("entries"))):
        yield entry, f"job.facets.lineage.entries[{i}]"


def schema_columns(dataset: JsonObject) -> frozenset[str] | None:
    """Return the columns of a dataset's schema facet; None if it is missing or empty."""
    fields = _object_items(_facet_or_empty(dataset, "schema").get("fields"))
    return frozenset(field["name"] for field in fields if isinstance(field.get("name"), str)) or None


def in_schema(column: str, schema: frozenset[str]) -> bool:
    """Check that a schema lists a column; a field of a struct may be named by its path."""
    return column in schema or column.partition(".")[0] in schema


def dataset_id(dataset: JsonObject) -> DatasetId | None:
    """Return a dataset's namespace and name; None if one of them is not a string."""
    namespace, name = dataset.get("namespace"), dataset.get("name")
    return DatasetId(namespace, name) if isinstance(namespace, str) and isinstance(name, str) else None


def _unusable_names(owner: JsonObject, path: str) -> Iterator[Problem]:
    for key in ("namespace", "name"):
        value = owner.get(key)
        if not isinstance(value, str):
            continue
        if not value.strip():
            yield Problem(NAME_EMPTY, f"{path}.{key}", "is empty")
            continue
        try:
            check_name(value, f"{path}.{key}")
        except InvalidEvent as error:
            yield Problem(NAME_UNUSABLE, error.field, str(error).removeprefix(f"{error.field}: "))


def _run_specific(name: str) -> Iterator[Problem]:
    for what, pattern in _RUN_SPECIFIC:
        if found := pattern.search(name):
            yield Problem(JOB_NAME_PER_RUN, "job.name", f"contains {what}, {found[0]!r}")
            return


def _dataset_problems(event: JsonObject) -> Iterator[Problem]:
    """Return the problems of namespaces and names, once for each, however often the event repeats it."""
    checked: set[object] = set()
    for dataset in referenced_datasets(event):
        if dataset.id.namespace not in checked:
            checked.add(dataset.id.namespace)
            yield from _namespace_problems(dataset.id.namespace, f"{dataset.path}.namespace")
        if dataset.id not in checked:
            checked.add(dataset.id)
            if dataset.id.namespace.partition("://")[0] in OBJECT_STORES and dataset.id.name.startswith("/"):
                yield Problem(LEADING_SLASH, f"{dataset.path}.name", f"{dataset.id.name!r:.200} begins with a slash")


def _namespace_problems(namespace: str, path: str) -> Iterator[Problem]:
    scheme, separator, authority = namespace.partition("://")
    if separator and "," in authority:
        yield Problem(NAMESPACE_HOSTS, path, f"{namespace!r:.200} lists {authority.count(',') + 1} hosts")
    elif scheme == "kafka" and separator and not re.search(r":\d+$", authority):
        yield Problem(NAMESPACE_PORT, path, f"{namespace!r:.200} has no port")
    if "?" in namespace or "=" in namespace:
        yield Problem(NAMESPACE_CHARACTERS, path, f"{namespace!r:.200} contains '?' or '='")
    if scheme in ("s3a", "s3n") and separator:
        yield Problem(S3_SCHEME, path, f"{namespace!r:.200} should be 's3://{authority:.200}'")


def _column_problems(output: JsonObject, path: str) -> Iterator[Problem]:
    schema = schema_columns(output)
    if schema is None:
        return
    for facet in ("columnLineage", "lineage"):
        for name, _ in _object_entries(_facet_or_empty(output, facet).get("fields")):
            if not in_schema(name, schema):
                message = f"{name!r:.100} is not a column of the schema"
                yield Problem(COLUMN_NOT_IN_SCHEMA, f"{path}.facets.{facet}.fields.{name}", message)


def _dataset_reference(dataset: JsonObject, path: str) -> Iterator[DatasetReference]:
    found = dataset_id(dataset)
    if found is not None:
        yield DatasetReference(found, path)


def _facet_or_empty(owner: JsonObject, key: str) -> JsonObject:
    """Return a facet; empty if it is missing, deleted or not an object."""
    facets = owner.get("facets")
    facet = facets.get(key) if isinstance(facets, dict) else None
    return facet if isinstance(facet, dict) and facet.get("_deleted") is not True else {}


def _object_items(value: object) -> list[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _object_entries(value: object) -> list[tuple[str, JsonObject]]:
    return [(name, item) for name, item in value.items() if isinstance(item, dict)] if isinstance(value, dict) else []
