# SPDX-License-Identifier: Apache-2.0
"""Reading the rules file."""

import json
import re
from pathlib import Path
from typing import Any

from lineage.events.ids import DatasetId
from lineage.rules.model import Catalog, NamespaceRule, Rules, SymlinkRule

VERSION = 1


class RulesError(ValueError):
    """The rules file cannot be used; the message names the key and what it should hold."""


def read_rules(path: Path) -> Rules:
    """Read the rules file.

    Raises:
        RulesError: the file cannot be read, or holds no valid rules; the message names the file.
    """
    try:
        return load_rules(path.read_text(encoding="utf-8"))
    except (RulesError, UnicodeDecodeError) as error:
        raise RulesError(f"rules file {path}: {error}") from error
    except OSError as error:
        raise RulesError(f"cannot read rules file {path}: {error.strerror}") from error


def load_rules(text: str) -> Rules:
    """Read rules from JSON text.

    Shape: `{"version": 1, "namespaces": [{"canonical", "hosts"} | {"canonical", "patterns"}],
    "catalogs": [{"name", "uri", "warehouse"}],
    "symlinks": [{"namespace", "name", "aliases": [{"namespace", "name"}]}]}`.

    Raises:
        RulesError: not JSON, an unknown or missing key, or a value of the wrong type.
    """
    try:
        content: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise RulesError(f"not JSON: {error}") from error
    document = _keys(content, "", required={"version"}, optional={"namespaces", "catalogs", "symlinks"})
    if document["version"] != VERSION:
        raise RulesError(f"version: {document['version']!r} is unknown; this service reads version {VERSION}")
    namespaces = _items(document, "namespaces")
    catalogs = _items(document, "catalogs")
    parts = (
        tuple(_namespace(item, f"namespaces[{i}]") for i, item in enumerate(namespaces)),
        tuple(_catalog(item, f"catalogs[{i}]") for i, item in enumerate(catalogs)),
        tuple(_symlink(item, f"symlinks[{i}]") for i, item in enumerate(_items(document, "symlinks"))),
    )
    try:
        return Rules(*parts)
    except ValueError as error:
        raise RulesError(f"symlinks: {error}") from error


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
            raise RulesError(f"{path}.patterns[{i}]: {pattern!r} is not a regular expression: {error}") from error
    if not hosts and not patterns:
        raise RulesError(f"{path}: needs hosts or patterns")
    return NamespaceRule(canonical, hosts, tuple(patterns))


def _catalog(content: object, path: str) -> Catalog:
    item = _keys(content, path, required={"name", "uri", "warehouse"}, optional=set())
    warehouse = _text(item, "warehouse", path)
    if "://" not in warehouse:
        raise RulesError(f"{path}.warehouse: {warehouse!r} has no scheme; write it as s3://bucket")
    return Catalog(_text(item, "name", path), _text(item, "uri", path), warehouse)


def _symlink(content: object, path: str) -> SymlinkRule:
    item = _keys(content, path, required={"namespace", "name", "aliases"}, optional=set())
    aliases = item["aliases"]
    if not isinstance(aliases, list) or not aliases:
        raise RulesError(f"{path}.aliases: must be an array of namespaces and names that is not empty")
    return SymlinkRule(_dataset(item, path), tuple(_alias(a, f"{path}.aliases[{i}]") for i, a in enumerate(aliases)))


def _alias(content: object, path: str) -> DatasetId:
    return _dataset(_keys(content, path, required={"namespace", "name"}, optional=set()), path)


def _dataset(item: dict[str, Any], path: str) -> DatasetId:
    return DatasetId(_text(item, "namespace", path), _text(item, "name", path))


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
