# SPDX-License-Identifier: Apache-2.0
"""The naming rules: which spellings mean which canonical namespace."""

import re
from dataclasses import dataclass, field

from lineage.events.ids import DatasetId


@dataclass(frozen=True, slots=True)
class NamespaceRule:
    """Spellings of one namespace: `hosts` (`host:port` under its scheme) or `patterns` (searched)."""

    canonical: str
    hosts: tuple[str, ...] = ()
    patterns: tuple[re.Pattern[str], ...] = ()


@dataclass(frozen=True, slots=True)
class Catalog:
    """An Iceberg catalog: its name in SQL, its URI (Spark writes it into symlinks), its root location."""

    name: str
    uri: str
    warehouse: str

    def table(self, path: str) -> tuple[DatasetId, DatasetId]:
        """Dataset at a table's default location and its symlink; `path` is `sales.orders`."""
        scheme, _, rest = self.warehouse.rstrip("/").partition("://")
        authority, _, prefix = rest.partition("/")
        namespace = f"{scheme}://{authority}"
        location = "/".join(part for part in (prefix, *path.split(".")) if part)
        return DatasetId(namespace, location), self.symlink(path)

    def symlink(self, path: str) -> DatasetId:
        """A table's alias. It carries no URI of the catalog, which differs between installations."""
        return DatasetId(self.warehouse.rstrip("/"), f"{self.name}.{path}")


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules. An empty `Rules()` renames nothing."""

    namespaces: tuple[NamespaceRule, ...] = ()
    catalogs: tuple[Catalog, ...] = ()
    _hosts: dict[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        hosts: dict[str, str] = {}
        for rule in self.namespaces:
            scheme, separator, authority = rule.canonical.partition("://")
            if separator:
                hosts.update({f"{scheme}://{host}".lower(): rule.canonical for host in (*rule.hosts, authority)})
        object.__setattr__(self, "_hosts", hosts)

    def namespace(self, spelling: str) -> str:
        """The canonical namespace; `spelling` itself where no rule knows it.

        Of a list of hosts (`kafka://a:9092,b:9092`) one known member is enough.
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
        return spelling

    def table(self, namespace: str, name: str) -> tuple[DatasetId, DatasetId] | None:
        """Dataset and symlink of a table; None where no catalog has it.

        A table is named in SQL (`lake.sales.orders` under a blank namespace) or by its catalog's URI
        (`sales.orders` under that).
        """
        for catalog in self.catalogs:
            if not namespace.strip():
                head, _, path = name.partition(".")
                known = catalog.name == head
            else:
                path = name
                known = namespace.rstrip("/") == catalog.uri.rstrip("/")
            if known and all(path.split(".")):
                return catalog.table(path)
        return None

    def dataset(self, namespace: str, name: str) -> DatasetId:
        """The canonical identity of a dataset; may still be empty where no rule applies."""
        known = self.table(namespace, name)
        return known[0] if known else self._elsewhere(namespace, name)

    def symlink(self, namespace: str, name: str) -> DatasetId:
        """The canonical alias of a dataset."""
        known = self.table(namespace, name)
        return known[1] if known else self._elsewhere(namespace, name)

    def _elsewhere(self, namespace: str, name: str) -> DatasetId:
        return DatasetId(self.namespace(namespace) if namespace.strip() else namespace, name)
