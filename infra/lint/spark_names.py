# SPDX-License-Identifier: Apache-2.0
"""Datasets that a PySpark file names: its `needs`, and texts and constants of `infra.namespaces` that are names."""

import ast
from collections.abc import Collection, Iterator

from infra import namespaces
from infra.lint.named_datasets import NamedDataset, Use, table, topic
from lineage.checks.contract import Dataset

_NAMESPACES = "infra.namespaces"
_TOPIC = "topic/"


def names_of_needs(needs: Collection[str]) -> Iterator[NamedDataset]:
    """Yield the topics of a header's `needs`."""
    for need in needs:
        if need.startswith(_TOPIC):
            yield NamedDataset(topic(need.removeprefix(_TOPIC)), Use.UNKNOWN)


def names_of_python(text: str, known: Collection[Dataset]) -> Iterator[NamedDataset]:
    """Yield the datasets of `known` that a text or an imported constant of the lab's names is the name of.

    Raises:
        SyntaxError: the file is not Python.
    """
    tree = ast.parse(text)
    imported = {
        alias.asname or alias.name: getattr(namespaces, alias.name, None)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == _NAMESPACES
        for alias in node.names
    }
    for node in ast.walk(tree):
        value = imported.get(node.id) if isinstance(node, ast.Name) else getattr(node, "value", None)
        if not isinstance(node, ast.Name | ast.Constant) or not isinstance(value, str):
            continue
        for found in (table(value), topic(value)):
            if found is not None and found in known:
                yield NamedDataset(found, Use.UNKNOWN, node.lineno)
