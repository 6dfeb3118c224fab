# SPDX-License-Identifier: Apache-2.0
"""Reading the rules file."""

import json
import re
from typing import Any

from lineage.rules.model import Catalog, NamespaceRule, Rules

VERSION = 1


class RulesError(ValueError):
    """The rules file cannot be used; the message names the key and what it should hold."""


def load_rules(text: str) -> Rules:
    """Read rules from JSON text.

    Shape: `{"version": 1, "namespaces": [{"canonical", "hosts"} | {"canonical", "patterns"}],
    "catalogs": [{"name", "uri", "warehouse"}]}`.

    Raises:
        RulesError: not JSON, an unknown or missing key, or a value of the wrong type.
    """
    try:
        content: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise RulesError(f"not JSON: {error}") from error
    document = _keys(content, "", required={"version"}, optional={"namespaces", "catalogs"})
    if document["version"] != VERSION:
        raise RulesError(f"version: {document['version']!r} is unknown; this service reads version {VERSION}")
    namespaces = _items(document, "namespaces")
    catalogs = _items(document, "catalogs")
    return Rules(
        tuple(_namespace(item, f"namespaces[{i}]") for i, item in enumerate(namespaces)),
        tuple(_catalog(item, f"catalogs[{i}]") for i, item in enumerate(catalogs)),
    )


def _namespace(content: object, path: str) -> NamespaceRule:
    item = _keys(content, path, required={"canonical"}, optional={"hosts", "patterns"})
    canonical = _text(item, "canonical", path)
    hosts = tuple(_texts(item, "hosts", path))
    if hosts and "://" not in canonical:
        raise RulesError(f"{path}.hosts: {canonical!r} has no scheme; write canonical as scheme://authority")
    patterns = []
    for i, pattern in enumerate(_texts(item, "patterns", path)):
        try:
            patterns.append(re.compile(pattern))
        except re.error as error:
            raise RulesError(f"{path}.patterns[{i}]: {pattern!r} is no regular expression: {error}") from error
    if not hosts and not patterns:
        raise RulesError(f"{path}: needs hosts or patterns")
    return NamespaceRule(canonical, hosts, tuple(patterns))


def _catalog(content: object, path: str) -> Catalog:
    item = _keys(content, path, required={"name", "uri", "warehouse"}, optional=set())
    warehouse = _text(item, "warehouse", path)
    if "://" not in warehouse:
        raise RulesError(f"{path}.warehouse: {warehouse!r} has no scheme; write it as s3://bucket")
    return Catalog(_text(item, "name", path), _text(item, "uri", path), warehouse)


def _keys(item: object, path: str, required: set[str], optional: set[str]) -> dict[str, Any]:
    """`item` as an object that has all required keys and no unknown ones."""
    if not isinstance(item, dict):
        raise RulesError(f"{path or 'the file'}: must be an object")
    prefix = f"{path}." if path else ""
    for key in item.keys() - required - optional:
        raise RulesError(f"{prefix}{key}: unknown key; known are {', '.join(sorted(required | optional))}")
    for key in sorted(required - item.keys()):
        raise RulesError(f"{prefix}{key}: is missing")
    return item


def _items(document: dict[str, Any], key: str) -> list[Any]:
    value = document.get(key, [])
    if not isinstance(value, list):
        raise RulesError(f"{key}: must be an array")
    return value


def _text(item: dict[str, Any], key: str, path: str) -> str:
    value = item[key]
    if not isinstance(value, str) or not value.strip():
        raise RulesError(f"{path}.{key}: must be a string that is not empty")
    return value


def _texts(item: dict[str, Any], key: str, path: str) -> list[str]:
    value = item.get(key, [])
    if not isinstance(value, list) or not all(isinstance(text, str) and text for text in value):
        raise RulesError(f"{path}.{key}: must be an array of strings that are not empty")
    return value
