# SPDX-License-Identifier: Apache-2.0
"""Iceberg tables of any catalog that PyIceberg knows: REST, Glue, Hive, SQL."""

from collections.abc import Iterator

from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.typedef import Identifier
from requests import RequestException

from lineagelab_catalog.changes import Changes
from lineagelab_catalog.tables import ATTEMPTS, CatalogError, ChangesOf, Table, TableError, changed_with_retries

COMMENT = "comment"
"""Property with the description of an Iceberg table, as Spark and Flink write it."""


class IcebergTables:
    """Tables of a PyIceberg catalog; `name` is the first part of their names in lineage events, such as `lake`."""

    def __init__(self, catalog: Catalog, name: str) -> None:
        self._catalog = catalog
        self._name = name
        self._identifiers: dict[str, Identifier] = {}

    def labels(self) -> Iterator[str]:
        """Yield `namespace.table` of all tables; see `TableCatalog`."""
        try:
            for namespace in self._namespaces(()):
                for identifier in self._catalog.list_tables(namespace):
                    label = ".".join(identifier)
                    self._identifiers[label] = identifier
                    yield label
        except Exception as error:  # each kind of catalog has its own errors
            raise CatalogError(f"listing the tables of the Iceberg catalog {self._name} failed: {error}") from error

    def _namespaces(self, parent: Identifier) -> Iterator[Identifier]:
        for namespace in self._catalog.list_namespaces(parent):
            # Catalogs without nested namespaces return the same ones for every parent.
            if len(namespace) > len(parent):
                yield namespace
                if not parent or namespace[: len(parent)] == parent:
                    yield from self._namespaces(namespace)

    def update(self, label: str, changes_of: ChangesOf) -> Changes:
        """Change the properties of a table in one commit; see `TableCatalog`."""
        try:
            return changed_with_retries(
                lambda: self._update(label, changes_of), lambda error: isinstance(error, CommitFailedException)
            )
        except CommitFailedException as error:
            raise TableError(f"its writers committed {ATTEMPTS} times in between: {error}") from error
        except (RequestException, OSError) as error:
            raise TableError(f"the catalog does not respond: {error}") from error
        except Exception as error:  # as above
            raise TableError(f"{type(error).__name__}: {error}") from error

    def _update(self, label: str, changes_of: ChangesOf) -> Changes:
        table = self._catalog.load_table(self._identifiers[label])
        properties = {key: value for key, value in table.properties.items() if key != COMMENT}
        names = (f"{self._name}.{label}", label)
        changes = changes_of(Table(label, names, table.location(), properties, table.properties.get(COMMENT, "")))
        if changes:
            changed = {**changes.changed, **({COMMENT: changes.comment} if changes.comment else {})}
            removed = {*changes.removed, *([COMMENT] if changes.comment == "" else [])}
            with table.transaction() as transaction:
                if removed:
                    transaction.remove_properties(*sorted(removed))
                if changed:
                    transaction.set_properties(changed)
        return changes
