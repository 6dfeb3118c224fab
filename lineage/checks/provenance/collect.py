# SPDX-License-Identifier: Apache-2.0
"""Facts of a provenance, from the responses of a lineage service."""

from collections.abc import Iterator
from typing import Protocol
from urllib.parse import quote

from lineage.checks.node_lookup import Node
from lineage.checks.provenance.document import sha256, signed
from lineage.events import JsonObject
from lineage.events.timestamps import parse_time

PAGE = 100
"""Runs or versions of one request."""

_CODE_FACETS = (("sql", "query"), ("sourceCode", "sourceCode"))
"""Facets with the code of a job, and their member that holds it."""


class Reader(Protocol):
    """Reads JSON objects of a lineage service."""

    def __call__(self, path: str, **parameters: str) -> JsonObject: ...


def collect(read: Reader, subject: Node, at: str, service: str, *, is_past: bool) -> JsonObject:
    """Return the document of a dataset or column.

    Schemas and runs are those of the time `at` (RFC 3339), as far as the service keeps them; tags and owners are the
    present ones.

    Args:
        service: address of the service, for the document.
        is_past: `at` is not the present, so that the service has to look back.
    """
    time = {"asOf": at} if is_past else {}
    reach = read("/api/v1/origin", nodeId=subject.id, **time)
    edges = _edges(reach)
    produced = {_id(each["output"]) for each in edges}
    start = {**reach["start"], "distance": 0, "certain": True}
    datasets = {_id(row): row for row in (*reach["datasets"], start)}
    return signed(
        {
            "subject": reach["start"],
            "at": at,
            "service": service,
            "datasets": [
                {**_dataset(read, row, at), "isSource": key not in produced} for key, row in sorted(datasets.items())
            ],
            "jobs": [_job(read, row, at) for row in sorted(reach["jobs"], key=_id)],
            "edges": edges,
        }
    )


def _edges(reach: JsonObject) -> list[JsonObject]:
    """Return every edge once, sorted."""
    rows = (edge for kind in ("columns", "datasets", "jobs") for row in reach[kind] for edge in row["edges"])
    return [edge for _, edge in sorted({sha256(edge): edge for edge in rows}.items())]


def _dataset(read: Reader, row: JsonObject, at: str) -> JsonObject:
    path = f"/api/v1/namespaces/{_path(row['namespace'])}/datasets/{_path(row['name'])}"
    current = read(path)
    version = _latest(_pages(read, f"{path}/versions", "versions"), "createdAt", at)
    fields = _types(version["fields"]) if version else []
    return {
        **_place(row),
        "version": version["version"] if version else None,
        "versionSince": version["createdAt"] if version else None,
        "schema": fields,
        "schemaHash": sha256(fields) if fields else None,
        "tags": sorted(current["tags"]),
        "owners": _owners(current["facets"]),
    }


def _job(read: Reader, row: JsonObject, at: str) -> JsonObject:
    path = f"/api/v1/namespaces/{_path(row['namespace'])}/jobs/{_path(row['name'])}"
    run = _latest(_pages(read, f"{path}/runs", "runs"), "startedAt", at)
    facets = read(f"/api/v1/jobs/runs/{run['id']}/facets", type="job")["facets"] if run else {}
    code = _code(facets)
    is_open = run is not None and (run["endedAt"] is None or parse_time(run["endedAt"]) > parse_time(at))
    return {
        **_place(row),
        "run": run["id"] if run else None,
        "state": ("RUNNING" if is_open else run["state"]) if run else None,
        "startedAt": run["startedAt"] if run else None,
        "endedAt": run["endedAt"] if run and not is_open else None,
        "code": code,
        "codeHash": sha256(code) if code else None,
        "owners": _owners(read(path)["facets"]),
    }


def _code(facets: JsonObject) -> str | None:
    """Return the code of a job; None if no facet has it."""
    found = (_member(facets, name, member) for name, member in _CODE_FACETS)
    return next((text for text in found if isinstance(text, str)), None)


def _pages(read: Reader, path: str, key: str) -> Iterator[JsonObject]:
    """Yield the rows of a list, page by page, newest first."""
    offset = 0
    while rows := read(path, limit=str(PAGE), offset=str(offset))[key]:
        yield from rows
        offset += len(rows)


def _latest(rows: Iterator[JsonObject], key: str, at: str) -> JsonObject | None:
    """Return the newest row whose time is not after `at`."""
    limit = parse_time(at)
    return next((row for row in rows if row[key] is not None and parse_time(row[key]) <= limit), None)


def _id(row: JsonObject) -> tuple[str, str]:
    return row["namespace"], row["name"]


def _place(row: JsonObject) -> JsonObject:
    return {key: row[key] for key in ("namespace", "name", "distance", "certain")}


def _types(fields: list[JsonObject]) -> list[JsonObject]:
    return [{"name": field["name"], "type": field["type"]} for field in fields]


def _owners(facets: JsonObject) -> list[str]:
    owners = _member(facets, "ownership", "owners")
    rows = owners if isinstance(owners, list) else []
    return sorted({row["name"] for row in rows if isinstance(row, dict) and isinstance(row.get("name"), str)})


def _member(facets: JsonObject, name: str, member: str) -> object:
    """Return a member of a facet, whose content is not validated; None without it."""
    facet = facets.get(name)
    return facet.get(member) if isinstance(facet, dict) else None


def _path(text: str) -> str:
    return quote(text, safe="")
