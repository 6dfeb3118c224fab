# SPDX-License-Identifier: Apache-2.0
"""The answers of `/api/v1/impact` and `/api/v1/origin`, for people."""

from collections.abc import Iterator, Mapping
from typing import Any

Row = Mapping[str, Any]


def render_reach(title: str, answer: Row) -> str:
    """What was reached, nearest first: datasets, below each its columns, each with the edge it was reached over."""
    columns: dict[tuple[str, str], list[Row]] = {}
    for row in answer["columns"]:
        columns.setdefault((row["namespace"], row["name"]), []).append(row)
    lines = [f"{title} {_name(answer['start'])}"]
    for dataset in sorted(answer["datasets"], key=_nearest):
        lines.append(f"  {_name(dataset)}{_whole(dataset)}{_distance(dataset)}{_doubt(dataset)}")
        lines += (line for row in columns.get((dataset["namespace"], dataset["name"]), ()) for line in _column(row))
    lines += (f"  job {_name(job)}{_distance(job)}{_doubt(job)}" for job in sorted(answer["jobs"], key=_nearest))
    counts = ", ".join(_count(len(answer[key]), key[:-1]) for key in ("datasets", "columns", "jobs"))
    return "\n".join([*lines, counts]) + "\n"


def _column(row: Row) -> Iterator[str]:
    yield f"    {row['field']}{_doubt(row)}"
    for edge in row["edges"]:
        if "field" in edge["input"] and "field" in edge["output"]:
            kind = "/".join(part for part in (edge["type"], edge["subtype"]) if part) or "unspecified"
            masked = " masked" if edge["masking"] else ""
            yield f"      {_name(edge['output'])} <- {_name(edge['input'])} ({kind}{masked}) by {_name(edge['job'])}"


def _name(row: Row) -> str:
    field = f"#{row['field']}" if "field" in row else ""
    return f"{row['namespace']}/{row['name']}{field}"


def _nearest(row: Row) -> tuple[int, str]:
    return row["distance"], _name(row)


def _whole(row: Row) -> str:
    return " (all rows)" if row.get("whole") else ""


def _distance(row: Row) -> str:
    return f", {_count(row['distance'], 'job')} away"


def _doubt(row: Row) -> str:
    return "" if row["certain"] else ", perhaps: a job on the way does not say what it does with columns"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
