# SPDX-License-Identifier: Apache-2.0
"""What the planner says of a script: the JSON of `sql-lineage`, typed. Its package-info.java documents it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

VERSION = 1


@dataclass(frozen=True)
class Field:
    """A column of a table. `kind` is PHYSICAL, COMPUTED or METADATA; `metadata_key` is the connector's name for it."""

    name: str
    type: str
    kind: str = "PHYSICAL"
    metadata_key: str = ""


@dataclass(frozen=True)
class Table:
    """A table as the script knows it.

    Attributes:
        path: catalog, database, name.
        connector: empty where the catalog alone says.
        location: of an Iceberg table; empty where nobody knows it yet.
    """

    path: tuple[str, ...]
    connector: str
    options: Mapping[str, str]
    location: str
    fields: tuple[Field, ...]
    primary_key: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """As SQL spells it in full."""
        return ".".join(self.path)


@dataclass(frozen=True)
class Edge:
    """A column of `sources[source]`, or a field below it, reaches a column or all rows."""

    source: int
    column: str
    path: tuple[str, ...]
    subtype: str
    masking: bool


@dataclass(frozen=True)
class Made:
    """What something is made of. Where `unknown` has a reason, the edges are not all."""

    edges: tuple[Edge, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True)
class Write:
    """One INSERT. `columns` are those of the sink, `rows` decides about all of them."""

    sink: Table
    sources: tuple[Table, ...]
    columns: tuple[tuple[str, Made], ...]
    rows: Made


@dataclass(frozen=True)
class Planned:
    """All INSERTs of a script, and the text of what makes them, without secrets."""

    sql: str
    writes: tuple[Write, ...]


def planned(document: Mapping[str, Any]) -> Planned:
    """The document, read.

    Raises:
        ValueError: it is of another version.
        KeyError: it is no such document.
    """
    if document["version"] != VERSION:
        raise ValueError(f"the planner's answer has version {document['version']!r}, not {VERSION}")
    jobs = document["jobs"]
    return Planned(
        ";\n".join(job["sql"] for job in jobs),
        tuple(_write(write) for job in jobs for write in job["writes"]),
    )


def _write(found: Mapping[str, Any]) -> Write:
    return Write(
        _table(found["sink"]),
        tuple(map(_table, found["sources"])),
        tuple((column["name"], _made(column)) for column in found["columns"]),
        _made(found["rows"]),
    )


def _table(found: Mapping[str, Any]) -> Table:
    return Table(
        tuple(found["path"]),
        found["connector"] or "",
        found["options"],
        found["location"] or "",
        tuple(Field(f["name"], f["type"], f["kind"], f["metadataKey"] or "") for f in found["fields"]),
        tuple(found["primaryKey"]),
    )


def _made(found: Mapping[str, Any]) -> Made:
    edges = (
        Edge(edge["source"], edge["column"], tuple(edge["path"]), edge["subtype"], edge["masking"])
        for edge in found["edges"]
    )
    return Made(tuple(edges), tuple(found["unknown"]))
