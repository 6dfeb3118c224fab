# SPDX-License-Identifier: Apache-2.0
"""Judges events by the standard's own JSON schemas, core and facets, where those are at hand."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource

CORE = "OpenLineage.json"
FACET_HOMES = (("run", "facets"), ("job", "facets"), ("dataset", "facets"))
DATASET_HOMES = ("facets", "inputFacets", "outputFacets")


@cache
def _schemas(folder: Path) -> tuple[Registry, dict[str, dict]]:
    """A registry of all schemas, and each facet's schema by the key under which events carry it."""
    documents = {path.name: json.loads(path.read_text()) for path in folder.glob("*.json")}
    registry = Registry().with_resources(
        (document["$id"], Resource.from_contents(document)) for document in documents.values()
    )
    facets: dict[str, list[dict]] = {}
    for name, document in documents.items():
        if name != CORE:
            for key in document.get("properties", {}):
                facets.setdefault(key, []).append(document)
    return registry, facets


def _core(folder: Path, event: dict) -> dict:
    kind = "RunEvent" if "run" in event else "JobEvent" if "job" in event else "DatasetEvent"
    core = json.loads((folder / CORE).read_text())
    return {"$ref": f"{core['$id']}#/$defs/{kind}"}


def _facets(event: dict) -> Iterator[tuple[str, str, dict]]:
    """(where, key, facet) of every facet of an event."""
    for part, home in FACET_HOMES:
        for key, facet in event.get(part, {}).get(home, {}).items():
            yield f"{part}.{key}", key, facet
    for side in ("inputs", "outputs"):
        for number, dataset in enumerate(event.get(side, [])):
            for home in DATASET_HOMES:
                for key, facet in dataset.get(home, {}).items():
                    yield f"{side}[{number}].{home}.{key}", key, facet


def errors_of(event: dict, folder: Path) -> list[str]:
    """What is wrong with an event, one line each; a facet that the standard does not know is custom."""
    registry, facets = _schemas(folder)
    checker = FormatChecker()
    core = Draft202012Validator(_core(folder, event), registry=registry, format_checker=checker)
    found = [f"{error.json_path}: {error.message}" for error in core.iter_errors(event)]
    for where, key, facet in _facets(event):
        candidates = facets.get(key, [])
        verdicts = [
            [
                f"{where}: {error.message}"
                for error in Draft202012Validator(schema, registry=registry, format_checker=checker).iter_errors(
                    {key: facet}
                )
            ]
            for schema in candidates
        ]
        if verdicts and all(verdicts):
            found += min(verdicts, key=len)
    return found
