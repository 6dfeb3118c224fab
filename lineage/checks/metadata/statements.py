# SPDX-License-Identifier: Apache-2.0
"""Metadata of nodes, read from the facets of the metadata producer, and rendered as the entries of a file."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lineage.checks.metadata.load import DEFAULT_OWNER, DEFAULT_VALUE, VERSION
from lineage.checks.metadata.model import Described, Metadata, Owner, Tag
from lineage.events import DatasetId, JobId, JsonObject
from lineage.events.own_facets import COLUMN_DESCRIPTIONS_FACET, column_descriptions


def described_by(node: DatasetId | JobId, stated: Callable[[str], Mapping[str, Any]]) -> Described:
    """Return what facets say about a node.

    Args:
        node: the dataset or job.
        stated: returns the current facet of a name that the metadata producer sent; empty without one.
    """
    owners = _rows(stated("ownership").get("owners"), "name")
    tags = _rows(stated("tags").get("tags"), "key")
    return Described(
        node,
        _text(stated("documentation").get("description"), ""),
        tuple(Owner(row["name"], _text(row.get("type"), DEFAULT_OWNER)) for row in owners),
        tuple(
            Tag(row["key"], _text(row.get("value"), DEFAULT_VALUE), _text(row.get("field"), "") or None) for row in tags
        ),
        tuple(column_descriptions(stated(COLUMN_DESCRIPTIONS_FACET)).items()),
    )


def _rows(value: object, key: str) -> list[Mapping[str, Any]]:
    """Return the rows that have a text under a key: any emitter can send any content."""
    rows = value if isinstance(value, list) else []
    return [row for row in rows if isinstance(row, dict) and _text(row.get(key), "")]


def _text(value: object, default: str) -> str:
    return value if isinstance(value, str) and value else default


def is_empty(found: Described) -> bool:
    """Return True for a node without metadata."""
    return not (found.description or found.owners or found.tags or found.columns)


def entry_json(found: Described) -> JsonObject:
    """Return an entry in full: `description`, `owners`, `tags`, and `columns` with `description` and `tags` each."""
    columns: dict[str, JsonObject] = {}
    for name, text in found.columns:
        _column(columns, name)["description"] = text
    for tag in found.tags:
        if tag.field is not None:
            _column(columns, tag.field)["tags"].append(_tag_json(tag))
    return {
        "description": found.description,
        "owners": [{"name": owner.name, "type": owner.type} for owner in found.owners],
        "tags": [_tag_json(tag) for tag in found.tags if tag.field is None],
        "columns": columns,
    }


def described_of_entry(node: DatasetId | JobId, entry: Mapping[str, Any]) -> Described:
    """Return the inverse of `entry_json`."""
    return Described(
        node,
        entry["description"],
        tuple(Owner(row["name"], row["type"]) for row in entry["owners"]),
        tuple(
            Tag(row["key"], row["value"], field)
            for field, rows in ((None, entry["tags"]), *((name, row["tags"]) for name, row in entry["columns"].items()))
            for row in rows
        ),
        tuple((name, row["description"]) for name, row in entry["columns"].items() if row["description"]),
    )


def metadata_file(metadata: Metadata) -> JsonObject:
    """Return the contents of a metadata file, in short forms; jobs must have one namespace.

    Raises:
        ValueError: jobs have several namespaces, which a file cannot say.
    """
    jobs = [found for found in metadata.described if isinstance(found.node, JobId)]
    namespaces = sorted({found.node.namespace for found in jobs})
    if len(namespaces) > 1:
        raise ValueError(f"the described jobs have several namespaces, {', '.join(namespaces)}; a file has one")
    datasets = [found for found in metadata.described if isinstance(found.node, DatasetId)]
    return {
        "version": int(VERSION),
        **({"namespace": namespaces[0]} if namespaces else {}),
        **_part("datasets", ({"dataset": "/".join(found.node), **_short(found)} for found in datasets)),
        **_part("jobs", ({"job": found.node.name, **_short(found)} for found in jobs)),
    }


def _part(name: str, rows: Iterable[JsonObject]) -> JsonObject:
    found = list(rows)
    return {name: found} if found else {}


def _short(found: Described) -> JsonObject:
    entry = entry_json(found)
    columns = {
        name: _present(description=row["description"], tags=[_short_tag(tag) for tag in row["tags"]])
        for name, row in entry["columns"].items()
    }
    owners = [owner["name"] if owner["type"] == DEFAULT_OWNER else owner for owner in entry["owners"]]
    tags = [_short_tag(tag) for tag in entry["tags"]]
    return _present(description=entry["description"], owners=owners, tags=tags, columns=columns)


def _present(**entries: object) -> JsonObject:
    return {key: value for key, value in entries.items() if value}


def _short_tag(tag: JsonObject) -> object:
    return tag["key"] if tag["value"] == DEFAULT_VALUE else tag


def _tag_json(tag: Tag) -> JsonObject:
    return {"key": tag.key, "value": tag.value}


def _column(columns: dict[str, JsonObject], name: str) -> JsonObject:
    return columns.setdefault(name, {"description": "", "tags": []})
