# SPDX-License-Identifier: Apache-2.0
"""Names: whether one event spells its jobs and datasets as the standard names them."""

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
from lineage.checks.events.classes import Problem
from lineage.events import DatasetId, InvalidEvent, JsonObject
from lineage.events.validation import check_name

OBJECT_STORES = frozenset({"s3", "s3a", "s3n", "gs", "abfss", "wasbs"})
"""Schemes whose names are keys of objects; elsewhere (`file`, `hdfs`) a name may be an absolute path."""

_PER_RUN = (
    ("a UUID", re.compile(r"[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}")),
    ("a date", re.compile(r"(?<!\d)(?:19|20)\d\d([-_./]?)(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])(?!\d)")),
    ("a time stamp", re.compile(r"(?<!\d)1[5-9]\d{8}(?:\d{3})?(?!\d)")),
)


class Named(NamedTuple):
    """A dataset as an event spells it, and where."""

    id: DatasetId
    path: str


def judge_names(event: JsonObject) -> Iterator[Problem]:
    """What is wrong with the names in an event, whatever else is wrong with it."""
    job = event.get("job")
    if isinstance(job, dict):
        yield from _names(job, "job")
        if isinstance(name := job.get("name"), str):
            yield from _per_run(name)
    for owner, path in datasets_of(event):
        yield from _names(owner, path)
        for i, identifier in enumerate(_objects(_facet(owner, "symlinks").get("identifiers"))):
            yield from _names(identifier, f"{path}.facets.symlinks.identifiers[{i}]")
        for source, where in column_sources(owner, path):
            yield from _names(source, where)
    yield from _spellings(event)
    for i, output in enumerate(_objects(event.get("outputs"))):
        yield from _columns(output, f"outputs[{i}]")


def datasets_of(event: JsonObject) -> Iterator[tuple[JsonObject, str]]:
    """The datasets that an event describes, each with its path."""
    for direction in ("inputs", "outputs"):
        for i, dataset in enumerate(_objects(event.get(direction))):
            yield dataset, f"{direction}[{i}]"
    described = event.get("dataset")
    if isinstance(described, dict):
        yield described, "dataset"


def named_datasets(event: JsonObject) -> Iterator[Named]:
    """The datasets that an event describes or has as sources of columns, where namespace and name are texts."""
    for owner, path in datasets_of(event):
        yield from _named(owner, path)
        for source, where in column_sources(owner, path):
            yield from _named(source, where)


def column_sources(dataset: JsonObject, path: str) -> Iterator[tuple[JsonObject, str]]:
    """The source columns that a dataset's columnLineage and lineage facets name."""
    facet, where = _facet(dataset, "columnLineage"), f"{path}.facets.columnLineage"
    for name, field in _entries(facet.get("fields")):
        for i, source in enumerate(_objects(field.get("inputFields"))):
            yield source, f"{where}.fields.{name}.inputFields[{i}]"
    for i, source in enumerate(_objects(facet.get("dataset"))):
        yield source, f"{where}.dataset[{i}]"
    yield from lineage_sources(_facet(dataset, "lineage"), f"{path}.facets.lineage")


def lineage_sources(target: JsonObject, path: str) -> Iterator[tuple[JsonObject, str]]:
    """The source datasets that one target of a lineage facet names."""
    owners = [(target, path), *((field, f"{path}.fields.{name}") for name, field in _entries(target.get("fields")))]
    for owner, where in owners:
        for i, source in enumerate(_objects(owner.get("inputs"))):
            if source.get("type") == "DATASET":
                yield source, f"{where}.inputs[{i}]"


def lineage_entries(event: JsonObject) -> Iterator[tuple[JsonObject, str]]:
    """The entries of a job's lineage facet."""
    job = event.get("job")
    facet = _facet(job, "lineage") if isinstance(job, dict) else {}
    for i, entry in enumerate(_objects(facet.get("entries"))):
        yield entry, f"job.facets.lineage.entries[{i}]"


def schema_fields(dataset: JsonObject) -> frozenset[str] | None:
    """The columns of a dataset's schema facet; None where there is none, or an empty one."""
    fields = _objects(_facet(dataset, "schema").get("fields"))
    return frozenset(field["name"] for field in fields if isinstance(field.get("name"), str)) or None


def in_schema(column: str, schema: frozenset[str]) -> bool:
    """Whether a schema lists a column; one within a struct may be named with its path."""
    return column in schema or column.partition(".")[0] in schema


def identity(dataset: JsonObject) -> DatasetId | None:
    """A dataset's namespace and name, where both are texts."""
    namespace, name = dataset.get("namespace"), dataset.get("name")
    return DatasetId(namespace, name) if isinstance(namespace, str) and isinstance(name, str) else None


def _names(owner: JsonObject, path: str) -> Iterator[Problem]:
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


def _per_run(name: str) -> Iterator[Problem]:
    for what, pattern in _PER_RUN:
        if found := pattern.search(name):
            yield Problem(JOB_NAME_PER_RUN, "job.name", f"holds {what}, {found[0]!r}")
            return


def _spellings(event: JsonObject) -> Iterator[Problem]:
    """What is wrong with namespaces and names as such; once for each, however often the event repeats it."""
    judged: set[object] = set()
    for named in named_datasets(event):
        if named.id.namespace not in judged:
            judged.add(named.id.namespace)
            yield from _namespace(named.id.namespace, f"{named.path}.namespace")
        if named.id not in judged:
            judged.add(named.id)
            if named.id.namespace.partition("://")[0] in OBJECT_STORES and named.id.name.startswith("/"):
                yield Problem(LEADING_SLASH, f"{named.path}.name", f"{named.id.name!r:.200} begins with a slash")


def _namespace(namespace: str, path: str) -> Iterator[Problem]:
    scheme, separator, authority = namespace.partition("://")
    if separator and "," in authority:
        yield Problem(NAMESPACE_HOSTS, path, f"{namespace!r:.200} lists {authority.count(',') + 1} hosts")
    elif scheme == "kafka" and separator and not re.search(r":\d+$", authority):
        yield Problem(NAMESPACE_PORT, path, f"{namespace!r:.200} has no port")
    if "?" in namespace or "=" in namespace:
        yield Problem(NAMESPACE_CHARACTERS, path, f"{namespace!r:.200} holds '?' or '='")
    if scheme in ("s3a", "s3n") and separator:
        yield Problem(S3_SCHEME, path, f"{namespace!r:.200} should be 's3://{authority:.200}'")


def _columns(output: JsonObject, path: str) -> Iterator[Problem]:
    schema = schema_fields(output)
    if schema is None:
        return
    for facet in ("columnLineage", "lineage"):
        for name, _ in _entries(_facet(output, facet).get("fields")):
            if not in_schema(name, schema):
                message = f"{name!r:.100} is none of the schema's columns"
                yield Problem(COLUMN_NOT_IN_SCHEMA, f"{path}.facets.{facet}.fields.{name}", message)


def _named(dataset: JsonObject, path: str) -> Iterator[Named]:
    found = identity(dataset)
    if found is not None:
        yield Named(found, path)


def _facet(owner: JsonObject, key: str) -> JsonObject:
    """A facet that stands; empty where there is none, or something else in its place."""
    facets = owner.get("facets")
    facet = facets.get(key) if isinstance(facets, dict) else None
    return facet if isinstance(facet, dict) and facet.get("_deleted") is not True else {}


def _objects(value: object) -> list[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _entries(value: object) -> list[tuple[str, JsonObject]]:
    return [(name, item) for name, item in value.items() if isinstance(item, dict)] if isinstance(value, dict) else []
