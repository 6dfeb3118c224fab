# SPDX-License-Identifier: Apache-2.0
"""Report of what explains a wrong number, as text and JSON."""

from collections.abc import Mapping
from typing import Any

from lineage.checks.cause.change import Change
from lineage.checks.cause.ranking import BLAME, Finding
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


def render_text(found: Mapping[str, Any]) -> str:
    """Return a finding, as `render_json` or the service's `/api/v1/cause` return it, as lines of text."""
    start, likely = found["start"], found["causes"][: found["likely"]]
    name = _name(start) + (f"#{start['field']}" if start.get("field") is not None else "")
    lines = [f"{name}: changes upstream from {found['since']} to {found['until']}, {found['events']} events compared"]
    if not likely:
        lines.append("  no change of schemas, jobs, runs, volume or quality explains it: the data themselves changed")
    for number, cause in enumerate(likely[:_MAX_LISTED], 1):
        lines += _cause_lines(f"{number}.", cause)
    if rest := found["causes"][len(likely) :]:
        lines.append("  also changed, without a path to it:")
        lines += [f"    {_name(cause['node'])}: {cause['summary']}" for cause in rest[:_MAX_LISTED]]
    return "\n".join(lines) + "\n"


def _cause_lines(number: str, cause: Mapping[str, Any]) -> list[str]:
    away = f"{cause['distance']} job{'' if cause['distance'] == 1 else 's'} away"
    run = f" in run {cause['run']} of {cause['job']['name']}" if cause["run"] else f" for {cause['job']['name']}"
    lines = [
        f"  {number} {cause['kind']} of {_name(cause['node'])}, {away} (score {cause['score']:.2f})",
        f"     {cause['summary']}",
        f"     first seen {cause['at']}{run}",
    ]
    if cause["before"]:
        lines += [f"     before: {cause['before']}", f"     after:  {cause['after']}"]
    if cause["carried"]:
        lines.append(f"     passed on to {', '.join(map(_name, cause['carried']))}")
    lines += [f"     explains: {_name(each['node'])}: {each['summary']}" for each in cause["explains"]]
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


def _name(node: Mapping[str, Any]) -> str:
    return f"{node['namespace']}/{node['name']}"
