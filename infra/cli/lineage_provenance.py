# SPDX-License-Identifier: Apache-2.0
"""`lab lineage provenance`: evidence for auditors of where a dataset or column comes from."""

import json
from functools import partial
from pathlib import Path

from infra.cli.lineage_client import GRAPH_PATH, get_json
from infra.errors import LabError
from lineage.checks.node_lookup import Node, Unresolved, resolve
from lineage.checks.provenance import collect, is_unaltered
from lineage.checks.provenance.html_page import full_name
from lineage.events import JsonObject, MalformedJson, parse_json


def provenance_of(service: str, name: str, at: str, *, is_past: bool) -> JsonObject:
    """Return the document of a dataset or column at a time; the present one unless `is_past`.

    Raises:
        LabError: there is no such node at that time, or the service does not respond.
    """
    node = _resolved(service, name, at if is_past else None)
    return collect(partial(get_json, service), node, at, service, is_past=is_past)


def _resolved(service: str, name: str, at: str | None) -> Node:
    """Return the node, of the graph of a past time if there is none now: that one takes the service seconds."""
    try:
        return resolve(name, get_json(service, GRAPH_PATH))
    except Unresolved as error:
        if at is None:
            raise LabError(str(error)) from error
    try:
        return resolve(name, get_json(service, GRAPH_PATH, asOf=at))
    except Unresolved as error:
        raise LabError(f"at {at}: {error}") from error


def summary(document: JsonObject) -> str:
    """Return a document as a few lines of text."""
    sources = [full_name(row) for row in document["datasets"] if row["isSource"]]
    lines = [
        f"provenance of {full_name(document['subject'])} at {document['at']}",
        *(f"  source {name}" for name in sources),
        *(f"  job {full_name(row)}, run {row['run'] or 'unknown'}" for row in document["jobs"]),
        f"{len(document['datasets'])} datasets, {len(document['jobs'])} jobs, {len(document['edges'])} edges",
        f"sha256 {document['sha256']}",
    ]
    return "\n".join(lines) + "\n"


def check_document(path: Path) -> None:
    """Verify the hash of a document.

    Raises:
        LabError: it is no such document, or was altered.
    """
    try:
        document = parse_json(path.read_bytes())
    except OSError as error:
        raise LabError(f"cannot read {path}: {error}") from error
    except MalformedJson as error:
        raise LabError(f"{path} is not JSON: {error}") from error
    if not isinstance(document, dict) or document.get("document") != "provenance":
        raise LabError(
            f"{path} is not a provenance document; make one with: bin/lab lineage provenance DATASET --json FILE"
        )
    if not is_unaltered(document):
        raise LabError(f"{path} was altered: its content does not have the hash {document.get('sha256')}")


def as_json(document: JsonObject) -> str:
    """Return a document as JSON text."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
