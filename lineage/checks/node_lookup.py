# SPDX-License-Identifier: Apache-2.0
"""Resolution of short names to datasets and columns of a graph."""

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from heapq import nsmallest
from typing import Any, NamedTuple

_LISTED = 10
_COMPARED = 20_000
"""Maximum number of names that an unknown name is compared with; more would take seconds."""


class Unresolved(ValueError):
    """Name without a match in the graph, or with several; the message lists these, or the nearest ones."""


class Node(NamedTuple):
    """A dataset, or one of its columns."""

    namespace: str
    name: str
    field: str | None = None

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" + (f"#{self.field}" if self.field is not None else "")

    @property
    def id(self) -> str:
        """Node id in the format of the lineage service."""
        if self.field is None:
            return f"dataset:{self.namespace}:{self.name}"
        return f"datasetField:{self.namespace}:{self.name}:{self.field}"


def resolve(text: str, export: Mapping[str, Any]) -> Node:
    """Return the node of a graph export that `text` names: `DATASET`, `DATASET#COLUMN` or `DATASET.COLUMN`.

    A dataset is named in full (`s3://warehouse/sales/orders`), by its name alone (`sales/orders`, a topic), or by
    an alias (`lake.sales.orders`).

    Raises:
        Unresolved: there is no match, or several; the message lists these, or the nearest ones.
    """
    names = _Names(export)
    found = names.nodes(text)
    if len(found) == 1:
        return found[0]
    if found:
        listed = "".join(f"\n  {node}" for node in found[:_LISTED])
        raise Unresolved(f"{text!r} names {len(found)} things; write one of them in full:{listed}")
    raise Unresolved(f"the graph has nothing that is called {text!r}; {names.advice(text)}")


class _Names:
    """All names of a graph's datasets, and their columns."""

    def __init__(self, export: Mapping[str, Any]) -> None:
        self._full: dict[str, Node] = {}
        self._short: dict[str, set[Node]] = {}
        self._columns: dict[Node, set[str]] = {}
        for row in export["datasets"]:
            node = Node(row["namespace"], row["name"])
            self._full[str(node)] = node
            self._columns[node] = set(_paths(row["fields"], ""))
            self._short.setdefault(node.name, set()).add(node)
            for alias in row["symlinks"]:
                for name in (alias["name"], f"{alias['namespace']}/{alias['name']}"):
                    self._short.setdefault(name, set()).add(node)
        for edge in (*export["columns"], *export["datasetColumns"]):
            for end in (edge["input"], edge["output"]):
                if "field" in end:
                    self._columns.setdefault(Node(end["namespace"], end["name"]), set()).add(end["field"])

    def nodes(self, text: str) -> list[Node]:
        """Return all matches of a text; datasets take precedence over columns."""
        dataset, separator, field = text.partition("#")
        if separator:
            return self._with_column(dataset, field)
        if found := self._datasets(text):
            return found
        cuts = [i for i, character in enumerate(text) if character == "."]
        return sorted({node for i in cuts for node in self._with_column(text[:i], text[i + 1 :])})

    def advice(self, text: str) -> str:
        """Suggest names to write instead."""
        dataset, _, field = text.partition("#")
        if field and (found := self._datasets(dataset)):
            return f"columns of {found[0]} are {_listed(sorted(self._columns[found[0]]))}"
        if not self._full:
            return "it has no datasets yet; run a job"
        near = nsmallest(_COMPARED, (*self._short, *self._full), key=lambda name: abs(len(name) - len(dataset)))
        return f"near are {_listed(get_close_matches(dataset, near, n=_LISTED, cutoff=0.4) or sorted(self._full))}"

    def _datasets(self, text: str) -> list[Node]:
        if text in self._full:
            return [self._full[text]]
        return sorted(self._short.get(text, ()))

    def _with_column(self, dataset: str, field: str) -> list[Node]:
        return [node._replace(field=field) for node in self._datasets(dataset) if field in self._columns[node]]


def _paths(fields: Iterable[Mapping[str, Any]], above: str) -> Iterator[str]:
    for field in fields:
        path = f"{above}{field['name']}"
        yield path
        yield from _paths(field.get("fields") or (), f"{path}.")


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return (", ".join(names[:_LISTED]) or "unknown") + more
