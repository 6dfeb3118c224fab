# SPDX-License-Identifier: Apache-2.0
"""Parser of Spark's `TreeNode.toJSON`: a flat list of nodes in pre-order, each with its number of children.

Plans and expressions share the form. Expressions are in the fields of plan nodes, either as one flat list
(`condition`) or as a list of flat lists (`projectList`).
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

Json = Mapping[str, Any]

MAX_PLAN_CHARACTERS = 8_000_000
"""Limit per plan. The JSON of 300 computed columns has 300,000 characters."""


@dataclass(frozen=True)
class ExprId:
    """Spark's id of an attribute, which distinguishes attributes of the same name."""

    jvm: str
    number: int


@dataclass(frozen=True)
class Node:
    """Node of a plan or of an expression.

    Attributes:
        kind: simple class name; packages change between Spark versions, simple names rarely do.
        fields: constructor parameters as serialised by Spark; None for those it cannot serialise.
    """

    kind: str
    fields: Json
    children: tuple["Node", ...]

    @property
    def name(self) -> str:
        """Name of an attribute, an alias or a struct update."""
        return str(self.fields["name"])

    @property
    def expr_id(self) -> ExprId:
        """Id of an attribute or an alias."""
        identity = self.fields["exprId"]
        return ExprId(identity["jvmId"], identity["id"])

    def expressions(self, field: str) -> tuple["Node", ...]:
        """Return the expressions in a field; empty if it is absent."""
        if field not in self._parsed:
            self._parsed[field] = tuple(_expressions(self.fields.get(field)))
        return self._parsed[field]

    @cached_property
    def _parsed(self) -> dict[str, tuple["Node", ...]]:
        """Expressions by field, as far as they are parsed."""
        return {}


def parse(text: str) -> Node:
    """Parse the result of `toJSON`.

    Raises:
        ValueError: the text has another form or is too long.
    """
    if len(text) > MAX_PLAN_CHARACTERS:
        raise ValueError(f"Spark plan has {len(text)} characters, more than the limit of {MAX_PLAN_CHARACTERS}")
    flat = json.loads(text)
    if not _is_flat_tree(flat):
        raise ValueError("not the JSON of a Spark plan: expected a list of nodes with 'num-children'")
    return _tree(flat)


def _tree(flat: list[Json]) -> Node:
    """Build a tree from the end of the list, without recursion: plans can be deep."""
    done: list[Node] = []
    for raw in reversed(flat):
        count = int(raw["num-children"])
        children = tuple(reversed(done[len(done) - count :])) if count else ()
        del done[len(done) - count :]
        done.append(Node(_simple_name(raw["class"]), raw, children))
    if len(done) != 1:
        raise ValueError(f"not the JSON of one Spark plan: {len(done)} roots")
    return done[0]


def _expressions(value: object) -> Iterator[Node]:
    if not isinstance(value, list):
        return
    if _is_flat_tree(value):
        yield _tree(value)
        return
    for item in value:
        yield from _expressions(item)


def _is_flat_tree(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and "num-children" in value[0]


def _simple_name(java_class: str) -> str:
    return java_class.rsplit(".", 1)[-1].rstrip("$").rsplit("$", 1)[-1]
