# SPDX-License-Identifier: Apache-2.0
"""Dataset and field names of Flink tables. Pure.

Addresses are those of the script; the lineage service makes them canonical.
"""

from dataclasses import dataclass
from urllib.parse import urlsplit

from lineagelab_flink.columns import stores
from lineagelab_flink.columns.planned import Field, Table

_UPSERT = "upsert-kafka"
"""Connector whose record keys are the table's primary key."""

_TOPICS = {"kafka", _UPSERT}
_WITHOUT_DATASET = {"datagen", "blackhole", "print", "faker"}
"""Connectors that generate or discard rows."""

_FILES = {"filesystem", "paimon", "hudi", ""}
"""Connectors whose tables are folders; tables of a Paimon catalog have a path and no connector."""

_S3_SCHEMES = {"s3", "s3a", "s3n", "s3p"}
_RAW = "raw"
_EXCEPT_KEY = "EXCEPT_KEY"


@dataclass(frozen=True, order=True)
class Dataset:
    """OpenLineage dataset. `alias` is its SQL name in a catalog; empty for temporary tables."""

    namespace: str
    name: str
    alias: str = ""


def datasets(table: Table) -> tuple[Dataset, ...] | None:
    """Return the datasets of a table: several for several topics, none without stored data, None where unknown."""
    if table.connector in _TOPICS:
        return _topics(table)
    if table.connector in _WITHOUT_DATASET:
        return ()
    if table.connector == "iceberg":
        return (_iceberg(table),)
    if table.connector in _FILES and "path" in table.options:
        place = _of_location(table.options["path"])
        return (place if table.connector == "filesystem" else Dataset(place.namespace, place.name, table.name),)
    found = stores.dataset(table)
    return None if found is None else (Dataset(*found),)


def field_name(table: Table, column: str, path: tuple[str, ...] = ()) -> str:
    """Return the dataset's name of a column or nested field.

    Fields of a topic are those of its message values. Other parts of a record (key, offset ...) and metadata columns of
    any connector have the prefix `_`, which keeps them apart.
    """
    known = {field.name: field for field in table.fields}.get(column, Field(column, ""))
    if known.kind == "METADATA":
        return ".".join(("_" + known.metadata_key, *path))
    if table.connector in _TOPICS:
        return ".".join((_of_message(table, column), *path))
    return ".".join((column, *path))


def written_names(table: Table, column: str) -> tuple[str, ...]:
    """Return the names under which a column is stored: a key column of a topic is in the key and in the value."""
    name = field_name(table, column)
    in_key = table.connector in _TOPICS and column in _keys(table)
    return (name, _of_key(table, column)) if in_key and name != _of_key(table, column) else (name,)


def _topics(table: Table) -> tuple[Dataset, ...] | None:
    servers, topics = table.options.get("properties.bootstrap.servers"), table.options.get("topic")
    if not servers or not topics:
        return None
    namespace = f"kafka://{servers.split(',')[0].strip()}"
    return tuple(Dataset(namespace, topic.strip()) for topic in topics.split(";"))


def _of_message(table: Table, column: str) -> str:
    options = table.options
    if column in _keys(table) and options.get("value.fields-include") == _EXCEPT_KEY:
        return _of_key(table, column)
    return "_value" if options.get("value.format", options.get("format")) == _RAW else column


def _keys(table: Table) -> tuple[str, ...]:
    """Return the columns of a record's key."""
    if table.connector == _UPSERT:
        return table.primary_key
    return tuple(key.strip() for key in table.options.get("key.fields", "").split(";"))


def _of_key(table: Table, column: str) -> str:
    if table.options.get("key.format") == _RAW:
        return "_key"
    return "_key." + column.removeprefix(table.options.get("key.fields-prefix", ""))


def _iceberg(table: Table) -> Dataset:
    """Return a table by its location, or by its name before it has one: the service resolves the name."""
    if not table.location:
        return Dataset("", table.name)
    place = _of_location(table.location)
    return Dataset(place.namespace, place.name, table.name)


def _of_location(location: str) -> Dataset:
    """Return the dataset at a location: `s3a://bucket/a/b` is `a/b` in `s3://bucket`, a path is in `file`."""
    parts = urlsplit(location)
    if parts.scheme in _S3_SCHEMES:
        return Dataset(f"s3://{parts.netloc}", parts.path.strip("/"))
    if parts.scheme in {"", "file"}:
        return Dataset("file", parts.path.rstrip("/"))
    return Dataset(f"{parts.scheme}://{parts.netloc}", parts.path.strip("/"))
