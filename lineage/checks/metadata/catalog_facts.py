# SPDX-License-Identifier: Apache-2.0
"""Facts about datasets as properties of catalog tables: owners, description, tags, carried tags, inputs and jobs.

Pure: rows of the API -> a document that `lineagelab_catalog` writes to a catalog.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from lineage.checks.metadata.propagation import CarriedTag
from lineage.events import DatasetId, JsonObject
from lineage.events.own_facets import COLUMN_DESCRIPTIONS_FACET, column_descriptions

VERSION = 1
PREFIX = "lineage-lab."
"""First part of the names of all these properties: what has it and is no longer a fact, is removed from a table."""

Row = Mapping[str, Any]


def catalog_facts(datasets: Iterable[Row], graph: Row, carried: Iterable[CarriedTag]) -> JsonObject:
    """Return `{"version", "prefix", "tables": [{"namespace", "name", "tables", "comment", "properties"}]}`.

    `tables` of a row are names that catalogs have of the dataset (symlinks of the type TABLE).

    Args:
        datasets: as of `GET /api/v1/namespaces/{namespace}/datasets`.
        graph: as of `GET /api/v1/graph`.
        carried: tags that columns have because of others.
    """
    inputs, jobs = _upstream(graph["flows"])
    carried_of: dict[DatasetId, list[CarriedTag]] = defaultdict(list)
    for tag in carried:
        carried_of[tag.dataset].append(tag)
    tables = []
    for row in datasets:
        identity = DatasetId(row["namespace"], row["name"])
        facets = row["facets"]
        columns = _columns(facets, carried_of[identity])
        description = (facets.get("documentation") or {}).get("description") or ""
        properties = {
            "description": description,
            "owners": _json(_rows(facets, "ownership", "owners", ("name", "type"))),
            "tags": _json({tag["key"]: tag.get("value", "true") for tag in _tags(facets) if not tag.get("field")}),
            "inputs": _json(sorted(inputs[identity])),
            "jobs": _json(sorted(jobs[identity])),
            **{f"column.{name}": _json(facts) for name, facts in sorted(columns.items())},
        }
        tables.append(
            {
                **{"namespace": identity.namespace, "name": identity.name},
                "tables": _table_names(facets),
                "comment": description,
                "properties": {f"{PREFIX}{name}": text for name, text in properties.items() if text},
            }
        )
    return {"version": VERSION, "prefix": PREFIX, "tables": tables}


def _upstream(flows: Iterable[Row]) -> tuple[dict[DatasetId, set[str]], dict[DatasetId, set[str]]]:
    """Return by dataset: the datasets that its jobs read for it, and these jobs."""
    inputs, jobs = defaultdict[DatasetId, set[str]](set), defaultdict[DatasetId, set[str]](set)
    for flow in flows:
        output = DatasetId(flow["output"]["namespace"], flow["output"]["name"])
        inputs[output].add(_text(flow["input"]))
        jobs[output].add(_text(flow["job"]))
    return inputs, jobs


def _columns(facets: Row, carried: Iterable[CarriedTag]) -> dict[str, dict[str, Any]]:
    columns: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, text in column_descriptions(facets.get(COLUMN_DESCRIPTIONS_FACET) or {}).items():
        columns[name]["description"] = text
    for tag in _tags(facets):
        if tag.get("field"):
            columns[tag["field"]].setdefault("tags", {})[tag["key"]] = tag.get("value", "true")
    for origin, found in sorted((f"{'/'.join(found.origin.dataset)}#{found.origin.field}", found) for found in carried):
        kind = "aggregatedTags" if found.aggregated else "carriedTags"
        columns[found.field].setdefault(kind, {}).setdefault(found.tag, []).append(origin)
    return columns


def _tags(facets: Row) -> list[dict[str, Any]]:
    return _rows(facets, "tags", "tags", ("key", "value", "field"))


def _table_names(facets: Row) -> list[str]:
    rows = _rows(facets, "symlinks", "identifiers", ("name", "type"))
    return sorted({row["name"] for row in rows if row.get("type") == "TABLE"})


def _rows(facets: Row, facet: str, key: str, kept: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the rows of a facet with the keys `kept`, whose first one each row must have."""
    stated = (facets.get(facet) or {}).get(key)
    rows = [row for row in stated if isinstance(row, dict)] if isinstance(stated, list) else []
    return [{name: row[name] for name in kept if row.get(name)} for row in rows if row.get(kept[0])]


def _text(node: Row) -> str:
    return f"{node['namespace']}/{node['name']}"


def _json(value: list[Any] | dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")) if value else ""
