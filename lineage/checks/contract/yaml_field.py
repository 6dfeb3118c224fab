# SPDX-License-Identifier: Apache-2.0
"""YAML nodes with their paths and lines, for error messages."""

from collections.abc import Iterator

import yaml


class ContractError(ValueError):
    """Invalid contract; the message names line and field."""


class Field:
    """YAML node with its path in the document."""

    def __init__(self, node: yaml.Node, path: str = "") -> None:
        self._node = node
        self.path = path

    def error(self, message: str) -> ContractError:
        """Return an error with the line and path of this node."""
        line = self._node.start_mark.line + 1
        return ContractError(f"line {line}: {self.path}: {message}" if self.path else f"line {line}: {message}")

    def mapping(self) -> dict[str, "Field"]:
        """Return the entries of a mapping; duplicate keys are an error."""
        if not isinstance(self._node, yaml.MappingNode):
            raise self.error("must be a mapping")
        entries: dict[str, Field] = {}
        for key_node, value_node in self._node.value:
            key = Field(key_node, self.path).text()
            entry = Field(value_node, f"{self.path}.{key}" if self.path else key)
            if key in entries:
                raise Field(key_node, entry.path).error("is defined twice")
            entries[key] = entry
        return entries

    def keys(self, required: set[str], optional: set[str]) -> dict[str, "Field"]:
        """Return the entries of a mapping; missing and unknown keys are errors."""
        entries = self.mapping()
        for key, entry in entries.items():
            if key not in required | optional:
                raise entry.error(f"unknown key; known are {', '.join(sorted(required | optional))}")
        for key in sorted(required - entries.keys()):
            raise self.error(f"key {key!r} is missing")
        return entries

    def items(self) -> Iterator["Field"]:
        """Return the members of a sequence; a scalar or mapping counts as a sequence of one."""
        if isinstance(self._node, yaml.SequenceNode):
            for i, node in enumerate(self._node.value):
                yield Field(node, f"{self.path}[{i}]")
        else:
            yield self

    @property
    def is_mapping(self) -> bool:
        """Return True for a mapping."""
        return isinstance(self._node, yaml.MappingNode)

    def text(self) -> str:
        """Return the text of a scalar as written: `1` and `true` are text too."""
        if not isinstance(self._node, yaml.ScalarNode):
            raise self.error("must be a scalar")
        text: str = self._node.value
        if not text.strip():
            raise self.error("is empty")
        return text


def items_of(field: Field | None) -> Iterator[Field]:
    """Return the members of a sequence that may be missing; see `Field.items`."""
    return field.items() if field else iter(())


def parse_yaml(text: str) -> Field:
    """Return the root of a document.

    Raises:
        ContractError: not YAML, or empty.
    """
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise ContractError(f"not YAML: {error}") from error
    if node is None:
        raise ContractError("line 1: the contract is empty")
    return Field(node)
