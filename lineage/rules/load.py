# SPDX-License-Identifier: Apache-2.0
"""Parser of the rules file."""

import json
import re
from pathlib import Path
from typing import Any

from lineage.events.ids import DatasetId
from lineage.rules.model import Catalog, CatalogAlias, NamespaceRule, Rules, SymlinkRule

VERSION = 1

REFUSE, OMIT = "refuse", "omit"
"""Values of `emptyNamespaces`: what becomes of an event with a dataset to which no rule gives a namespace, or of the
dataset."""


class RulesError(ValueError):
    """The rules file cannot be used; the message names the key and the expected value."""


def read_rules(path: Path) -> Rules:
    """Read the rules file.

    Raises:
        RulesError: the file cannot be read, or is invalid; the message names the file.
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
    "catalogs": [{"name", "uri", "warehouse", "aliases": [{"name", "namespaces", "patterns"}]}],
    "symlinks": [{"namespace", "name", "aliases": [{"namespace", "name"}]}], "emptyNamespaces": "refuse" | "omit"}`.

    Raises:
        RulesError: not JSON, an unknown or missing key, or a value of the wrong type.
    """
    try:
        content: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise RulesError(f"not JSON: {error}") from error
    optional = {"namespaces", "catalogs", "symlinks", "emptyNamespaces"}
    document = _checked_keys(content, "", required={"version"}, optional=optional)
    if document["version"] != VERSION:
        raise RulesError(f"version: {document['version']!r} is unknown; this service reads version {VERSION}")
    namespaces = _array_items(document, "namespaces")
    catalogs = _array_items(document, "catalogs")
    parts = (
        tuple(_parse_namespace(item, f"namespaces[{i}]") for i, item in enumerate(namespaces)),
        tuple(_parse_catalog(item, f"catalogs[{i}]") for i, item in enumerate(catalogs)),
        tuple(_parse_symlink(item, f"symlinks[{i}]") for i, item in enumerate(_array_items(document, "symlinks"))),
    )
    try:
        return Rules(*parts, _omits_empty_namespaces(document))
    except ValueError as error:
        raise RulesError(f"symlinks: {error}") from error


def _omits_empty_namespaces(document: dict[str, Any]) -> bool:
    value = document.get("emptyNamespaces", REFUSE)
    if value not in (REFUSE, OMIT):
        raise RulesError(f"emptyNamespaces: {value!r} is neither {REFUSE!r} nor {OMIT!r}")
    return bool(value == OMIT)


def _parse_namespace(content: object, path: str) -> NamespaceRule:
    item = _checked_keys(content, path, required={"canonical"}, optional={"hosts", "patterns"})
    canonical = _required_text(item, "canonical", path)
    hosts = tuple(_text_list(item, "hosts", path))
    if hosts and "://" not in canonical:
        raise RulesError(f"{path}.hosts: {canonical!r} has no scheme; write canonical as scheme://authority")
    patterns = _patterns(item, path)
    if not hosts and not patterns:
        raise RulesError(f"{path}: needs hosts or patterns")
    return NamespaceRule(canonical, hosts, patterns)


def _parse_catalog(content: object, path: str) -> Catalog:
    item = _checked_keys(content, path, required={"name", "uri", "warehouse"}, optional={"aliases"})
    warehouse = _required_text(item, "warehouse", path)
    if "://" not in warehouse:
        raise RulesError(f"{path}.warehouse: {warehouse!r} has no scheme; write it as s3://bucket")
    name = _required_text(item, "name", path)
    aliases = item.get("aliases", [])
    if not isinstance(aliases, list):
        raise RulesError(f"{path}.aliases: must be an array")
    parsed = tuple(_parse_catalog_alias(alias, name, f"{path}.aliases[{i}]") for i, alias in enumerate(aliases))
    return Catalog(name, _required_text(item, "uri", path), warehouse, parsed)


def _parse_catalog_alias(content: object, catalog: str, path: str) -> CatalogAlias:
    """Return the alias of a catalog; an engine that states no name mounts it under the catalog's own."""
    item = _checked_keys(content, path, required=set(), optional={"name", "namespaces", "patterns"})
    name = _required_text(item, "name", path) if "name" in item else catalog
    namespaces = tuple(namespace.rstrip("/") for namespace in _text_list(item, "namespaces", path))
    patterns = _patterns(item, path)
    if not namespaces and not patterns:
        raise RulesError(f"{path}: needs namespaces or patterns")
    return CatalogAlias(name, namespaces, patterns)


def _parse_symlink(content: object, path: str) -> SymlinkRule:
    item = _checked_keys(content, path, required={"namespace", "name", "aliases"}, optional=set())
    aliases = item["aliases"]
    if not isinstance(aliases, list) or not aliases:
        raise RulesError(f"{path}.aliases: must be a non-empty array of namespaces and names")
    return SymlinkRule(
        _parse_dataset(item, path), tuple(_parse_alias(a, f"{path}.aliases[{i}]") for i, a in enumerate(aliases))
    )


def _parse_alias(content: object, path: str) -> DatasetId:
    return _parse_dataset(_checked_keys(content, path, required={"namespace", "name"}, optional=set()), path)


def _parse_dataset(item: dict[str, Any], path: str) -> DatasetId:
    return DatasetId(_required_text(item, "namespace", path), _required_text(item, "name", path))


def _checked_keys(item: object, path: str, required: set[str], optional: set[str]) -> dict[str, Any]:
    """Return `item` if it is an object with all required keys and no unknown ones."""
    if not isinstance(item, dict):
        raise RulesError(f"{path or 'the document'}: must be an object")
    prefix = f"{path}." if path else ""
    for key in item.keys() - required - optional:
        raise RulesError(f"{prefix}{key}: unknown key; known are {', '.join(sorted(required | optional))}")
    for key in sorted(required - item.keys()):
        raise RulesError(f"{prefix}{key}: is missing")
    return item


def _array_items(document: dict[str, Any], key: str) -> list[Any]:
    value = document.get(key, [])
    if not isinstance(value, list):
        raise RulesError(f"{key}: must be an array")
    return value


def _required_text(item: dict[str, Any], key: str, path: str) -> str:
    value = item[key]
    if not isinstance(value, str) or not value.strip():
        raise RulesError(f"{path}.{key}: must be a non-empty string")
    return value


def _patterns(item: dict[str, Any], path: str) -> tuple[re.Pattern[str], ...]:
    patterns = []
    for i, pattern in enumerate(_text_list(item, "patterns", path)):
        try:
            patterns.append(re.compile(pattern))
        except re.error as error:
            raise RulesError(f"{path}.patterns[{i}]: {pattern!r} is not a regular expression: {error}") from error
    return tuple(patterns)


def _text_list(item: dict[str, Any], key: str, path: str) -> list[str]:
    value = item.get(key, [])
    if not isinstance(value, list) or not all(isinstance(text, str) and text for text in value):
        raise RulesError(f"{path}.{key}: must be an array of non-empty strings")
    return value
