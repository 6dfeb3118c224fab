# SPDX-License-Identifier: Apache-2.0
"""Sources and tags in Marquez's shapes."""

from lineage.events import DatasetId, JobId, JsonObject
from lineage.events.timestamps import format_time
from lineage.graph import LineageRecords


def source_of_namespace(lineage: LineageRecords, namespace: str) -> JsonObject:
    """Render a namespace of datasets (`kafka://host:port`, `s3://bucket`) as a source."""
    span = lineage.namespaces[namespace]
    scheme = namespace.partition("://")[0].upper() if "://" in namespace else ""
    return {
        "type": scheme,
        "name": namespace,
        "createdAt": format_time(span.first.time),
        "updatedAt": format_time(span.last.time),
        "connectionUrl": namespace,
        "description": None,
    }


def tags_of(lineage: LineageRecords, node: JobId | DatasetId) -> set[str]:
    """Return the names of the tags on a job, or on a dataset and its columns."""
    facets = lineage.jobs[node].facets if isinstance(node, JobId) else lineage.datasets[node].facets
    tags = (facets.get("tags") or {}).get("tags")
    if not isinstance(tags, list):
        return set()
    return {tag["key"] for tag in tags if isinstance(tag, dict) and isinstance(tag.get("key"), str)}
