# SPDX-License-Identifier: Apache-2.0
"""Reads Spark's `TreeNode.toJSON`: a flat list of nodes in pre-order, each with its number of children.

Plans and expressions share the form. Expressions sit inside the fields of plan nodes, either as one flat list
(`condition`) or as a list of flat lists (`projectList`).
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Json = Mapping[str, Any]

MOST_CHARACTERS = 8_000_000
"""Of one text. That of 300 computed columns has 300,000."""


@dataclass(frozen=True)
class ExprId:
    """Identity of an attribute: two attributes of one name differ in it, one attribute never does."""

    jvm: str
    number: int


@dataclass(frozen=True)
class Node:
    """One node of a plan or of an expression.

    Attributes:
        kind: simple class name. Packages move between Spark versions, simple names seldom do.
        fields: constructor parameters as Spark wrote them; what it cannot write is None.
    """

    kind: str
    fields: Json
    children: tuple["Node", ...]

    @property
    def name(self) -> str:
        """The name of an attribute, of an alias or of a change to a struct."""
        return str(self.fields["name"])

    @property
    def expr_id(self) -> ExprId:
        """The identity of an attribute or an alias."""
        identity = self.fields["exprId"]
        return ExprId(identity["jvmId"], identity["id"])

    def expressions(self, field: str) -> tuple["Node", ...]:
        """The expressions kept in a field, none where it is absent."""
        return tuple(_expressions(self.fields.get(field)))


def parse(text: str) -> Node:
    """The tree of one `toJSON` text.

    Raises:
        ValueError: the text is no tree of Spark's, or too long.
    """
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"a Spark plan of {len(text)} characters; more than {MOST_CHARACTERS} are not read")
    flat = json.loads(text)
    if not _is_flat_tree(flat):
        raise ValueError("not the JSON of a Spark plan: expected a list of nodes with 'num-children'")
    return _tree(flat)


def _tree(flat: list[Json]) -> Node:
    """Builds from the end, so that depth costs no stack: plans grow with the query."""
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
