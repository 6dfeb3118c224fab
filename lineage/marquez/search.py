# SPDX-License-Identifier: Apache-2.0
"""Search by part of a name."""

from lineage.events import DatasetId, JobId, JsonObject
from lineage.events.timestamps import format_time
from lineage.fold import Lineage
from lineage.fold.records import Span
from lineage.marquez.node_ids import node_id


def search(lineage: Lineage, text: str, kind: str | None, by_update: bool, limit: int) -> JsonObject:
    """Jobs and datasets whose name holds `text` in any case; `kind` is JOB, DATASET or None for both."""
    wanted = text.lower()
    found: list[tuple[JobId | DatasetId, Span]] = []
    if kind in (None, "JOB"):
        found += [(job, record.span) for job, record in lineage.jobs.items() if wanted in job.name.lower()]
    if kind in (None, "DATASET"):
        found += [(ds, record.span) for ds, record in lineage.datasets.items() if wanted in ds.name.lower()]
    if by_update:
        found.sort(key=lambda hit: hit[1].last, reverse=True)
    else:
        found.sort(key=lambda hit: (hit[0].name, hit[0].namespace))
    return {"totalCount": len(found), "results": [_result(node, span) for node, span in found[:limit]]}


def _result(node: JobId | DatasetId, span: Span) -> JsonObject:
    return {
        "type": "JOB" if isinstance(node, JobId) else "DATASET",
        "name": node.name,
        "updatedAt": format_time(span.last.time),
        "namespace": node.namespace,
        "nodeId": node_id(node),
    }
