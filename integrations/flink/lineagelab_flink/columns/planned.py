# SPDX-License-Identifier: Apache-2.0
"""Typed form of the JSON that `sql-lineage` prints; its package-info.java documents the format."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

VERSION = 1


@dataclass(frozen=True)
class Field:
    """Column of a table. `kind` is PHYSICAL, COMPUTED or METADATA; `metadata_key` is the connector's name of it."""

    name: str
    type: str
    kind: str = "PHYSICAL"
    metadata_key: str = ""


@dataclass(frozen=True)
class Table:
    """Table of a script.

    Attributes:
        path: catalog, database, name.
        connector: empty for tables of a catalog.
        location: of an Iceberg table; empty for one that does not exist yet.
    """

    path: tuple[str, ...]
    connector: str
    options: Mapping[str, str]
    location: str
    fields: tuple[Field, ...]
    primary_key: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Fully qualified SQL name."""
        return ".".join(self.path)


@dataclass(frozen=True, kw_only=True)
class Edge:
    """Edge from a column of `sources[source]`, or a nested field of it, to a column or to all rows."""

    source: int
    column: str
    path: tuple[str, ...]
    subtype: str
    masking: bool


@dataclass(frozen=True)
class Origins:
    """Origins of a column or of all rows; incomplete where `unknown` has reasons."""

    edges: tuple[Edge, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True)
class Write:
    """INSERT statement: origins of the sink's columns, and of its rows."""

    sink: Table
    sources: tuple[Table, ...]
    columns: tuple[tuple[str, Origins], ...]
    rows: Origins


@dataclass(frozen=True)
class PlannedScript:
    """All INSERTs of a script, and its text without secrets."""

    sql: str
    writes: tuple[Write, ...]


def parse_planner_output(document: Mapping[str, Any]) -> PlannedScript:
    """Parse the planner's output.

    Raises:
        ValueError: it has another version.
        KeyError: a key is missing.
    """
    if document["version"] != VERSION:
        raise ValueError(f"unsupported version {document['version']!r}, expected {VERSION}")
    jobs = document["jobs"]
    return PlannedScript(
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


def _made(found: Mapping[str, Any]) -> Origins:
    edges = (
        Edge(
            source=edge["source"],
            column=edge["column"],
            path=tuple(edge["path"]),
            subtype=edge["subtype"],
            masking=edge["masking"],
        )
        for edge in found["edges"]
    )
    return Origins(tuple(edges), tuple(found["unknown"]))
