# SPDX-License-Identifier: Apache-2.0
"""Naming rules: hosts, patterns, aliases and catalogs behind canonical names."""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from lineage.events.ids import DatasetId
from lineage.rules.paths import canonical_namespace, canonical_path


@dataclass(frozen=True, slots=True)
class NamespaceRule:
    """Spellings of one namespace: `hosts` (`host:port` under its scheme) or `patterns` (searched)."""

    canonical: str
    hosts: tuple[str, ...] = ()
    patterns: tuple[re.Pattern[str], ...] = ()


class TableName(NamedTuple):
    """Table of a catalog; `path` is `sales.orders`."""

    catalog: str
    path: str


@dataclass(frozen=True, slots=True)
class CatalogAlias:
    """Namespaces of an engine that mounts a catalog, and the catalog's name in the engine's SQL.

    DuckDB and Trino name a table `lake.sales.orders` in a namespace of their own, such as `trino://host:8080`.
    """

    name: str
    namespaces: tuple[str, ...] = ()
    patterns: tuple[re.Pattern[str], ...] = ()

    def table_path(self, name: str) -> str:
        """Return the path in the catalog of a name in the engine's SQL; empty if it is none.

        A path has a namespace of the catalog and a table: `lake.orders` is a table of another schema.
        """
        head, _, path = name.partition(".")
        return path if head == self.name and "." in path else ""

    def covers(self, namespace: str) -> bool:
        """Return whether a namespace is one of the engine's."""
        return namespace.rstrip("/") in self.namespaces or any(pattern.search(namespace) for pattern in self.patterns)


@dataclass(frozen=True, slots=True)
class Catalog:
    """An Iceberg catalog: its name in SQL, its URI (Spark writes it into symlinks), its root location, its aliases."""

    name: str
    uri: str
    warehouse: str
    aliases: tuple[CatalogAlias, ...] = ()

    def default_location(self, path: str) -> str:
        """Return the location of a table that was created without an explicit one."""
        return "/".join((self.warehouse.rstrip("/"), *path.split(".")))

    def symlink(self, path: str) -> DatasetId:
        """Return a table's alias. It omits the catalog's URI, which differs between installations."""
        return DatasetId(self.warehouse.rstrip("/"), f"{self.name}.{path}")


@dataclass(frozen=True, slots=True)
class SymlinkRule:
    """Other names of a dataset."""

    dataset: DatasetId
    aliases: tuple[DatasetId, ...]


@dataclass(frozen=True, slots=True)
class Rules:
    """All naming rules. An empty `Rules()` unifies spellings of locations alone (see `lineage.rules.paths`).

    With `omit_empty_namespaces`, datasets to which no rule gives a namespace are left out of their events, which are
    refused otherwise. Without `unify_spellings`, spellings stay apart, for checks of what an emitter writes.

    Raises:
        ValueError: aliases form a cycle.
    """

    namespaces: tuple[NamespaceRule, ...] = ()
    catalogs: tuple[Catalog, ...] = ()
    symlinks: tuple[SymlinkRule, ...] = ()
    omit_empty_namespaces: bool = False
    unify_spellings: bool = True
    _hosts: dict[str, str] = field(init=False, repr=False, compare=False)
    _aliases: dict[DatasetId, DatasetId] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        hosts: dict[str, str] = {}
        for rule in self.namespaces:
            scheme, separator, authority = rule.canonical.partition("://")
            if separator:
                hosts.update({f"{scheme}://{host}".lower(): rule.canonical for host in (*rule.hosts, authority)})
        object.__setattr__(self, "_hosts", hosts)
        object.__setattr__(self, "_aliases", self._resolve_aliases())

    def _resolve_aliases(self) -> dict[DatasetId, DatasetId]:
        """Resolve chains of aliases: alias -> dataset, under canonical namespaces."""
        steps: dict[DatasetId, DatasetId] = {}
        for rule in self.symlinks:
            dataset = self._location(rule.dataset.namespace, rule.dataset.name)
            for alias in rule.aliases:
                exact = DatasetId(self.namespace(alias.namespace), alias.name)
                location = self._location(*alias)
                # Spellings of one location need no alias, and an alias of one partition is none of the others.
                if location == dataset != exact:
                    continue
                steps[exact] = dataset
                if location.name.strip("/") == alias.name.strip("/"):
                    steps[location] = dataset
        ends: dict[DatasetId, DatasetId] = {}
        for alias in steps:
            end = steps[alias]
            seen = {alias}
            while end in steps:
                if end in seen:
                    raise ValueError(f"{end.namespace} {end.name} is an alias of itself")
                seen.add(end)
                end = steps[end]
            ends[alias] = end
        return ends

    def namespace(self, spelling: str) -> str:
        """Return the canonical namespace; `spelling` itself if no rule matches.

        Of a list of hosts (`kafka://a:9092,b:9092`) one matching member is enough.
        """
        scheme, separator, authority = spelling.partition("://")
        if separator:
            for member in authority.rstrip("/").split(","):
                host = member.strip().rpartition("://")[2]
                canonical = self._hosts.get(f"{scheme}://{host}".lower())
                if canonical is not None:
                    return canonical
        for rule in self.namespaces:
            if any(pattern.search(spelling) for pattern in rule.patterns):
                return rule.canonical
        canonical = canonical_namespace(spelling) if self.unify_spellings else spelling
        return canonical if canonical == spelling else self.namespace(canonical)

    def catalog(self, name: str) -> Catalog:
        """Return the catalog of that name.

        Raises:
            KeyError: there is none.
        """
        for catalog in self.catalogs:
            if catalog.name == name:
                return catalog
        raise KeyError(name)

    def table(self, namespace: str, name: str) -> TableName | None:
        """Return the table that a dataset name refers to, or None.

        A table is named in SQL (`lake.sales.orders` under a blank namespace), by its catalog's URI (`sales.orders`
        under that), or in SQL under the namespace of an engine that mounts the catalog (see `CatalogAlias`).
        """
        for catalog in self.catalogs:
            if not namespace.strip():
                head, _, rest = name.partition(".")
                path = rest if catalog.name == head else ""
            elif namespace.rstrip("/") == catalog.uri.rstrip("/"):
                path = name
            else:
                path = self._path_of_alias(catalog, namespace, name)
            if all(path.split(".")):
                return TableName(catalog.name, path)
        return None

    def _path_of_alias(self, catalog: Catalog, namespace: str, name: str) -> str:
        """Return the path of a table that an engine names in one of its own namespaces, in any spelling; or nothing."""
        for alias in catalog.aliases:
            path = alias.table_path(name)
            if path and (alias.covers(namespace) or alias.covers(self.namespace(namespace))):
                return path
        return ""

    def location(self, url: str) -> DatasetId:
        """Return the canonical name of the dataset at the URL of a table's location."""
        scheme, _, rest = url.rstrip("/").partition("://")
        authority, _, path = rest.partition("/")
        return self.resolve_alias(f"{scheme}://{authority}", path)

    def resolve_alias(self, namespace: str, name: str) -> DatasetId:
        """Return the canonical identity of a name that is not a catalog's table; may be empty if no rule applies."""
        if not namespace.strip():
            exact = location = DatasetId(namespace, name)
        else:
            exact = DatasetId(self.namespace(namespace), name)
            location = self._location(*exact)
        return self._aliases.get(exact) or self._aliases.get(location, location)

    def _location(self, namespace: str, name: str) -> DatasetId:
        space = self.namespace(namespace)
        return DatasetId(space, canonical_path(space, name) if self.unify_spellings else name)
