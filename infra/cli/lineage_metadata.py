# SPDX-License-Identifier: Apache-2.0
"""`lab lineage describe | tags`: owners, descriptions and tags from a file, and tags that follow column edges."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from infra.cli.lineage_client import GRAPH_PATH, SUMMARIES_PATH, administer, get_json
from infra.errors import LabError
from lineage.checks.contract import ContractError
from lineage.checks.metadata import (
    CarriedTag,
    Metadata,
    TaggedColumn,
    carried_tags,
    described_of_entry,
    load_metadata,
    metadata_events,
    metadata_file,
    tagged_columns,
)
from lineage.events import DatasetId, JobId, identity_json

BATCH_PATH = "/api/v1/lineage/batch"
METADATA_PATH = "/api/v1/metadata/all"


def read_metadata(path: Path) -> Metadata:
    """Return the contents of a metadata file.

    Raises:
        LabError: it cannot be read or is not valid.
    """
    try:
        return load_metadata(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise LabError(f"cannot read the metadata file {path}: {error}") from error
    except ContractError as error:
        raise LabError(f"invalid metadata file {path}: {error}") from error


def unknown_nodes(service: str, key: str, metadata: Metadata) -> list[str]:
    """Return what the file names and the graph does not have: the events would make it.

    Raises:
        LabError: the service does not respond, or refuses the admin key.
    """
    summaries = administer("GET", service, key, SUMMARIES_PATH)
    known = {
        (kind, row["namespace"], row["name"])
        for kind, rows in ((JobId, summaries["jobs"]), (DatasetId, summaries["datasets"]))
        for row in rows
    }
    nodes = [found.node for found in metadata.described]
    return [f"{node.namespace}/{node.name}" for node in nodes if (type(node), *node) not in known]


def send_metadata(service: str, key: str, metadata: Metadata) -> int:
    """Send a metadata file as events with an admin key; return their number.

    Raises:
        LabError: the service does not respond, or refuses an event or the key.
    """
    events = metadata_events(metadata, datetime.now(UTC).isoformat())
    administer("POST", service, key, BATCH_PATH, content=events)
    return len(events)


def stated_metadata(service: str) -> str:
    """Return what the metadata file and the page say now, as a metadata file; empty if nothing is described.

    Raises:
        LabError: the service does not respond, or the jobs have several namespaces.
    """
    found = [
        described_of_entry(
            (JobId if row["nodeId"].startswith("job:") else DatasetId)(row["namespace"], row["name"]), row["entry"]
        )
        for row in get_json(service, METADATA_PATH)["nodes"]
    ]
    try:
        content = metadata_file(Metadata(tuple(found)))
    except ValueError as error:
        raise LabError(f"no metadata file can be written: {error}") from error
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120) if found else ""


def tags_of(service: str, key: str | None) -> tuple[list[TaggedColumn], list[CarriedTag]]:
    """Return the columns that events tag, and those that get a tag from them; only of tag `key` if one is given.

    Raises:
        LabError: the service does not respond.
    """
    tagged = tagged_columns(get_json(service, SUMMARIES_PATH), key)
    return tagged, carried_tags(tagged, get_json(service, GRAPH_PATH)["columns"])


def tags_json(tagged: Sequence[TaggedColumn], carried: Sequence[CarriedTag]) -> str:
    """Render `{"tagged": [...], "carried": [...]}`.

    Rows are a column, `{"namespace", "name", "field"}`, with its `tag`; carried ones also have `origin` (a column),
    `distance`, `aggregated` and `job`.
    """
    rows = {
        "tagged": [{**_column_json(each.dataset, each.field), "tag": each.tag} for each in tagged],
        "carried": [
            {
                **_column_json(each.dataset, each.field),
                "tag": each.tag,
                "origin": _column_json(each.origin.dataset, each.origin.field),
                "distance": each.distance,
                "aggregated": each.aggregated,
                "job": identity_json(each.job),
            }
            for each in carried
        ],
    }
    return json.dumps(rows, indent=2) + "\n"


def tags_text(tagged: Sequence[TaggedColumn], carried: Sequence[CarriedTag]) -> str:
    """Render each tagged column, and below it what has the tag because of it."""
    if not tagged:
        return "no column of the graph has such a tag; give it one: bin/lab lineage describe FILE\n"
    lines: list[str] = []
    for origin in tagged:
        lines.append(f"{origin.tag}: {_name(origin.dataset, origin.field)}")
        below = sorted((each for each in carried if each.origin == origin), key=lambda each: each.distance)
        for each in below:
            weaker = ", aggregated" if each.aggregated else ""
            jobs = f"{each.distance} job{'' if each.distance == 1 else 's'}"
            lines.append(f"  {_name(each.dataset, each.field)} ({jobs}{weaker}, by {each.job.name})")
        if not below:
            lines.append("  no other column has its values")
    return "\n".join(lines) + "\n"


def _column_json(dataset: DatasetId, field: str) -> Mapping[str, Any]:
    return {**identity_json(dataset), "field": field}


def _name(dataset: DatasetId, field: str) -> str:
    return f"{dataset.namespace}/{dataset.name}#{field}"
