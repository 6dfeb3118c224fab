# SPDX-License-Identifier: Apache-2.0
"""Report of what explains a wrong number, as text and JSON."""

from typing import Any

from lineage.checks.cause.change import Change
from lineage.checks.cause.ranking import BLAME, Cause, Finding
from lineage.events import DatasetId, JobId, identity_json
from lineage.events.timestamps import format_time

_MAX_LISTED = 10


def render_json(finding: Finding) -> dict[str, Any]:
    """Return the finding as a JSON object."""
    start = finding.upstream.start
    field = {} if start.field is None else {"field": start.field}
    return {
        "start": {"namespace": start.namespace, "name": start.name, **field},
        "since": format_time(finding.since),
        "until": format_time(finding.until),
        "events": finding.events,
        "explained": finding.cause is not None,
        "likely": sum(cause.score >= BLAME for cause in finding.causes),
        "causes": [
            {
                **_change_json(cause.change),
                "score": round(cause.score, 2),
                "distance": cause.distance,
                "carried": [_node_json(node) for node in cause.carried],
                "explains": [_change_json(change) for change in cause.explains],
            }
            for cause in finding.causes
        ],
    }


def render_text(finding: Finding) -> str:
    """Return the finding as lines of text."""
    since, until = format_time(finding.since), format_time(finding.until)
    jobs = len(finding.upstream.jobs)
    lines = [f"{finding.upstream.start}: changes upstream from {since} to {until}, {jobs} jobs"]
    likely = [cause for cause in finding.causes if cause.score >= BLAME]
    if not likely:
        lines.append("  no change of schemas, jobs, runs, volume or quality explains it: the data themselves changed")
    for number, cause in enumerate(likely[:_MAX_LISTED], 1):
        lines += _cause_lines(f"{number}.", cause)
    if rest := finding.causes[len(likely) :]:
        lines.append("  also changed, without a path to it:")
        lines += [f"    {_name(cause.change.node)}: {cause.change.summary}" for cause in rest[:_MAX_LISTED]]
    return "\n".join(lines) + "\n"


def _cause_lines(number: str, cause: Cause) -> list[str]:
    change = cause.change
    away = f"{cause.distance} job{'' if cause.distance == 1 else 's'} away"
    lines = [
        f"  {number} {change.kind} of {_name(change.node)}, {away} (score {cause.score:.2f})",
        f"     {change.summary}",
        f"     first seen {format_time(change.at)}"
        + (f" in run {change.run} of {change.job.name}" if change.run else f" for {change.job.name}"),
    ]
    if change.before:
        lines += [f"     before: {change.before}", f"     after:  {change.after}"]
    if cause.carried:
        lines.append(f"     passed on to {', '.join(_name(node) for node in cause.carried)}")
    lines += [f"     explains: {_name(each.node)}: {each.summary}" for each in cause.explains]
    return lines


def _change_json(change: Change) -> dict[str, Any]:
    return {
        "kind": str(change.kind),
        "node": _node_json(change.node),
        "at": format_time(change.at),
        "run": change.run or None,
        "job": identity_json(change.job),
        "summary": change.summary,
        "columns": sorted(change.removed | change.added),
        "before": change.before or None,
        "after": change.after or None,
    }


def _node_json(node: DatasetId | JobId) -> dict[str, str]:
    return {"type": "DATASET" if isinstance(node, DatasetId) else "JOB", **identity_json(node)}


def _name(node: DatasetId | JobId) -> str:
    return f"{node.namespace}/{node.name}"
