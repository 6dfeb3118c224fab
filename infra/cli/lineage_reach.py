# SPDX-License-Identifier: Apache-2.0
"""Rendering of responses of `/api/v1/impact` and `/api/v1/origin` as text."""

from collections.abc import Iterator, Mapping
from typing import Any

Row = Mapping[str, Any]


def render_reach(title: str, reach: Row) -> str:
    """List the reached datasets, nearest first, each with its columns and the edges by which they were reached."""
    columns: dict[tuple[str, str], list[Row]] = {}
    for row in reach["columns"]:
        columns.setdefault((row["namespace"], row["name"]), []).append(row)
    lines = [f"{title} {_full_name(reach['start'])}"]
    for dataset in sorted(reach["datasets"], key=_by_distance):
        all_rows = " (all rows)" if dataset.get("whole") else ""
        lines.append(f"  {_full_name(dataset)}{all_rows}{_format_distance(dataset)}{_format_uncertainty(dataset)}")
        for row in columns.get((dataset["namespace"], dataset["name"]), ()):
            lines += _column_lines(row)
    for job in sorted(reach["jobs"], key=_by_distance):
        lines.append(f"  job {_full_name(job)}{_format_distance(job)}{_format_uncertainty(job)}")
    counts = ", ".join(_format_count(len(reach[key]), key[:-1]) for key in ("datasets", "columns", "jobs"))
    return "\n".join([*lines, counts]) + "\n"


def _column_lines(row: Row) -> Iterator[str]:
    yield f"    {row['field']}{_format_uncertainty(row)}"
    for edge in row["edges"]:
        if "field" in edge["input"] and "field" in edge["output"]:
            kind = "/".join(part for part in (edge["type"], edge["subtype"]) if part) or "unspecified"
            masked = " masked" if edge["masking"] else ""
            output, source, job = (_full_name(edge[key]) for key in ("output", "input", "job"))
            yield f"      {output} <- {source} ({kind}{masked}) by {job}"


def _full_name(row: Row) -> str:
    field = f"#{row['field']}" if "field" in row else ""
    return f"{row['namespace']}/{row['name']}{field}"


def _by_distance(row: Row) -> tuple[int, str]:
    return row["distance"], _full_name(row)


def _format_distance(row: Row) -> str:
    return f", {_format_count(row['distance'], 'job')} away"


def _format_uncertainty(row: Row) -> str:
    return "" if row["certain"] else ", perhaps: a job in between has no column lineage"


def _format_count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
