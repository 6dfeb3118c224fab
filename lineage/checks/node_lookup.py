# SPDX-License-Identifier: Apache-2.0
"""Resolution of short names to datasets and columns of a graph."""

from collections.abc import Mapping
from difflib import get_close_matches
from heapq import nsmallest
from typing import Any, NamedTuple

from lineage.events.schema_fields import column_types

_MAX_LISTED = 10
_MAX_COMPARED = 20_000
"""Maximum number of names that an unknown name is compared with; more would take seconds."""


class Unresolved(ValueError):
    """Name with no match in the graph, or with several; the message lists the matches or the most similar names."""


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
        Unresolved: there is no match, or several; the message lists the matches or the most similar names.
    """
    names = _NameLookup(export)
    found = names.nodes(text)
    if len(found) == 1:
        return found[0]
    if found:
        listed = "".join(f"\n  {node}" for node in found[:_MAX_LISTED])
        raise Unresolved(f"{text!r} is ambiguous, it matches {len(found)} names; write one of them in full:{listed}")
    raise Unresolved(f"no dataset or column in the graph is named {text!r}; {names.advice(text)}")


class _NameLookup:
    """Index of a graph's datasets and columns by all of their names."""

    def __init__(self, export: Mapping[str, Any]) -> None:
        self._full: dict[str, Node] = {}
        self._short: dict[str, set[Node]] = {}
        self._columns: dict[Node, set[str]] = {}
        for row in export["datasets"]:
            node = Node(row["namespace"], row["name"])
            self._full[str(node)] = node
            self._columns[node] = set(column_types(row["fields"]))
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
        if found := self._matching_datasets(text):
            return found
        cuts = [i for i, character in enumerate(text) if character == "."]
        return sorted({node for i in cuts for node in self._with_column(text[:i], text[i + 1 :])})

    def advice(self, text: str) -> str:
        """Suggest names to write instead."""
        dataset, _, field = text.partition("#")
        if field and (found := self._matching_datasets(dataset)):
            return f"columns of {found[0]} are {_name_list(sorted(self._columns[found[0]]))}"
        if not self._full:
            return "it has no datasets yet; run a job"
        near = nsmallest(_MAX_COMPARED, (*self._short, *self._full), key=lambda name: abs(len(name) - len(dataset)))
        similar = get_close_matches(dataset, near, n=_MAX_LISTED, cutoff=0.4) or sorted(self._full)
        return f"similar names are {_name_list(similar)}"

    def _matching_datasets(self, text: str) -> list[Node]:
        if text in self._full:
            return [self._full[text]]
        return sorted(self._short.get(text, ()))

    def _with_column(self, dataset: str, field: str) -> list[Node]:
        return [node._replace(field=field) for node in self._matching_datasets(dataset) if field in self._columns[node]]


def _name_list(names: list[str]) -> str:
    more = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    return (", ".join(names[:_MAX_LISTED]) or "unknown") + more
