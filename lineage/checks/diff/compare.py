# SPDX-License-Identifier: Apache-2.0
"""Comparison of two graph exports."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from lineage.checks.diff.difference import Change, Difference, Kind, Node, Subject

EXPORT_VERSION = 1

Row = Mapping[str, Any]


def diff_graphs(before: Row, after: Row) -> Difference:
    """Return the changes from the graph `before` to the graph `after`.

    Both are graph exports. Their `vanished` entries are not compared: they repeat edges that were removed.

    Raises:
        ValueError: one is not a graph export, or has another version.
    """
    old, new = _read(before, "first"), _read(after, "second")
    changes = [change for subject in Subject for change in _compare(subject, old, new)]
    return Difference((*changes, *_reordered(old, new)))


class _Element(NamedTuple):
    """Something in a graph: the job or dataset that it belongs to, how it is written, how it is, what it is about."""

    owner: str
    text: str
    state: str
    nodes: tuple[Node, ...]


_Elements = dict[Subject, dict[tuple[Any, ...], _Element]]
"""Everything in a graph by its identity."""


def _compare(subject: Subject, old: _Elements, new: _Elements) -> Iterator[Change]:
    before, after = old[subject], new[subject]
    for key in sorted(before.keys() | after.keys()):
        was, now = before.get(key), after.get(key)
        if was is None and now is not None:
            yield Change(Kind.ADDED, subject, now.owner, now.text, after=now.state, nodes=now.nodes)
        elif now is None and was is not None:
            yield Change(Kind.REMOVED, subject, was.owner, was.text, before=was.state, nodes=was.nodes)
        elif was is not None and now is not None and was.state != now.state:
            yield Change(Kind.CHANGED, subject, now.owner, now.text, was.state, now.state, now.nodes)


def _reordered(old: _Elements, new: _Elements) -> Iterator[Change]:
    """Yield datasets whose common columns changed order: order is part of a schema."""
    before, after = _orders(old), _orders(new)
    for dataset in sorted(before.keys() & after.keys()):
        both = set(before[dataset]) & set(after[dataset])
        was, now = ([name for name in order[dataset] if name in both] for order in (before, after))
        if was != now:
            element = new[Subject.DATASET][dataset]
            old_order, new_order = f"columns {', '.join(was)}", ", ".join(now)
            yield Change(
                Kind.CHANGED, Subject.DATASET, element.owner, element.text, old_order, new_order, element.nodes
            )


def _orders(elements: _Elements) -> dict[tuple[Any, ...], list[str]]:
    """Return the columns of each dataset in the schema's order, nested ones by their path."""
    orders: dict[tuple[Any, ...], list[str]] = {}
    for *dataset, path in elements[Subject.COLUMN]:
        orders.setdefault(tuple(dataset), []).append(".".join(path))
    return orders


def _read(export: Row, which: str) -> _Elements:
    if not isinstance(export, Mapping) or "version" not in export:
        raise ValueError(f"the {which} graph is not a graph export; get one from /api/v1/graph")
    if export["version"] != EXPORT_VERSION:
        raise ValueError(
            f"the {which} graph export has version {export['version']!r}; this comparison reads {EXPORT_VERSION}"
        )
    try:
        return {
            Subject.JOB: {
                _id(row): _Element(_text(row), _text(row), _job_state(row), (_job(row),)) for row in export["jobs"]
            },
            Subject.DATASET: {
                _id(row): _Element(_text(row), _text(row), _symlinks(row), (_dataset(row),))
                for row in export["datasets"]
            },
            Subject.COLUMN: _columns(export["datasets"]),
            Subject.EDGE: _edges(export["edges"]),
            Subject.FLOW: _flows(export["flows"]),
            Subject.COLUMN_EDGE: _column_edges([*export["columns"], *export["datasetColumns"]]),
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the {which} graph export is broken: {error!r}") from error


def _job_state(row: Row) -> str:
    return ", ".join(part for part in (row["type"], row["state"]) if part)


def _symlinks(row: Row) -> str:
    return ", ".join(sorted(f"{_text(alias)}{_kind(alias)}" for alias in row["symlinks"]))


def _kind(alias: Row) -> str:
    return f" {alias['type']}" if alias.get("type") else ""


def _columns(datasets: Iterable[Row]) -> dict[tuple[Any, ...], _Element]:
    found: dict[tuple[Any, ...], _Element] = {}
    for dataset in datasets:
        for path, kind in _fields(dataset["fields"], ()):
            text = f"{_text(dataset)}#{'.'.join(path)}"
            found[(*_id(dataset), path)] = _Element(_text(dataset), text, kind or "", (_dataset(dataset),))
    return found


def _fields(fields: Iterable[Row], above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str | None]]:
    for field in fields:
        path = (*above, field["name"])
        yield path, field.get("type")
        yield from _fields(field.get("fields") or (), path)


def _edges(rows: Iterable[Row]) -> dict[tuple[Any, ...], _Element]:
    return {(*_id(row["job"]), row["direction"], *_id(row["dataset"])): _edge(row) for row in rows}


def _edge(row: Row) -> _Element:
    reads = row["direction"] == "input"
    text = f"{_text(row['job'])} {'<-' if reads else '->'} {_text(row['dataset'])}"
    job, dataset = _job(row["job"]), _dataset(row["dataset"])
    return _Element(_text(row["job"]), text, "", (dataset, job) if reads else (job, dataset))


def _flows(rows: Iterable[Row]) -> dict[tuple[Any, ...], _Element]:
    return {
        (*_id(row["job"]), *_id(row["output"]), *_id(row["input"])): _Element(
            _text(row["job"]),
            f"{_text(row['output'])} <- {_text(row['input'])} by {_text(row['job'])}",
            "",
            _data_path(row),
        )
        for row in rows
    }


def _column_edges(rows: Iterable[Row]) -> dict[tuple[Any, ...], _Element]:
    """Group edges by both ends; the state of a group is all its transformations."""
    edges: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        edges.setdefault((*_id(row["job"]), *_end(row["output"]), *_end(row["input"])), []).append(row)
    return {
        key: _Element(
            _text(group[0]["job"]),
            f"{_column(group[0]['output'])} <- {_column(group[0]['input'])} by {_text(group[0]['job'])}",
            ", ".join(sorted({_transformation(row) for row in group})),
            _data_path(group[0]),
        )
        for key, group in edges.items()
    }


def _transformation(row: Row) -> str:
    kind = "/".join(part for part in (row["type"], row["subtype"]) if part) or "unspecified"
    return f"{kind} masked" if row["masking"] else kind


def _id(row: Row) -> tuple[str, str]:
    namespace, name = row["namespace"], row["name"]
    if not isinstance(namespace, str) or not isinstance(name, str):
        raise TypeError(f"{namespace!r}, {name!r} are not a namespace and a name")
    return namespace, name


def _end(row: Row) -> tuple[str, str, str]:
    return *_id(row), row.get("field") or ""


def _job(row: Row) -> Node:
    return Node("job", row["namespace"], row["name"])


def _dataset(row: Row) -> Node:
    return Node("dataset", row["namespace"], row["name"])


def _data_path(row: Row) -> tuple[Node, ...]:
    """Return the nodes from an input to an output: dataset, job, dataset."""
    return _dataset(row["input"]), _job(row["job"]), _dataset(row["output"])


def _text(row: Row) -> str:
    return f"{row['namespace']}/{row['name']}"


def _column(row: Row) -> str:
    return f"{_text(row)}#{row['field']}" if row.get("field") else _text(row)
