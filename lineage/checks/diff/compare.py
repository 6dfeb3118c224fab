# SPDX-License-Identifier: Apache-2.0
"""Comparison of two graph exports."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lineage.checks.diff.difference import Change, Difference, Kind, Node, Subject

EXPORT_VERSION = 1

Row = Mapping[str, Any]


def diff_graphs(before: Row, after: Row) -> Difference:
    """Return the changes from the graph `before` to the graph `after`.

    Both are graph exports. Their `vanished` entries are not compared: they repeat edges that were removed.

    Raises:
        ValueError: one is not a graph export, or has another version.
    """
    old, new = _read_export(before, "first"), _read_export(after, "second")
    changes = [change for subject in Subject for change in _compare_subject(subject, old, new)]
    return Difference((*changes, *_reordered_schemas(old, new)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _GraphElement:
    """Comparable element of a graph: its job or dataset, its text, its state, and the nodes that it connects."""

    owner: str
    text: str
    state: str
    nodes: tuple[Node, ...]


_GraphElements = dict[Subject, dict[tuple[Any, ...], _GraphElement]]
"""Elements of a graph by subject and identity."""


def _compare_subject(subject: Subject, old: _GraphElements, new: _GraphElements) -> Iterator[Change]:
    before, after = old[subject], new[subject]
    for key in sorted(before.keys() | after.keys()):
        was, now = before.get(key), after.get(key)
        if was is None and now is not None:
            yield Change(
                kind=Kind.ADDED, subject=subject, owner=now.owner, text=now.text, after=now.state, nodes=now.nodes
            )
        elif now is None and was is not None:
            yield Change(
                kind=Kind.REMOVED, subject=subject, owner=was.owner, text=was.text, before=was.state, nodes=was.nodes
            )
        elif was is not None and now is not None and was.state != now.state:
            yield Change(
                kind=Kind.CHANGED,
                subject=subject,
                owner=now.owner,
                text=now.text,
                before=was.state,
                after=now.state,
                nodes=now.nodes,
            )


def _reordered_schemas(old: _GraphElements, new: _GraphElements) -> Iterator[Change]:
    """Yield datasets whose common columns changed order: order is part of a schema."""
    before, after = _column_orders(old), _column_orders(new)
    for dataset in sorted(before.keys() & after.keys()):
        both = set(before[dataset]) & set(after[dataset])
        was, now = ([name for name in order[dataset] if name in both] for order in (before, after))
        if was != now:
            element = new[Subject.DATASET][dataset]
            old_order, new_order = f"columns {', '.join(was)}", ", ".join(now)
            yield Change(
                kind=Kind.CHANGED,
                subject=Subject.DATASET,
                owner=element.owner,
                text=element.text,
                before=old_order,
                after=new_order,
                nodes=element.nodes,
            )


def _column_orders(elements: _GraphElements) -> dict[tuple[Any, ...], list[str]]:
    """Return the columns of each dataset in schema order, nested ones by their path."""
    orders: dict[tuple[Any, ...], list[str]] = {}
    for *dataset, path in elements[Subject.COLUMN]:
        orders.setdefault(tuple(dataset), []).append(".".join(path))
    return orders


def _read_export(export: Row, which: str) -> _GraphElements:
    if not isinstance(export, Mapping) or "version" not in export:
        raise ValueError(f"the {which} graph is not a graph export; get one from /api/v1/graph")
    if export["version"] != EXPORT_VERSION:
        raise ValueError(
            f"the {which} graph export has version {export['version']!r}; this comparison reads {EXPORT_VERSION}"
        )
    try:
        return {
            Subject.JOB: {
                _identity(row): _GraphElement(
                    owner=_qualified_name(row),
                    text=_qualified_name(row),
                    state=_job_state(row),
                    nodes=(_job_node(row),),
                )
                for row in export["jobs"]
            },
            Subject.DATASET: {
                _identity(row): _GraphElement(
                    owner=_qualified_name(row),
                    text=_qualified_name(row),
                    state=_symlinks_text(row),
                    nodes=(_dataset_node(row),),
                )
                for row in export["datasets"]
            },
            Subject.COLUMN: _column_elements(export["datasets"]),
            Subject.EDGE: _dataset_edge_elements(export["edges"]),
            Subject.FLOW: _flow_elements(export["flows"]),
            Subject.COLUMN_EDGE: _column_edges([*export["columns"], *export["datasetColumns"]]),
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the {which} graph export is broken: {error!r}") from error


def _job_state(row: Row) -> str:
    return ", ".join(part for part in (row["type"], row["state"]) if part)


def _symlinks_text(row: Row) -> str:
    return ", ".join(sorted(f"{_qualified_name(alias)}{_symlink_type(alias)}" for alias in row["symlinks"]))


def _symlink_type(alias: Row) -> str:
    return f" {alias['type']}" if alias.get("type") else ""


def _column_elements(datasets: Iterable[Row]) -> dict[tuple[Any, ...], _GraphElement]:
    found: dict[tuple[Any, ...], _GraphElement] = {}
    for dataset in datasets:
        for path, kind in _nested_fields(dataset["fields"], ()):
            text = f"{_qualified_name(dataset)}#{'.'.join(path)}"
            found[(*_identity(dataset), path)] = _GraphElement(
                owner=_qualified_name(dataset), text=text, state=kind or "", nodes=(_dataset_node(dataset),)
            )
    return found


def _nested_fields(fields: Iterable[Row], above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str | None]]:
    for field in fields:
        path = (*above, field["name"])
        yield path, field.get("type")
        yield from _nested_fields(field.get("fields") or (), path)


def _dataset_edge_elements(rows: Iterable[Row]) -> dict[tuple[Any, ...], _GraphElement]:
    return {
        (*_identity(row["job"]), row["direction"], *_identity(row["dataset"])): _dataset_edge_element(row)
        for row in rows
    }


def _dataset_edge_element(row: Row) -> _GraphElement:
    reads = row["direction"] == "input"
    text = f"{_qualified_name(row['job'])} {'<-' if reads else '->'} {_qualified_name(row['dataset'])}"
    job, dataset = _job_node(row["job"]), _dataset_node(row["dataset"])
    return _GraphElement(
        owner=_qualified_name(row["job"]), text=text, state="", nodes=(dataset, job) if reads else (job, dataset)
    )


def _flow_elements(rows: Iterable[Row]) -> dict[tuple[Any, ...], _GraphElement]:
    return {
        (*_identity(row["job"]), *_identity(row["output"]), *_identity(row["input"])): _flow_element(row)
        for row in rows
    }


def _flow_element(row: Row) -> _GraphElement:
    job = _qualified_name(row["job"])
    text = f"{_qualified_name(row['output'])} <- {_qualified_name(row['input'])} by {job}"
    return _GraphElement(owner=job, text=text, state="", nodes=_data_path(row))


def _column_edges(rows: Iterable[Row]) -> dict[tuple[Any, ...], _GraphElement]:
    """Group edges by both ends; the state of a group is all its transformations."""
    edges: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        edges.setdefault(column_edge_ends(row), []).append(row)
    return {key: _column_edge_element(group) for key, group in edges.items()}


def column_edge_ends(row: Row) -> tuple[str, ...]:
    """Return what the rows of one edge between columns have in common: job, output and input.

    Raises:
        KeyError, TypeError, AttributeError: the row is broken.
    """
    return *_identity(row["job"]), *_edge_end(row["output"]), *_edge_end(row["input"])


def _column_edge_element(rows: list[Row]) -> _GraphElement:
    edge = rows[0]
    job = _qualified_name(edge["job"])
    text = f"{_column_name(edge['output'])} <- {_column_name(edge['input'])} by {job}"
    transformations = sorted({_transformation_text(row) for row in rows})
    return _GraphElement(owner=job, text=text, state=", ".join(transformations), nodes=_data_path(edge))


def _transformation_text(row: Row) -> str:
    kind = "/".join(part for part in (row["type"], row["subtype"]) if part) or "unspecified"
    return f"{kind} masked" if row["masking"] else kind


def _identity(row: Row) -> tuple[str, str]:
    namespace, name = row["namespace"], row["name"]
    if not isinstance(namespace, str) or not isinstance(name, str):
        raise TypeError(f"namespace {namespace!r} and name {name!r} must be strings")
    return namespace, name


def _edge_end(row: Row) -> tuple[str, str, str]:
    return *_identity(row), row.get("field") or ""


def _job_node(row: Row) -> Node:
    return Node("job", row["namespace"], row["name"])


def _dataset_node(row: Row) -> Node:
    return Node("dataset", row["namespace"], row["name"])


def _data_path(row: Row) -> tuple[Node, ...]:
    """Return the nodes from an input to an output: dataset, job, dataset."""
    return _dataset_node(row["input"]), _job_node(row["job"]), _dataset_node(row["output"])


def _qualified_name(row: Row) -> str:
    return f"{row['namespace']}/{row['name']}"


def _column_name(row: Row) -> str:
    return f"{_qualified_name(row)}#{row['field']}" if row.get("field") else _qualified_name(row)
